//! Pipes: what comes from one, whatever it is called, and one that takes nothing or ends.

use std::fs::File;
use std::process::{Command, Stdio};

use crate::command::{Home, binary, event};

fn lines() -> String {
    (1..=3)
        .map(|n| event(&format!("tea number {n}"), n))
        .collect()
}

/// Runs a line of a shell in which `$G` is the command; returns the exit code and the output.
fn shell(home: &Home, line: &str) -> (i32, String) {
    let output = Command::new("bash")
        .args(["-c", line])
        .env("G", binary())
        .current_dir(home.path(""))
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    (output.status.code().unwrap_or(-1), text)
}

#[test]
fn a_file_is_imported_from_a_pipe_of_any_name() {
    let home = Home::new();
    home.write("in.jsonl", lines());
    home.ok(&["import", "in.jsonl"]);
    home.ok(&["export", "--format", "mg", "-o", "in.mg"]);
    for file in ["in.jsonl", "in.mg"] {
        for line in [
            "cat FILE | $G --store new import -",
            "cat FILE | $G --store new import /dev/stdin",
            "$G --store new import <(cat FILE)",
            "$G --store new import - < FILE",
            "cat FILE | $G --store new validate -",
        ] {
            let (code, text) = shell(&home, &line.replace("FILE", file));
            assert_eq!(code, 0, "{line}: {text}");
        }
        let listed = home.ok(&["--store", "new", "list"]);
        assert_eq!(listed.lines().count(), 3, "{file}");
        std::fs::remove_dir_all(home.path("new")).unwrap();
    }
    let (code, text) = shell(&home, "cat nothing.mg | $G --store new import -");
    assert_eq!(code, 2, "{text}");
}

#[test]
fn commands_in_one_pipe_share_a_store() {
    let home = Home::new();
    home.put(&lines());
    let (code, text) = shell(&home, "$G list | while read a; do $G exists $a; done");
    assert_eq!((code, text.as_str()), (0, "yes\nyes\nyes\n"));
    let vector = r#"sed 's/.*/{"address": "&", "model": "m", "vector": [0.1, 0.7]}/'"#;
    let (code, text) = shell(&home, &format!("$G list | {vector} | $G embed -"));
    assert_eq!((code, text.trim()), (0, "3 vectors stored"));
    let (code, text) = shell(&home, "$G export --format jsonl | $G --store new import -");
    assert_eq!(code, 0, "{text}");
    let (code, text) = shell(
        &home,
        "$G --json export --format jsonl | head -c 10 > /dev/null",
    );
    assert_eq!(code, 0, "{text}");
    // What comes out of another command wrongly is an error with the line, and nothing is stored.
    let (code, text) = shell(&home, "$G query --json | $G embed -");
    assert_eq!(code, 2, "{text}");
    assert!(
        text.contains("stdin, line 1: the line has no address"),
        "{text}"
    );
}

#[test]
fn an_output_that_takes_nothing_fails_every_command() {
    let home = Home::new();
    let address = home.put(&lines()).remove(0);
    home.write("in.jsonl", lines());
    let commands = [
        "list",
        "list --json",
        "stats",
        "query",
        "query --json",
        "search tea",
        "check",
        "check --json",
        "tail",
        "ls",
        "status ADDRESS",
        "show ADDRESS",
        "get ADDRESS",
        "exists ADDRESS",
        "history ADDRESS",
        "put in.jsonl",
        "put --json in.jsonl",
        "import in.jsonl",
        "export --format jsonl",
        "export --format mg",
        "convert in.jsonl - --to mg",
        "validate in.jsonl",
        "grain encode in.jsonl",
        "embed -",
        "schema event",
        "audit log",
        "audit head",
        "completions bash",
        "man",
        "help",
        "--help",
        "--version",
        "nonsense --json",
        "backup copy",
        "restore copy again",
        "recover copy whole",
    ];
    for command in commands {
        let command = command.replace("ADDRESS", &address);
        let mut child = home.command();
        child.args(command.split(' ')).stdin(Stdio::null());
        child.stdout(File::create("/dev/full").unwrap());
        let output = child.stderr(Stdio::piped()).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{command}: {told}");
    }
}
