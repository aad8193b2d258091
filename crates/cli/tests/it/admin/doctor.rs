//! `doctor` and `upgrade`: what is wrong with a store, and what older files need.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::Value;

use crate::command::{Home, Ran, belief, event};

/// Returns the severity of each finding, by its id.
fn findings(ran: &Ran) -> Vec<(String, String)> {
    let document = ran.json();
    let findings = document["findings"].as_array().unwrap().iter();
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    findings
        .map(|finding| (text(finding, "id"), text(finding, "severity")))
        .collect()
}

#[track_caller]
fn has(ran: &Ran, id: &str, severity: &str) {
    let found = findings(ran);
    let is_there = found
        .iter()
        .any(|it| (it.0.as_str(), it.1.as_str()) == (id, severity));
    assert!(is_there, "{id}: {ran:?}");
}

fn home() -> Home {
    let home = Home::new();
    home.put(&belief("ana", "likes", "tea"));
    home
}

#[test]
fn a_sound_store_has_notes_alone_and_a_look_is_no_entry() {
    let home = home();
    let entries = home.run(&["stats", "--json"]).json()["entries"].clone();
    let ran = home.run(&["doctor", "--json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(
        findings(&ran),
        [("backup-unknown".to_owned(), "note".to_owned())]
    );
    let shown = home.ok(&["doctor"]);
    assert!(shown.contains("nothing is wrong"), "{shown}");
    assert_eq!(home.run(&["stats", "--json"]).json()["entries"], entries);
    let ran = home.run(&["--store", "nowhere", "doctor"]);
    assert_eq!(ran.code, 2, "{ran:?}");
}

#[test]
fn a_backup_is_compared_with_the_store() {
    let home = home();
    let ran = home.run(&["doctor", "--backup", "copy", "--json"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    has(&ran, "backup-missing", "warning");
    home.ok(&["backup", "copy"]);
    // A backup is no entry, so it has all of them.
    let ran = home.run(&["doctor", "--backup", "copy", "--json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    has(&ran, "backup", "note");
    // The record of a check is nothing that a backup is due for.
    home.ok(&["check"]);
    let ran = home.run(&["doctor", "--backup", "copy", "--json"]);
    has(&ran, "backup", "note");
    home.put(&event("later", 1));
    home.write("grainstore.toml", "backup = \"copy\"\n");
    home.ok(&["config", "allow", "."]);
    let ran = home.run(&["doctor", "--json"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    has(&ran, "backup-behind", "warning");
    assert!(ran.stdout.contains("the last 2 ledger entries"), "{ran:?}");
    let put = home.run_with(&["--store", "other", "put", "-"], event("other", 1));
    assert_eq!(put.code, 0, "{put:?}");
    let ran = home.run(&["doctor", "--backup", "other", "--json"]);
    has(&ran, "backup-missing", "warning");
}

#[test]
fn holds_and_the_process_that_keeps_the_store_are_named() {
    let home = home();
    let address = home.addresses().remove(0);
    home.ok(&[
        "hold",
        "place",
        &address,
        "--reason",
        "r",
        "--authority",
        "a",
    ]);
    let mut command = home.command();
    let follow = ["tail", "--follow", "--from", "0", "--json"];
    let mut child = command.args(follow).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.next().unwrap().unwrap();
    let ran = home.run(&["doctor", "--json"]);
    has(&ran, "holds", "note");
    has(&ran, "open-elsewhere", "note");
    assert!(ran.stdout.contains(&format!("process {}", child.id())));
    child.kill().unwrap();
    child.wait().unwrap();
    let ran = home.run(&["doctor", "--json"]);
    let ids: Vec<_> = findings(&ran).into_iter().map(|it| it.0).collect();
    assert!(!ids.contains(&"open-elsewhere".to_owned()), "{ids:?}");
}

#[cfg(unix)]
#[test]
fn a_store_that_others_may_read_is_a_warning() {
    use std::os::unix::fs::PermissionsExt;
    let home = home();
    let open = fs::Permissions::from_mode(0o755);
    fs::set_permissions(home.path("memory.grains"), open).unwrap();
    let ran = home.run(&["doctor", "--json"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    has(&ran, "open-to-others", "warning");
    assert!(ran.stdout.contains("chmod -R go="), "{ran:?}");
}

#[test]
fn damage_ends_with_4_whether_the_store_opens_or_not() {
    let home = Home::new();
    home.put(&(event("one", 1) + &event("two", 2)));
    let segment = fs::read_dir(home.path("memory.grains/ledger")).unwrap();
    let segment = segment.map(|entry| entry.unwrap().path()).next().unwrap();
    let mut bytes = fs::read(&segment).unwrap();
    bytes.truncate(40);
    bytes[0] ^= 1;
    fs::write(&segment, bytes).unwrap();
    let ran = home.run(&["doctor", "--json"]);
    assert_eq!(ran.code, 4, "{ran:?}");
    has(&ran, "store-closed", "damage");
    assert!(ran.stdout.contains("grainstore restore"), "{ran:?}");
}

#[test]
fn upgrade_says_what_it_builds_anew_or_that_there_is_nothing_to_do() {
    let home = home();
    let shown = home.ok(&["upgrade"]);
    assert!(shown.contains("nothing to do"), "{shown}");
    let current = home.path("memory.grains/index/CURRENT");
    fs::write(current, "an index of an older form").unwrap();
    let ran = home.run(&["upgrade", "--json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.json()["index_rebuilt"].is_string(), "{ran:?}");
    assert!(home.ok(&["upgrade"]).contains("nothing to do"));
    assert!(home.ok(&["query", "--subject", "ana"]).contains("tea"));
}
