//! `correct`: a new version with its own time, in one line of versions.

use crate::command::{Home, belief};

#[test]
fn corrections_of_corrections_are_one_lineage_without_forks() {
    let home = Home::new();
    let source = home
        .put(r#"{"type":"event","content":"I like tea","created_at":1}"#)
        .remove(0);
    let line = belief("ana", "likes", "tea");
    let line = line.replace(
        "\"type\"",
        &format!("\"derived_from\":[\"{source}\"],\"type\""),
    );
    let mut address = home.put(&line).remove(0);
    let first = address.clone();
    for object in ["coffee", "milk", "water"] {
        let ran = home.run(&[
            "correct",
            &address,
            "--set",
            &format!("object={object}"),
            "--json",
        ]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!(ran.json()["supersedes"], address);
        address = ran.json()["address"].as_str().unwrap().to_owned();
    }
    let history = home.run(&["history", &first, "--json"]).json();
    assert_eq!(history["versions"].as_array().unwrap().len(), 4);
    assert_eq!(history["heads"]["winner"], address);
    assert_eq!(history["heads"]["others"], serde_json::json!([]), "no fork");
    let last = &history["versions"][3]["grain"];
    assert!(
        last["created_at"].as_i64() > Some(1_768_471_200_000),
        "its own time: {last}"
    );
    let before = &history["versions"][2]["address"];
    assert_eq!(
        last["derived_from"],
        serde_json::json!([source, before]),
        "the source stays"
    );
    // The one that was replaced is corrected no more.
    let ran = home.run(&["correct", &first, "--set", "object=x", "--json"]);
    ran.fails(2, "ERR_CONFLICT", "");
}

#[test]
fn fields_are_removed_and_a_correction_that_changes_nothing_is_none() {
    let home = Home::new();
    let line = r#"{"type":"event","content":"tea","importance":0.5,"created_at":1}"#;
    let address = home.put(line).remove(0);
    let ran = home.run(&["correct", &address, "--set", "content=tea"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert_eq!(home.addresses().len(), 1);
    let new = home.ok(&["correct", &address, "--unset", "importance"]);
    let found = home.run(&["get", new.trim(), "--json"]).json();
    assert!(found["grain"].get("importance").is_none(), "{found}");
    let ran = home.run(&["correct", new.trim(), "--unset", "valid_to", "--json"]);
    ran.fails(2, "ERR_USAGE", "");
    let ran = home.run(&["correct", new.trim(), "--set", "confidence=7", "--json"]);
    ran.fails(2, "ERR_RANGE", "");
}

#[test]
fn a_locked_grain_is_not_corrected() {
    let home = Home::new();
    let line = r#"{"type":"event","content":"the deed","invalidation_policy":{"mode":"locked"},"created_at":1}"#;
    let address = home.put(line).remove(0);
    let ran = home.run(&["correct", &address, "--set", "content=another", "--json"]);
    ran.fails(3, "ERR_INVALIDATION_DENIED", "");
}

#[cfg(unix)]
mod editor {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// Runs `correct` with a shell script as the editor, and a directory of its own for files.
    fn edited(home: &Home, address: &str, script: &str) -> std::process::Output {
        home.write("editor", format!("#!/bin/sh\n{script}\n"));
        let editor = home.path("editor");
        fs::set_permissions(&editor, fs::Permissions::from_mode(0o755)).unwrap();
        fs::create_dir_all(home.path("tmp")).unwrap();
        let mut command = home.command();
        command.args(["correct", address, "--json"]);
        command
            .env("VISUAL", &editor)
            .env("TMPDIR", home.path("tmp"));
        command.output().unwrap()
    }

    fn left(home: &Home) -> usize {
        fs::read_dir(home.path("tmp")).unwrap().count()
    }

    #[test]
    fn the_editor_gets_the_fields_as_json_in_a_private_file() {
        let home = Home::new();
        let address = home.put(&belief("ana", "likes", "tea")).remove(0);
        let script = "ls -l \"$1\" > seen; cat \"$1\" >> seen; sed 's/tea/milk/' \"$1\" > new; cp new \"$1\"";
        let ran = edited(&home, &address, script);
        assert!(ran.status.success(), "{ran:?}");
        let seen = fs::read_to_string(home.path("seen")).unwrap();
        assert!(seen.starts_with("-rw-------"), "{seen}");
        assert!(seen.contains("\"object\": \"tea\""), "{seen}");
        assert!(!seen.contains("created_at"), "{seen}");
        let stored: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
        let found = home
            .run(&["get", stored["address"].as_str().unwrap(), "--json"])
            .json();
        assert_eq!(found["grain"]["object"], "milk");
        assert_eq!(left(&home), 0);
    }

    #[test]
    fn an_editor_that_fails_or_changes_nothing_changes_nothing() {
        let home = Home::new();
        let address = home.put(&belief("ana", "likes", "tea")).remove(0);
        assert_eq!(edited(&home, &address, "exit 1").status.code(), Some(2));
        assert_eq!(edited(&home, &address, "true").status.code(), Some(1));
        assert_eq!(left(&home), 0);
        // Text that is no JSON is kept, so that no work is lost.
        let ran = edited(&home, &address, "echo '{' > \"$1\"");
        assert_eq!(ran.status.code(), Some(2));
        let said = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert!(
            said.contains("ERR_JSON") && said.contains("is kept"),
            "{said}"
        );
        assert_eq!(left(&home), 1);
        assert_eq!(home.addresses().len(), 1);
    }

    #[test]
    fn without_an_editor_the_message_says_how_to_pass_the_change() {
        let home = Home::new();
        let address = home.put(&belief("ana", "likes", "tea")).remove(0);
        let mut command = home.command();
        command.env_remove("VISUAL").env_remove("EDITOR");
        let ran = command.args(["correct", &address]).output().unwrap();
        assert_eq!(ran.status.code(), Some(2));
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(said.contains("EDITOR") && said.contains("--set"), "{said}");
    }
}

#[test]
fn a_consent_is_corrected_and_superseded_under_the_name_of_the_one_before() {
    let home = Home::new();
    let line = |scope: &str| {
        format!(
            r#"{{"type":"consent","subject_did":"did:web:ana","grantee_did":"did:web:bob",
            "scope":["{scope}"],"is_withdrawal":false}}"#
        )
        .replace('\n', " ")
    };
    let first = home.put(&line("store")).remove(0);
    let why = ["--justification", "she said so"];
    let ran = home.run(&[&["correct", &first, "--set", "jurisdiction=eu"], &why[..]].concat());
    let second = ran.stdout.trim().to_owned();
    assert_eq!(ran.code, 0, "{ran:?}");
    let supersede = [&["supersede", &second, "-"], &why[..]].concat();
    let third = home.run_with(&supersede, line("retrieve")).stdout;
    for (new, old) in [(second.as_str(), &first), (third.trim(), &second)] {
        let grain = home.run(&["get", new, "--json"]).json()["grain"].clone();
        assert_eq!(grain["prior_consent"], old.as_str(), "{grain}");
        assert!(grain.get("derived_from").is_none(), "{grain}");
    }
    let listed = home.run(&["consent", "list", "--json"]).json();
    assert_eq!(listed["consents"].as_array().unwrap().len(), 3, "{listed}");
}

#[test]
fn a_new_version_is_not_retrieved_for_its_warnings() {
    let home = Home::new();
    // A store that counts goes on counting.
    let options = grainstore::Options {
        accesses: Some(std::time::Duration::ZERO),
        ..grainstore::Options::default()
    };
    let store = grainstore::Store::open(home.path("memory.grains"), options).unwrap();
    let seen = store.put(grainstore::Draft::event("counted")).unwrap();
    store.get(&seen).unwrap();
    drop(store);
    let old = home.put(&belief("ana", "likes", "tea")).remove(0);
    let ran = home.run(&["correct", &old, "--set", "object=milk"]);
    let new = ran.stdout.trim().to_owned();
    let odd = r#"{"type":"observation","observer_id":"o","observer_type":"llm"}"#;
    let odd = home.put(odd).remove(0);
    let superseding = r#"{"type":"observation","observer_id":"p","observer_type":"llm"}"#;
    let ran = home.run_with(&["--json", "supersede", &odd, "-"], superseding);
    assert!(ran.stdout.contains("observer_model"), "{ran:?}");
    let newer = ran.json()["address"].as_str().unwrap().to_owned();
    for address in [new, newer] {
        let status = home.run(&["status", &address, "--json"]).json();
        assert_eq!(status["access_count"].as_u64().unwrap_or(0), 0, "{status}");
    }
    // The store counts this retrieval.
    home.ok(&["get", &old]);
    let status = home.run(&["status", &old, "--json"]).json();
    assert_eq!(status["access_count"], 1, "{status}");
}
