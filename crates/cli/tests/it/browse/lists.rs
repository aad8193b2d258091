//! `ls`, `list --long` and `sessions`: counts, newest first, and conversations with their titles.

use crate::command::{Home, sample};

/// Three beliefs of two persons, and a message.
fn home() -> Home {
    let home = Home::new();
    home.put(concat!(
        r#"{"type":"belief","subject":"ana","relation":"likes","object":"tea","confidence":0.9,"user_id":"ana","namespace":"home","structural_tags":["food"],"created_at":1000}"#,
        "\n",
        r#"{"type":"belief","subject":"ana","relation":"lives_in","object":"Porto","confidence":0.9,"user_id":"ana","namespace":"home","created_at":3000}"#,
        "\n",
        r#"{"type":"belief","subject":"ben","relation":"likes","object":"milk","confidence":0.9,"user_id":"ben","created_at":2000}"#,
        "\n",
        r#"{"type":"event","content":"Where do I live?","role":"user","session_id":"s1","created_at":4000}"#,
        "\n",
    ));
    home
}

#[test]
fn ls_counts_each_kind_newest_first_and_filters_narrow_it() {
    let home = home();
    let all = home.run(&["ls", "--json"]).json();
    assert_eq!(all["grains"], 4);
    assert_eq!(all["newest"], 4000);
    assert_eq!(all["users"][0]["name"], "ana");
    assert_eq!(all["users"][0]["grains"], 2);
    assert_eq!(all["users"][0]["newest"], 3000);
    assert_eq!(all["users"][1]["name"], "ben");
    assert_eq!(all["types"][0]["name"], "event");
    assert_eq!(all["types"][1]["grains"], 3);
    assert_eq!(all["tags"][0]["name"], "food");
    assert_eq!(all["namespaces"][0]["name"], "home");
    assert_eq!(all["sessions"][0]["name"], "s1");

    let one = home
        .run(&["ls", "relations", "--subject", "ana", "--json"])
        .json();
    let names = |found: &serde_json::Value| -> Vec<String> {
        let values = found.as_array().unwrap().iter();
        values
            .map(|one| one["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names(&one["relations"]), ["lives_in", "likes"]);
    assert!(one.get("users").is_none(), "{one}");

    let lines = home.ok(&["ls"]);
    assert!(
        lines.starts_with("4 grains, the newest of 1970-01-01"),
        "{lines}"
    );
    assert!(
        lines.contains("users            2  ana 2, ben 1"),
        "{lines}"
    );
    let lines = home.ok(&["ls", "users"]);
    assert_eq!(lines.lines().count(), 2, "{lines}");
    let few = home.run(&["ls", "users", "--limit", "1"]);
    assert_eq!(few.stdout.lines().count(), 1, "{few:?}");
    assert!(few.stderr.contains("1 of 2"), "{few:?}");
}

#[test]
fn an_empty_store_says_how_to_begin() {
    let home = Home::new();
    home.ok(&["init"]);
    let ran = home.run(&["ls"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("grainstore remember"), "{ran:?}");
    let ran = home.run(&["sessions"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("no conversations"), "{ran:?}");
}

#[test]
fn list_prints_addresses_in_a_pipe_and_with_long_what_they_are() {
    let home = home();
    assert!(home.ok(&["list"]).lines().all(|line| line.len() == 64));
    let long = home.ok(&["list", "--long"]);
    let first = long.lines().next().unwrap();
    assert!(
        first.starts_with("1970-01-01T00:00:01.000Z  belief"),
        "{long}"
    );
    assert!(first.contains("ana likes tea"), "{long}");
    assert_eq!(home.ok(&["list", "-l", "--limit", "2"]).lines().count(), 2);
}

#[test]
fn conversations_have_a_title_speakers_and_times() {
    let home = home();
    home.ok(&["import", &sample("pam")]);
    let found = home.run(&["sessions", "--json"]).json();
    let sessions = found["sessions"].as_array().unwrap();
    assert_eq!(found["total"], sessions.len());
    assert!(sessions.len() >= 2, "{found}");
    let of = |id: &str| sessions.iter().find(|one| one["session"] == id).unwrap();
    // Without a title the beginning of the first message stands for it.
    assert_eq!(of("s1")["title"], "Where do I live?");
    assert_eq!(of("s1")["speakers"], serde_json::json!(["user"]));
    assert_eq!(
        (&of("s1")["first"], &of("s1")["last"]),
        (&4000.into(), &4000.into())
    );
    let lasts: Vec<_> = sessions.iter().map(|one| one["last"].as_i64()).collect();
    assert!(lasts.is_sorted_by(|a, b| a >= b), "newest first: {lasts:?}");
    let lines = home.ok(&["sessions"]);
    assert!(lines.contains("Where do I live?"), "{lines}");
}
