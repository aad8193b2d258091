//! `--format` and `--fields`: the same results as JSON, JSON lines, CSV, Markdown and columns.

use serde_json::{Value, json};

use crate::command::{Home, belief, event};

fn home() -> Home {
    let home = Home::new();
    home.put(&(belief("ana", "likes", "tea, \\\"green\\\"") + &belief("ben", "likes", "a|b")));
    home.put(
        "{\"type\":\"event\",\"content\":\"hi\",\"role\":\"user\",\"session_id\":\"s1\",\"created_at\":1}",
    );
    home
}

const CONSENT: &str = r#"{"type":"consent","subject_did":"did:web:a","grantee_did":"did:web:b","scope":["store"],"is_withdrawal":false,"created_at":1}"#;

#[test]
fn fields_are_chosen_in_every_format() {
    let home = home();
    let query = |form: &str| {
        let args = [
            "query",
            "--relation",
            "likes",
            "--fields",
            "subject,object,type",
        ];
        home.ok(&[&args[..], &["--format", form]].concat())
    };
    assert_eq!(
        query("table"),
        "ana  tea, \"green\"  belief\nben  a|b           belief\n"
    );
    assert_eq!(
        query("csv"),
        "subject,object,type\nana,\"tea, \"\"green\"\"\",belief\nben,a|b,belief\n"
    );
    assert_eq!(
        query("markdown"),
        "| subject | object | type |\n| --- | --- | --- |\n| ana | tea, \"green\" | belief |\n| ben | a\\|b | belief |\n"
    );
    let rows = json!([
        { "subject": "ana", "object": "tea, \"green\"", "type": "belief" },
        { "subject": "ben", "object": "a|b", "type": "belief" },
    ]);
    assert_eq!(serde_json::from_str::<Value>(&query("json")).unwrap(), rows);
    let lines = query("jsonl");
    let lines = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    assert_eq!(Value::Array(lines.collect()), rows);
}

#[test]
fn without_fields_json_is_the_document_and_its_lines_are_the_results() {
    let home = home();
    for command in [
        &["query"] as &[_],
        &["search", "tea"],
        &["sessions"],
        &["list"],
        &["ls", "users"],
        &["hold", "list"],
        &["consent", "list"],
        &["audit", "log"],
        &["tail"],
    ] {
        let document = home.run(&[command, &["--json"]].concat());
        let same = home.run(&[command, &["--format", "json"]].concat());
        assert_eq!(document.stdout, same.stdout, "{command:?}");
    }
    let results = home.run(&["query", "--json"]).json()["results"].clone();
    let lines = home.run(&["query", "--format", "jsonl"]).json_lines();
    assert_eq!(Value::Array(lines), results);
    let sessions = home.run(&["sessions", "--json"]).json()["sessions"].clone();
    let lines = home.run(&["sessions", "--format", "jsonl"]).json_lines();
    assert_eq!(Value::Array(lines), sessions);
    let entries = home.run(&["audit", "log", "--json"]).json()["entries"].clone();
    let lines = home
        .run(&["audit", "log", "--format", "jsonl"])
        .json_lines();
    assert_eq!(Value::Array(lines), entries);
    let lines = home.run(&["list", "--format", "jsonl"]).json_lines();
    assert_eq!(lines[0]["address"].as_str().unwrap(), home.addresses()[0]);
}

#[test]
fn every_list_has_columns_of_its_own() {
    let home = home();
    let address = home.addresses().remove(0);
    let why = ["--reason", "a case", "--authority", "the court"];
    home.ok(&[&["hold", "place", &address], &why[..]].concat());
    home.put(CONSENT);
    for (args, heading) in [
        (&["list"] as &[_], "address,type,time,summary,status"),
        (&["query"], "address,type,time,summary,status"),
        (&["search", "tea"], "score,address,type,time,summary,status"),
        (&["sessions"], "session,title,speakers,grains,first,last"),
        (&["ls"], "kind,name,grains,newest"),
        (&["ls", "relations"], "kind,name,grains,newest"),
        (
            &["history", &address],
            "address,stored_at,stored_by,status,summary",
        ),
        (&["tail"], "entry,address,type,time,summary,status"),
        (&["hold", "list"], "address,since,authority,reason"),
        (
            &["consent", "list"],
            "address,subject_did,grantee_did,scope,state",
        ),
        (&["audit", "log"], "entry,at,by,operation,addresses,detail"),
        (
            &["audit", "timeline", &address],
            "entry,at,by,operation,addresses,detail",
        ),
    ] {
        let shown = home.ok(&[args, &["--format", "csv"]].concat());
        assert_eq!(shown.lines().next(), Some(heading), "{args:?}");
        assert!(shown.lines().count() > 1, "{args:?}: {shown}");
    }
    let types = home.ok(&["ls", "types", "--fields", "name,grains"]);
    assert_eq!(types, "belief   2\nconsent  1\nevent    1\n");
    let state = home.ok(&["consent", "list", "--fields", "scope,state"]);
    assert_eq!(state, "store  in force\n");
    let held = home.ok(&["hold", "list", "--fields", "authority,address"]);
    assert_eq!(held, format!("the court  {address}\n"));
}

#[test]
fn a_list_that_may_have_no_end_writes_json_by_the_line() {
    let home = home();
    let fields = ["--fields", "entry,subject"];
    let lines = home.run(&[&["tail", "--json"], &fields[..]].concat());
    let rows: Vec<_> = lines.json_lines();
    assert_eq!(rows[1], json!({ "entry": 1, "subject": "ben" }));
    assert_eq!(rows.len(), 3);
    let table = home.ok(&[&["tail"], &fields[..]].concat());
    assert_eq!(table, "0  ana\n1  ben\n2\n");
    for list in ["hold", "consent"] {
        let ran = home.run(&[list, "list", "--json"]);
        assert_eq!(ran.code, 1, "{ran:?}");
    }
}

#[test]
fn a_field_that_no_result_has_is_named_and_an_empty_list_has_its_heading() {
    let home = home();
    let ran = home.run(&["query", "--fields", "subject,sujbect"]);
    assert!(ran.stderr.contains("no result has sujbect"), "{ran:?}");
    let ran = home.run(&["query", "--subject", "none", "--format", "csv"]);
    assert_eq!((ran.code, ran.stdout.lines().count()), (1, 1), "{ran:?}");
    let ran = home.run(&["query", "--subject", "none", "--fields", "type", "--json"]);
    assert_eq!(ran.stdout, "[]\n");
    let ran = home.run(&["query", "--format", "jsonl", "--cursor", "x"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    home.put(&event("\\u001b[2J", 9));
    let shown = home.ok(&["list", "--format", "markdown"]);
    assert!(!shown.contains('\u{1b}'), "{shown}");
}
