//! `cal`: answers, the envelope, exit codes, and the place of a mistake.

use serde_json::json;

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

#[test]
fn a_change_needs_its_option_and_is_made_under_the_rules_of_a_put() {
    let home = Home::new();
    home.ok(&["init"]);
    let add = "ADD belief SET subject = \"mira\" SET relation = \"mg:prefers\" SET object = \"tea\" \
        REASON \"she said so\"";
    let refused = home.run(&["cal", add]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("CAL-E044"), "{}", refused.stderr);
    let address = home.ok(&["cal", add, "--allow-changes"]);
    let target = format!("sha256:{}", &address[..16]);
    let supersede = format!("SUPERSEDE {target} SET object = $what REASON \"changed\"");
    let made = home.run(&[
        "--json",
        "cal",
        &supersede,
        "--param",
        "what=milk",
        "--allow-changes",
    ]);
    assert_eq!(made.code, 0, "{made:?}");
    assert_eq!(made.json()["supersedes"], address.trim());
    assert_eq!(made.json()["_cal"]["tier"], 1);
    let count = "RECALL beliefs ABOUT \"mira\" WHERE object = \"milk\" | COUNT";
    assert_eq!(home.ok(&["cal", count, "--allow-changes"]), "1\n");
    let again = home.run(&["cal", &supersede, "--param", "what=beer", "--allow-changes"]);
    assert!(again.stderr.contains("CAL-E040"), "{}", again.stderr);
    let reader = ["cal", add, "--allow-changes", "--role", "reader"];
    let reader = home.run(&reader);
    assert!(reader.stderr.contains("CAL-E044"), "{}", reader.stderr);
}

#[test]
fn two_processes_give_equal_answers_in_equal_order() {
    let home = Home::new();
    home.ok(&["import", &sample("grains.jsonl")]);
    for statement in [
        "RECALL | LIMIT 50",
        "RECALL beliefs LIKE \"coffee\"",
        "RECALL events | ORDER BY time DESC | LIMIT 30",
        "(RECALL beliefs) UNION (RECALL LIKE \"mira\")",
        "RECALL | GROUP BY type",
        "ASSEMBLE FROM a: (RECALL beliefs), b: (RECALL LIKE \"tea\") BUDGET 200 tokens",
        "RECALL WHERE subject IN (RECALL beliefs WHERE relation = \"mg:prefers\" | SUBJECTS)",
    ] {
        let answer = || {
            let now = ["--json", "cal", statement, "--now", "2026-11-20"];
            let mut told = home.run(&now).json();
            told["_cal"]["duration_ms"] = 0.into();
            told
        };
        let first = answer();
        assert_eq!(first, answer(), "{statement}");
        assert!(first.to_string().len() > 200, "{first}");
    }
}

#[test]
fn without_a_statement_each_line_of_stdin_is_one_and_errors_end_nothing() {
    let home = Home::new();
    home.put(&belief("mira", "likes", "tea"));
    let lines = "RECALL | COUNT\n\n-- a template stays until the end\n\
        DEFINE TEMPLATE short\n  ELEMENT {* {{grain.content}}}\n\n\
        RECALL fact\nASSEMBLE FROM\n  (RECALL) FORMAT TEMPLATE short\n\
        ADD belief SET subject = \"a\" SET relation = \"b\" SET object = \"c\" REASON \"d\"\n\
        RECALL | COUNT";
    let ran = home.run_with(&["cal", "--allow-changes"], lines);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stdout.starts_with("1\n"), "{ran:?}");
    assert!(ran.stdout.contains("* likes tea\n"), "{ran:?}");
    assert!(ran.stdout.ends_with("\n2\n"), "{ran:?}");
    assert!(ran.stderr.contains("RECALL fact\n       ^^^^\n"), "{ran:?}");
    let ran = home.run_with(&["cal"], "RECALL | COUNT\n");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "2\n"));
}

#[test]
fn a_refusal_of_the_store_does_not_end_the_statements_of_stdin() {
    let home = Home::new();
    let address = home.put(&belief("mira", "likes", "tea")).remove(0);
    let why = ["--reason", "asked", "--authority", "the office"];
    home.ok(&[&["hold", "place", &address], why.as_slice()].concat());
    let lines =
        format!("SUPERSEDE sha256:{address} SET object = \"x\" REASON \"y\"\nRECALL | COUNT\n");
    let ran = home.run_with(&["cal", "--allow-changes"], &lines);
    assert_eq!((ran.code, ran.stdout.as_str()), (3, "1\n"), "{ran:?}");
    assert!(
        ran.stderr.starts_with("error[ERR_INVALIDATION_DENIED]"),
        "{ran:?}"
    );
    let ran = home.run_with(&["--json", "cal", "--allow-changes"], &lines);
    let codes = [
        &ran.json_lines()[0]["error"]["code"],
        &ran.json_lines()[1]["count"],
    ];
    assert_eq!(codes, [&json!("ERR_INVALIDATION_DENIED"), &json!(1)]);
}
