//! `delete`: deleted grains do not return, and held grains cannot be deleted.

use crate::command::{Home, event};

const WHY: [&str; 4] = ["--reason", "asked by letter", "--authority", "the DPO"];

#[test]
fn a_deleted_grain_is_gone_from_every_file_and_does_not_come_back() {
    let home = Home::new();
    let line = event("the wombat password is swordfish", 1);
    let address = home.put(&line).remove(0);
    home.put(&event("something else", 2));
    home.ok(&["export", "--format", "mg", "-o", "before.mg"]);

    let unasked = home.run(&[&["delete", &address][..], &WHY].concat());
    assert_eq!(unasked.code, 2, "{unasked:?}");
    let deleted = home.ok(&[&["delete", &address, "--yes"][..], &WHY].concat());
    assert!(deleted.contains(&address), "{deleted}");
    assert_eq!(home.run(&["get", &address]).code, 1);
    assert_eq!(home.run(&["search", "swordfish"]).code, 1);
    assert!(home.ok(&["check"]).contains('1'));
    for folder in ["ledger", "index", "text"] {
        for file in std::fs::read_dir(home.path("memory.grains").join(folder)).unwrap() {
            let bytes = std::fs::read(file.unwrap().path()).unwrap();
            let there = bytes.windows(9).any(|part| part == b"swordfish");
            assert!(!there, "{folder}");
        }
    }
    // Neither an older file nor a careless put brings it back.
    let imported = home.run(&["import", "before.mg", "--json"]);
    assert_eq!(imported.code, 1, "{imported:?}");
    let summary = &imported.json_lines()[0];
    assert_eq!(summary["inserted"], 0);
    assert_eq!(summary["unchanged"], 1);
    assert_eq!(summary["erased"].as_array().unwrap().len(), 1);
    let put = home.run_with(&["put", "-", "--json"], &line);
    assert_eq!(put.json_lines()[0]["error"]["code"], "ERR_ERASED");
    assert_eq!(home.run(&["get", &address]).code, 1);
    // An explicit request stores it again.
    let again = home.run_with(&["put", "-", "--allow-erased"], &line);
    assert_eq!(again.stdout.trim(), address, "{again:?}");
    assert_eq!(home.run(&["get", &address]).code, 0);
    assert_eq!(home.run(&["check"]).code, 0);
}

#[test]
fn a_deletion_names_what_rests_on_the_grain_and_what_it_protects() {
    let home = Home::new();
    let deed = r#"{"type":"event","content":"the deed","created_at":1,
        "invalidation_policy":{"mode":"locked","scope":"subtree"}}"#;
    let deed = home.put(&deed.replace('\n', " ")).remove(0);
    let note = format!(r#"{{"type":"event","content":"a note","derived_from":["{deed}"]}}"#);
    let note = home.put(&note).remove(0);
    let ran = home.run(&[&["--json", "delete", &deed, "--yes"][..], &WHY].concat());
    let lost = ran.json();
    assert_eq!(
        (&lost["resting"][0], &lost["protected"][0]),
        (&note.clone().into(), &note.clone().into())
    );
    assert!(ran.stderr.contains(&note), "{ran:?}");
    assert_eq!(home.run(&["contradict", &note]).code, 3, "it stays locked");
}

#[test]
fn a_file_that_is_refused_brings_nothing_back() {
    let home = Home::new();
    let secret = event("the password is swordfish", 1);
    let address = home.put(&secret).remove(0);
    home.ok(&[&["delete", &address, "--yes"][..], &WHY].concat());
    let belief = |object: &str, more: &str| {
        format!(
            r#"{{"type":"belief","subject":"user","relation":"prefers","object":"{object}","confidence":0.9,"created_at":2{more}}}"#
        )
    };
    let old = home.put(&belief("tea", "")).remove(0);
    // An implicit supersession is refused by the store, not by the parser.
    let replacing = belief("coffee", &format!(r#","derived_from":["{old}"]"#));
    home.write("lines.jsonl", format!("{secret}\n{replacing}\n"));
    let put = home.run(&["put", "lines.jsonl", "--allow-erased", "--json"]);
    assert_eq!(
        put.json_lines()[0]["error"]["code"],
        "ERR_INVALIDATION_DENIED"
    );
    assert_eq!(home.run(&["get", &address]).code, 1);
}

#[test]
fn a_held_grain_is_not_deleted() {
    let home = Home::new();
    let held = event("evidence", 1).replace(
        "\"type\"",
        r#""invalidation_policy":{"mode":"hold"},"type""#,
    );
    let address = home.put(&held).remove(0);
    let denied = home.run(&[&["delete", &address, "--yes", "--json"][..], &WHY].concat());
    assert_eq!(denied.code, 3, "{denied:?}");
    assert_eq!(home.run(&["get", &address]).code, 0);
}

#[test]
fn many_grains_are_deleted_together_and_one_that_is_held_stays() {
    let home = Home::new();
    let lines: String = (0..30).map(|n| event(&format!("note {n}"), n)).collect();
    let addresses = home.put(&lines);
    home.ok(&[&["hold", "place", &addresses[3]][..], &WHY].concat());
    let list = addresses[..20].join("\n");
    let args = [&["delete", "--from", "-", "--yes", "--json"][..], &WHY].concat();
    let ran = home.run_with(&args, list + "\n" + &addresses[0]);
    assert_eq!(ran.code, 3, "{ran:?}");
    let (kept, deleted): (Vec<_>, Vec<_>) = ran
        .json_lines()
        .into_iter()
        .partition(|line| line["deleted"].is_null());
    assert_eq!(deleted.len(), 19);
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0]["address"], addresses[3]);
    assert_eq!(kept[0]["error"]["code"], "ERR_INVALIDATION_DENIED");
    assert_eq!(home.addresses().len(), 11);
    // One that is not there is said, and the others are deleted.
    let two = [
        &["delete", &addresses[0], &addresses[29], "--yes"][..],
        &WHY,
    ]
    .concat();
    let ran = home.run(&two);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("ERR_NOT_FOUND"), "{ran:?}");
    assert_eq!(home.addresses().len(), 10);
    assert_eq!(home.run(&["check", "--deep"]).code, 0);
}
