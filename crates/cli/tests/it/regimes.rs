//! `init --preset`, `policy preset|show|set|explain|report`, `export --purpose`.

use crate::command::{Home, event};

#[test]
fn a_store_made_with_a_preset_holds_to_it_and_says_what_it_does_not() {
    let home = Home::new();
    let made = home.run(&["init", "--preset", "hipaa"]);
    assert_eq!(made.code, 0, "{made:?}");
    assert!(
        made.stderr.contains("not enforced: hipaa/phi-encrypted"),
        "{made:?}"
    );
    let line = r#"{"type":"event","content":"x","structural_tags":["phi:mrn"]}"#;
    let refused = home.run_with(&["put", "-", "--json"], line);
    assert_eq!(refused.code, 3, "{refused:?}");
    assert_eq!(
        refused.json_lines()[0]["error"]["code"],
        "ERR_POLICY_DENIED"
    );
    let shown = home.run(&["policy", "show", "--json"]);
    let clauses = &shown.json_lines()[0]["regimes"][0]["clauses"];
    let enforced = clauses.as_array().unwrap().iter();
    let enforced = enforced.filter(|clause| clause["enforced"] == true).count();
    assert_eq!(enforced, clauses.as_array().unwrap().len() - 2);

    let report = home.ok(&["policy", "report"]);
    assert!(report.contains("| HIPAA | 164.312 |"), "{report}");
    let report = home.run(&["policy", "report", "--json"]);
    assert_eq!(report.json_lines()[0]["counts"]["refusals"], 1);
}

#[test]
fn a_preset_is_printed_changed_and_put_in_force() {
    let home = Home::new();
    let text = home.ok(&["policy", "preset", "gdpr"]);
    let own = text.replace("name = \"gdpr\"", "name = \"house\"");
    std::fs::write(home.path("own.toml"), own).unwrap();
    home.ok(&["init", "--policy", "own.toml"]);
    let shown = home.ok(&["policy", "show"]);
    assert!(shown.starts_with("house"), "{shown}");
    let personal = r#"{"type":"event","content":"x","user_id":"ada"}"#;
    assert_eq!(home.run_with(&["put", "-"], personal).code, 3);
    let why = ["--reason", "a test", "--authority", "its author"];
    home.ok(&[&["policy", "set", "--none"][..], &why].concat());
    assert_eq!(home.run_with(&["put", "-"], personal).code, 0);
    assert_eq!(home.run(&["policy", "show"]).code, 1);

    std::fs::write(home.path("wrong.toml"), "name = 1\n").unwrap();
    let wrong = home.run(&[
        "init",
        "--store",
        "other",
        "--policy",
        "wrong.toml",
        "--json",
    ]);
    assert_eq!(wrong.json_lines()[0]["error"]["code"], "ERR_POLICY");
    assert!(!home.path("other").exists());
}

#[test]
fn explain_says_what_would_happen_and_why() {
    let home = Home::new();
    let locked = event("the deed", 1).replace(
        "\"type\"",
        r#""invalidation_policy":{"mode":"locked"},"type""#,
    );
    let address = home.put(&locked).remove(0);
    let told = home.run(&["policy", "explain", &address, "supersede"]);
    assert_eq!(told.code, 3, "{told:?}");
    assert!(told.stdout.contains("locked (OMS 23.2)"), "{told:?}");
    assert!(told.stdout.contains(&address), "{told:?}");
    let told = home.run(&["policy", "explain", &address, "verify", "--json"]);
    assert_eq!(told.json_lines()[0]["allowed"], false);
    let free = home.put(&event("a note", 2)).remove(0);
    assert_eq!(home.run(&["policy", "explain", &free, "export"]).code, 0);
    assert_eq!(home.run(&["policy", "explain", &free, "paint"]).code, 2);
}

#[test]
fn an_export_says_what_it_left_out_and_why() {
    let home = Home::new();
    let tagged =
        r#""structural_tags":["profile:legal"],"legal:privilege":"attorney_client","type""#;
    home.put(&event("privileged", 1).replace("\"type\"", tagged));
    home.put(&event("public", 2));
    let out = home.ok(&["export", "--format", "jsonl", "-o", "out.jsonl"]);
    assert!(out.contains("withheld: privilege (OMS A.2)"), "{out}");
    let file = std::fs::read_to_string(home.path("out.jsonl")).unwrap();
    assert!(!file.contains("privileged") && file.contains("public"));
    home.ok(&[
        "export",
        "--format",
        "jsonl",
        "--purpose",
        "sale",
        "-o",
        "sold.jsonl",
    ]);
}
