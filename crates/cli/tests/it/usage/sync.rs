//! `sync`: a directory of notes and the store in step.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::command::{Home, belief};

#[test]
fn an_edit_and_a_new_grain_pass_each_other_through_a_directory() {
    let home = Home::new();
    home.put(&belief("Ana", "likes", "tea"));
    let said = home.ok(&["sync", "notes", "--dialect", "obsidian"]);
    let expected =
        "notes (markdown)\n  0 inserted, 0 updated, 0 unchanged, 0 conflicts, 0 refused\n";
    assert!(said.starts_with(expected), "{said}");
    assert!(said.ends_with("  0 ended, 2 files written\n"), "{said}");
    let note = fs::read_to_string(home.path("notes/Ana.md")).unwrap();
    home.write("notes/Ana.md", note.replace("likes: tea", "likes: coffee"));
    home.put(&belief("Ben", "likes", "milk"));
    let stepped = home.run(&["sync", "notes", "--json"]);
    assert_eq!(stepped.code, 0, "{stepped:?}");
    assert_eq!(stepped.json()["updated"], 2, "{stepped:?}");
    assert!(home.path("notes/Ben.md").is_file());
    let found = home.run(&["query", "--subject", "Ana", "--json"]).json();
    assert_eq!(found["results"][0]["grain"]["object"], "coffee");
}

#[test]
fn a_line_that_changed_on_both_sides_is_listed() {
    let home = Home::new();
    let tea = home.put(&belief("Ana", "likes", "tea")).remove(0);
    home.ok(&["sync", "notes"]);
    home.ok(&["correct", &tea, "--set", "object=cocoa"]);
    let note = fs::read_to_string(home.path("notes/subjects/Ana.md")).unwrap();
    home.write(
        "notes/subjects/Ana.md",
        note.replace("likes: tea", "likes: coffee"),
    );
    let stepped = home.run(&["sync", "notes"]);
    assert_eq!(stepped.code, 1, "{stepped:?}");
    assert!(stepped.stderr.contains("conflict: "), "{stepped:?}");
    let listed = home.ok(&["conflicts"]);
    assert!(
        listed.contains("cocoa") && listed.contains("coffee"),
        "{listed}"
    );
    let note = fs::read_to_string(home.path("notes/subjects/Ana.md")).unwrap();
    assert!(note.contains("cocoa") && note.contains("coffee"), "{note}");
}

#[test]
fn what_is_removed_ends_or_is_erased_where_that_is_asked_for() {
    let home = Home::new();
    fs::create_dir(home.path("notes")).unwrap();
    home.write("notes/a.md", "- one\n- two\n- three\n");
    home.ok(&["sync", "notes"]);
    home.write("notes/a.md", "- two\n- three\n");
    let said = home.ok(&["sync", "notes"]);
    assert!(said.contains("  1 ended, "), "{said}");
    let all = |home: &Home| home.ok(&["tail"]);
    assert!(all(&home).contains("one"));
    home.write("notes/a.md", "- three\n");
    let asked = ["sync", "notes", "--erase"];
    let refused = home.run(&asked);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.stderr.contains("--reason"), "{refused:?}");
    let reasoned = ["--reason", "asked", "--authority", "ops"];
    let said = home.ok(&[&asked[..], &reasoned].concat());
    assert!(said.contains("  1 ended, 2 grains erased, "), "{said}");
    let left = all(&home);
    assert!(left.contains("one") && !left.contains("two"), "{left}");
    home.write("notes/a.md", "- two\n- three\n");
    home.run(&["sync", "notes"]);
    let note = fs::read_to_string(home.path("notes/a.md")).unwrap();
    assert_eq!(note, "- three\n");
}

#[test]
fn a_watch_goes_on_with_what_either_side_changes() {
    let home = Home::new();
    fs::create_dir(home.path("notes")).unwrap();
    home.write("notes/a.md", "- one\n");
    let mut command = home.command();
    command.args(["sync", "notes", "--watch", "--json"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut stepped =
        || -> serde_json::Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    assert_eq!(stepped()["inserted"], 2);
    home.write("notes/b.md", "- two\n");
    assert_eq!(stepped()["inserted"], 2);
    home.put(&belief("Ana", "likes", "tea"));
    assert_eq!(stepped()["inserted"], 0);
    assert!(home.path("notes/subjects/Ana.md").is_file());
    child.kill().unwrap();
    child.wait().unwrap();
}
