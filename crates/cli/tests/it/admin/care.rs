//! `check`, `compact`, `backup` and `restore`.

use std::fs;

use serde_json::json;

use crate::command::{Home, event};

fn filled() -> Home {
    let home = Home::new();
    for n in 1..=3 {
        home.put(&event(&format!("tea number {n}"), n));
    }
    home
}

#[test]
fn a_store_that_is_backed_up_and_restored_says_what_it_said() {
    let home = filled();
    let addresses = home.addresses();
    let backup = home.run(&["--json", "backup", "copy"]).json();
    assert_eq!(
        (&backup["entries"], &backup["segments"], &backup["kept"]),
        (&json!(3), &json!(1), &json!(0)),
    );
    assert!(home.ok(&["backup", "copy"]).contains("0 segments copied"));
    home.put(&event("one too many", 4));
    assert!(
        home.ok(&["backup", "copy"])
            .contains("4 entries; 1 segment copied")
    );

    let ran = home.run(&["restore", "copy", "again", "--at", "3"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.contains("3 entries restored, 1 left"), "{ran:?}");
    let listed = home.ok(&["--store", "again", "list"]);
    assert_eq!(listed.lines().collect::<Vec<_>>(), addresses);
    home.ok(&["--store", "again", "check", "--deep"]);

    let ran = home.run(&["restore", "copy", "whole"]);
    assert!(
        ran.stderr.contains("erasures made after this backup"),
        "{ran:?}"
    );
    assert_eq!(home.ok(&["--store", "whole", "list"]).lines().count(), 4);
    let before = home.run(&[
        "--json",
        "restore",
        "copy",
        "early",
        "--at",
        "2020-01-01T00:00:00Z",
    ]);
    assert_eq!(before.json()["entries"], 0);
}

#[test]
fn a_restore_or_backup_that_could_lose_something_is_refused() {
    let home = filled();
    home.ok(&["backup", "copy"]);
    let at_end = ["--json", "restore", "copy", "new", "--at", "9"];
    home.run(&at_end).fails(2, "ERR_LOST_ERASURES", "copy");
    let accepted = home.run(&[&at_end[..], &["--accept-lost-erasures"]].concat());
    assert_eq!(accepted.json()["left"], 0);
    home.run(&["--json", "restore", "copy", "new"])
        .fails(2, "ERR_STORE_EXISTS", "new");
    home.run(&["--json", "restore", "nowhere", "other"])
        .fails(2, "ERR_NOT_A_STORE", "nowhere");
    home.run(&["--json", "--store", "fresh", "init"]);
    home.run(&["--json", "backup", "fresh"])
        .fails(2, "ERR_BACKUP_DIVERGED", "fresh");
    home.run(&["--json", "backup", "memory.grains"])
        .fails(2, "ERR_USAGE", "memory.grains");
    let ran = home.run(&["--json", "restore", "copy", "x", "--at", "teatime"]);
    assert_eq!(
        (ran.code, ran.json()["error"]["code"].as_str()),
        (2, Some("ERR_USAGE"))
    );
}

#[test]
fn a_repair_says_what_it_did_and_a_compaction_what_it_saved() {
    let home = filled();
    let compacted = home.run(&["--json", "compact"]).json();
    assert_eq!(compacted["after"]["index_runs"], 1);
    assert_eq!(compacted["after"]["text_segments"], 1);
    assert!(home.ok(&["compact"]).contains("index  1 run of "));

    let index = home.path("memory.grains/index");
    let run = fs::read_dir(&index)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let run = run
        .into_iter()
        .find(|path| path.extension().is_some())
        .unwrap();
    let mut bytes = fs::read(&run).unwrap();
    bytes[80] ^= 1;
    fs::write(&run, bytes).unwrap();
    assert_eq!(home.run(&["check"]).code, 0, "a block is not looked into");
    let deep = home.run(&["--json", "check", "--deep"]);
    assert_eq!(deep.code, 4, "{deep:?}");
    assert_eq!(deep.json()["findings"][0]["id"], "index-differs");
    assert_eq!(deep.json()["repaired"], false);

    let repaired = home.run(&["check", "--repair", "--deep"]);
    assert_eq!(repaired.code, 0, "{repaired:?}");
    assert!(
        repaired.stdout.contains("rebuilt from the ledger"),
        "{repaired:?}"
    );
    assert!(
        repaired
            .stdout
            .contains("5 entries, 3 grains: no problems found"),
        "{repaired:?}"
    );
    home.ok(&["check", "--deep"]);
    let again = home.run(&["--json", "check", "--repair"]).json();
    assert_eq!(
        (&again["repaired"], &again["findings"]),
        (&json!(true), &json!([]))
    );
}

#[test]
fn a_repair_rebuilds_the_rest_and_never_touches_a_damaged_ledger() {
    let home = filled();
    let path = home.path("memory.grains/ledger/0000000000000001.seg");
    let mut bytes = fs::read(&path).unwrap();
    bytes[150] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let ran = home.run(&["--json", "check", "--repair"]);
    assert_eq!(ran.code, 4, "{ran:?}");
    assert_eq!(ran.json()["repaired"], true);
    assert_eq!(ran.json()["grains"], 2);
    assert!(ran.stderr.contains("ledger entry 0 is damaged"), "{ran:?}");
    assert_eq!(ran.json()["findings"][0]["id"], "ledger-damaged");
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

#[test]
fn a_damaged_rule_keeps_a_store_closed_and_the_message_names_the_way_out() {
    let home = filled();
    let held = home.addresses().remove(0);
    let why = ["--reason", "the swordfish case", "--authority", "the court"];
    home.ok(&[&["hold", "place", &held], &why[..]].concat());
    home.put(&event("after the rule", 9));
    let path = home.path("memory.grains/ledger/0000000000000001.seg");
    let mut bytes = fs::read(&path).unwrap();
    let word = b"swordfish";
    let at = bytes.windows(word.len()).position(|part| part == word);
    bytes[at.unwrap()] ^= 1;
    fs::write(&path, &bytes).unwrap();
    // The index knows the rule; without it the ledger is read.
    fs::remove_dir_all(home.path("memory.grains/index")).unwrap();
    let ran = home.run(&["list"]);
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(ran.stderr.contains("error[ERR_STORAGE_DAMAGED]"), "{ran:?}");
    assert!(
        ran.stderr.contains("`grainstore check --deep` lists"),
        "{ran:?}"
    );
    assert!(
        ran.stderr.contains("`grainstore recover DIR NEW`"),
        "{ran:?}"
    );
    let ran = home.run(&["--json", "check", "--deep"]);
    let found = ran.json()["findings"].clone();
    let ids: Vec<_> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["id"])
        .collect();
    assert_eq!(ids, ["ledger-damaged", "store-closed"]);
    // Nothing is lost silently: the entry is named.
    let ran = home.run(&["restore", "memory.grains", "new.grains"]);
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(
        ran.stdout.contains("is damaged and blank in the new store"),
        "{ran:?}"
    );
    let listed = home.ok(&["--store", "new.grains", "list"]);
    assert_eq!(listed.lines().count(), 4, "{listed}");
}
