//! `cal`: answers, the envelope, exit codes, and the place of a mistake.

use crate::command::{Home, belief, sample};

#[test]
fn a_statement_is_answered_for_people_and_for_programs() {
    let home = Home::new();
    home.ok(&["import", &sample("grains.jsonl")]);
    let statement = "RECALL beliefs ABOUT \"mira\" WHERE confidence >= 1.0 AS text";
    let text = home.ok(&["cal", statement]);
    assert!(
        text.lines().all(|line| line.starts_with("[belief] mira ")),
        "{text}"
    );

    let envelope = home.run(&["--json", "cal", statement]).json();
    assert_eq!(envelope["_cal"]["statement_type"], "recall");
    assert_eq!(envelope["formatted"], text.as_str());
    assert_eq!(envelope["total"], text.lines().count());
    let address = envelope["results"][0]["content_address"].as_str().unwrap();
    assert_eq!(
        home.ok(&["cal", &format!("EXISTS sha256:{}", &address[..12])]),
        "true\n"
    );
    assert_eq!(
        home.ok(&[
            "cal", "RECALL", "beliefs", "ABOUT", "$who", "|", "COUNT", "--param", "who=mira"
        ]),
        "12\n"
    );
}

#[test]
fn a_mistake_is_marked_where_it_is_and_exits_with_two() {
    let home = Home::new();
    home.put(&belief("mira", "likes", "tea"));
    let ran = home.run(&["cal", "RECALL fact"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(
        ran.stderr
            .starts_with("RECALL fact\n       ^^^^\nCAL-E003: fact is no type of grain"),
        "{}",
        ran.stderr
    );
    let json = home.run(&["--json", "cal", "RECALL WHERE subject = $who"]);
    assert_eq!(json.code, 2);
    assert_eq!(json.json()["error"]["code"], "CAL-E008");
    assert_eq!(json.json()["error"]["position"]["start"], 23);
    for (statement, code) in [
        ("DELETE beliefs", "CAL-E002"),
        ("RECALL beliefs SINCE \"soon\"", "CAL-E020"),
        (
            "ADD belief SET subject = \"a\" SET relation = \"b\" SET object = \"c\" REASON \"d\"",
            "CAL-E044",
        ),
        ("RECALL beliefs \u{202e}", "CAL-E002"),
    ] {
        let ran = home.run(&["cal", statement]);
        assert_eq!(ran.code, 2, "{statement}");
        assert!(ran.stderr.contains(code), "{statement}: {}", ran.stderr);
        assert!(!ran.stderr.contains('\u{202e}'), "{}", ran.stderr);
    }
}

#[test]
fn nothing_found_is_one_and_a_file_or_stdin_is_a_statement() {
    let home = Home::new();
    home.put(&belief("mira", "likes", "tea"));
    assert_eq!(
        home.run(&["cal", "RECALL beliefs WHERE subject = \"joris\""])
            .code,
        1
    );
    assert_eq!(home.run(&["cal", "EXISTS sha256:00000000"]).code, 1);
    home.write("ask.cal", "-- how many\nRECALL beliefs\n  | COUNT\n");
    assert_eq!(home.ok(&["cal", "-f", "ask.cal"]), "1\n");
    let ran = home.run_with(&["cal", "--file", "-"], "RECALL events | COUNT");
    assert_eq!((ran.code, ran.stdout.as_str()), (1, "0\n"));
}

#[test]
fn a_statement_reads_no_more_than_the_handle_that_asks() {
    let home = Home::new();
    home.ok(&["import", &sample("grains.jsonl")]);
    let own = home.ok(&["cal", "RECALL | COUNT", "--in", "studio:climbing"]);
    let all = home.ok(&["cal", "RECALL | COUNT"]);
    assert!(own.trim().parse::<u64>().unwrap() < all.trim().parse::<u64>().unwrap());
    let other = home.run(&[
        "cal",
        "RECALL IN SCOPE \"agent\"",
        "--in",
        "studio:climbing",
    ]);
    assert_eq!(other.code, 1, "{other:?}");
}
