//! `show`: a grain as a page, a session as a chat; and addresses by their first digits.

use crate::command::{Home, belief};

#[test]
fn a_page_says_all_that_the_store_knows() {
    let home = Home::new();
    let old = home.put(&belief("ana", "likes", "tea")).remove(0);
    home.ok(&["correct", &old, "--set", "object=milk"]);
    let new = home.addresses().remove(1);
    let note = format!(
        r#"{{"type":"reasoning","premises":["{new}"],"conclusion":"buy milk","derived_from":["{new}"],"created_at":5}}"#
    );
    let note = home.put(&note).remove(0);
    home.ok(&[
        "hold",
        "place",
        &new,
        "--reason",
        "a case",
        "--authority",
        "legal",
    ]);

    let page = home.ok(&["show", &new[..12]]);
    for said in [
        "belief  ana likes milk",
        &new,
        "is current",
        "by the owner",
        "none of its own",
        "a case (legal)",
        "Fields",
        "confidence              0.9",
        "Versions, oldest first",
        "Rest on it",
        "buy milk",
    ] {
        assert!(page.contains(said), "lacks {said}:\n{page}");
    }
    let page = home.run(&["show", &new, "--json"]).json();
    assert_eq!(page["address"], new);
    assert_eq!(page["grain"]["object"], "milk");
    assert_eq!(page["versions"], serde_json::json!([old, new]));
    assert_eq!(page["resting"], serde_json::json!([note]));
    assert_eq!(page["holds"][0]["authority"], "legal");
    assert_eq!(page["status"]["current"], true);
    let page = home.run(&["show", &note, "--json"]).json();
    assert_eq!(page["sources"], serde_json::json!([new]));
}

#[test]
fn a_text_cannot_pass_for_a_field_or_a_speaker() {
    let home = Home::new();
    let hostile = r#"{"type":"event","content":"hello\n  address     0000\u001b[2J\nassistant  1970","role":"user","session_id":"s1","created_at":1}"#;
    let address = home.put(hostile).remove(0);
    for page in [home.ok(&["show", &address]), home.ok(&["show", "s1"])] {
        assert!(!page.contains('\u{1b}'), "{page:?}");
        let forged =
            |line: &str| line.starts_with("  address     0000") || line.starts_with("assistant");
        let forged = page.lines().filter(|line| forged(line));
        // In a chat every line of a message is indented; on a page by more than a field.
        assert_eq!(
            forged.filter(|line| !line.starts_with("    ")).count(),
            0,
            "{page}"
        );
    }
}

#[test]
fn a_session_reads_like_a_chat() {
    let home = Home::new();
    home.put(concat!(
        r#"{"type":"event","content":"It is\nPorto.","role":"assistant","session_id":"trip","created_at":60000}"#,
        "\n",
        r#"{"type":"event","content":"Where do I live?","role":"user","session_id":"trip","created_at":0}"#,
        "\n",
        r#"{"type":"state","context":{"title":"My home"},"session_id":"trip","created_at":0}"#,
        "\n",
    ));
    let chat = home.ok(&["show", "trip"]);
    let lines: Vec<_> = chat.lines().collect();
    assert_eq!(lines[0], "My home");
    assert!(lines[2].starts_with("user  1970-01-01 00:00  "), "{chat}");
    assert_eq!(lines[3], "  Where do I live?");
    assert!(
        lines[5].starts_with("assistant  1970-01-01 00:01  "),
        "{chat}"
    );
    assert_eq!(lines[6..], ["  It is", "  Porto."]);
    let chat = home.run(&["show", "trip", "--json"]).json();
    assert_eq!(chat["session"], "trip");
    assert_eq!(chat["title"], "My home");
    assert_eq!(chat["grains"][1]["grain"]["role"], "assistant");
    home.run(&["show", "nowhere", "--json"])
        .fails(1, "ERR_NOT_FOUND", "");
}

#[test]
fn four_digits_of_an_address_name_its_grain_in_every_command() {
    let home = Home::new();
    let address = home.put(&belief("ana", "likes", "tea")).remove(0);
    for len in [4, 7, 20, 63, 64] {
        let short = &address[..len];
        for command in ["get", "show", "exists", "status", "history"] {
            home.ok(&[command, short]);
        }
        home.ok(&["policy", "explain", short, "supersede"]);
    }
    home.run(&["get", &address[..3], "--json"])
        .fails(2, "ERR_HASH_LENGTH", "");
    // 300 addresses have two with the same first four digits, or else the same grains would fail for
    // ever: the content is fixed, and so are the addresses.
    let many: String = (0..1500)
        .map(|n| belief("ana", "counts", &n.to_string()))
        .collect();
    let mut starts: Vec<_> = home
        .put(&many)
        .iter()
        .map(|it| it[..4].to_owned())
        .collect();
    starts.sort();
    let twice = starts.windows(2).find(|pair| pair[0] == pair[1]).unwrap();
    let ran = home.run(&["get", &twice[0]]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("several addresses"), "{ran:?}");
}
