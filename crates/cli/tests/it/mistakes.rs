//! Mistakes that people make: what each command says of them, and its exit code.

use std::fs;

use crate::command::{Home, belief, sample};

/// A command line, what it reads, its exit code, and what its message names.
type Mistake = (
    &'static [&'static str],
    &'static str,
    i32,
    &'static [&'static str],
);

const MISTAKES: [Mistake; 24] = [
    // Names of other tools.
    (&["remember", "tea"], "", 2, &["'put'"]),
    (&["add", "tea"], "", 2, &["'put'"]),
    (&["show", "abcd"], "", 2, &["'get'"]),
    (&["ls"], "", 2, &["'list'"]),
    (&["log"], "", 2, &["'history'", "'list'"]),
    (&["rm", "abcd"], "", 2, &["'delete'"]),
    (&["forget", "ana"], "", 2, &["'delete'", "'user'"]),
    (&["verify"], "", 2, &["'check'", "'validate'"]),
    (&["find", "tea"], "", 2, &["'search'"]),
    // Directories and files.
    (
        &["backup", "memory.grains"],
        "",
        2,
        &["the store itself", "new or empty"],
    ),
    (&["backup", "."], "", 2, &["no MANIFEST", "new or empty"]),
    (
        &["restore", "nowhere", "new"],
        "",
        2,
        &["nowhere", "BACKUP"],
    ),
    (
        &["convert", "notes.jsonl", "out.xyz"],
        "",
        2,
        &["out.xyz", "--to", ".omi.json"],
    ),
    (
        &["import", "nowhere.json"],
        "",
        2,
        &["nowhere.json", "No such file"],
    ),
    (&["import", "empty"], "", 2, &["the file is empty"]),
    (
        &["export", "--format", "jsonl", "-o", "notes.jsonl"],
        "",
        2,
        &["notes.jsonl", "exists", "--force"],
    ),
    (
        &["export", "--format", "pam", "--plain", "-o", "pam/"],
        "",
        2,
        &["memory-store.json", "--force"],
    ),
    (
        &["convert", "notes.jsonl", "there.omi.json"],
        "",
        2,
        &["there.omi.json", "--force"],
    ),
    // Input.
    (&["import", "-"], "", 2, &["the file is empty"]),
    (&["import", "-"], "{\"type\":", 2, &["-"]),
    (
        &["put", "-"],
        "{\"type\":",
        2,
        &["line 1", "`grainstore put --help`"],
    ),
    (
        &["put", "-"],
        "{\"type\":\"belief\"}\n",
        2,
        &["subject", "`grainstore put --help`"],
    ),
    (&["put", "-"], "[1]\n", 2, &["JSON object"]),
    (&["get", "xyz"], "", 2, &["64", "hexadecimal"]),
];

#[test]
fn every_mistake_is_named_with_what_to_do() {
    let home = Home::new();
    home.put(&belief("ana", "likes", "tea"));
    home.write("notes.jsonl", belief("ana", "likes", "coffee"));
    home.write("empty", "");
    home.write("there.omi.json", "precious");
    fs::create_dir(home.path("pam")).unwrap();
    home.write("pam/memory-store.json", "precious");
    for (args, input, exit, named) in MISTAKES {
        let ran = home.run_with(args, input);
        assert_eq!(ran.code, exit, "{args:?}: {ran:?}");
        for name in named {
            assert!(
                ran.stderr.contains(name),
                "{args:?} lacks {name}: {}",
                ran.stderr
            );
        }
        let lines = ran.stderr.lines().all(|line| line.chars().count() <= 300);
        assert!(lines, "{args:?}: {}", ran.stderr);
    }
    assert_eq!(home.addresses().len(), 1, "no mistake stores anything");
    for kept in ["there.omi.json", "pam/memory-store.json"] {
        assert_eq!(fs::read(home.path(kept)).unwrap(), b"precious");
    }
    home.ok(&["convert", "notes.jsonl", "there.omi.json", "--force"]);
}

#[test]
fn a_file_of_any_format_is_imported_and_validated_from_stdin() {
    let home = Home::new();
    for (name, grains) in [
        ("sample.mg", true),
        ("grains.jsonl", true),
        ("pam/memory-store.json", true),
    ] {
        let file = fs::read(sample(name)).unwrap();
        assert_eq!(home.run_with(&["validate", "-"], &file).code, 0, "{name}");
        let ran = home.run_with(&["import", "-", "--json"], &file);
        assert_eq!(ran.code, 0, "{name}: {ran:?}");
        assert_eq!(
            ran.json()["inserted"].as_u64() > Some(0),
            grains,
            "{name}: {ran:?}"
        );
    }
}

#[test]
fn the_lines_that_the_help_shows_are_stored() {
    let home = Home::new();
    let help = home.ok(&["put", "--help"]);
    let lines = help
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with("{\"type\""));
    let lines: Vec<_> = lines.collect();
    assert_eq!(lines.len(), 10, "one of each type");
    assert_eq!(home.put(&lines.join("\n")).len(), 10);
}

#[cfg(target_os = "linux")]
#[test]
fn an_output_that_takes_nothing_is_said_and_ends_with_2() {
    let home = Home::new();
    home.put(&belief("ana", "likes", "tea"));
    for args in [
        &["query"] as &[_],
        &["query", "--json"],
        &["list"],
        &["stats", "--json"],
        &["--json", "get", "abcd"],
    ] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let ended = home.command().args(args).stdout(full).output().unwrap();
        assert_eq!(ended.status.code(), Some(2), "{args:?}");
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(
            said.contains("No space left") || said.contains("ERR_"),
            "{args:?}: {said}"
        );
    }
}
