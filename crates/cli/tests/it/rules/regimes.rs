//! `init --preset`, `policy preset|show|set|explain|report`, `export --purpose`.

use crate::command::{Home, event, sample};

#[test]
fn a_store_made_with_a_preset_holds_to_it() {
    let home = Home::new();
    let made = home.run(&["init", "--preset", "hipaa"]);
    assert_eq!(made.code, 0, "{made:?}");
    let gaps: Vec<_> = made
        .stderr
        .lines()
        .filter(|line| line.contains("not enforced"))
        .collect();
    assert!(gaps.is_empty(), "{made:?}");
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
    assert_eq!(enforced, clauses.as_array().unwrap().len());

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
fn who_read_what_a_clause_asks_about_is_shown() {
    let home = Home::new();
    // Not about sealing, which needs a key at every command.
    let text = home.ok(&["policy", "preset", "hipaa"]);
    let own = text.replace("sealed = true", "justification = true");
    std::fs::write(home.path("own.toml"), own).unwrap();
    home.ok(&["init", "--policy", "own.toml"]);
    let line = r#"{"type":"event","content":"tea","author_did":"did:web:bot.example",
        "namespace":"acme","processing_basis":"contract","structural_tags":["phi:mrn"]}"#;
    let health = home.put(&line.replace('\n', "")).remove(0);
    let free = home.put(&event("a note", 2)).remove(0);
    assert_eq!(home.run(&["policy", "reads"]).code, 1, "nobody has read");
    home.ok(&["get", &health, &free]);
    let bot = ["--as", "did:web:bot.example", "--cleared", "phi"];
    home.ok(&[&["search", "tea"][..], &bot].concat());
    home.ok(&["history", &health]);
    home.ok(&["export", "--format", "jsonl", "-o", "out.jsonl"]);
    home.ok(&["backup", "b"]);

    let shown = home.ok(&["policy", "reads", &health]);
    let lines: Vec<_> = shown.lines().collect();
    assert_eq!(lines.len(), 5, "{shown}");
    assert!(lines.iter().all(|line| line.contains("hipaa/phi-reads")));
    assert!(lines[0].contains("the owner") && lines[0].contains(&health[..12]));
    assert!(lines[1].contains("search") && lines[1].contains("did:web:bot.example"));
    assert!(lines[4].contains("backup") && lines[4].ends_with("everything"));
    assert_eq!(
        home.run(&["policy", "reads", &free, "--json"]).json_lines()[0]["reads"][0]["operation"],
        "backup"
    );

    let page = home.run(&["policy", "reads", "--limit", "2", "--json"]);
    let page = &page.json_lines()[0];
    assert_eq!(page["reads"][1]["by"], "did:web:bot.example");
    let next = page["next_cursor"].as_str().unwrap();
    let rest = home.run(&["policy", "reads", "--after", next, "--json"]);
    let rest = &rest.json_lines()[0];
    assert_eq!(rest["reads"].as_array().unwrap().len(), 3);
    assert!(rest["next_cursor"].is_null());
    let report = home.run(&["policy", "report", "--json"]);
    assert_eq!(report.json_lines()[0]["counts"]["reads on record"], 5);
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

#[test]
fn the_report_names_what_is_stored_without_effect() {
    let home = Home::new();
    let kept =
        |text: &str, more: &str| event(text, 1).replace("\"type\"", &format!("{more},\"type\""));
    home.put(&event("plain", 1));
    let report = home.ok(&["policy", "report"]);
    assert!(!report.contains("without effect"), "{report}");
    home.put(&kept(
        "deed",
        r#""retention_policy":{"deletion_requires":"two persons"}"#,
    ));
    home.put(&kept(
        "case",
        r#""structural_tags":["profile:legal"],"legal:hold_ref":"H-1""#,
    ));
    home.ok(&["import", &sample("pam/memory-store.json")]);
    let counts = home.run(&["policy", "report", "--json"]).json_lines()[0]["counts"].clone();
    let report = home.ok(&["policy", "report"]);
    for (name, least) in [
        ("with deletion_requires", 1),
        ("with legal:hold_ref", 1),
        ("with visibility or shared_with, not enforced", 1),
    ] {
        let count = counts[name].as_u64().unwrap();
        assert!(count >= least, "{name}: {counts}");
        let is_listed = report.contains(&format!("- {name}: {count}"));
        assert_eq!(is_listed, name.ends_with("not enforced"), "{report}");
    }
}
