//! Mistakes that people make: what each command says of them, and its exit code.

use std::fs;

use crate::command::{Home, belief, sample};

mod table;

use table::MISTAKES;

/// A command line, what it reads, its exit code, and what its message names.
struct Mistake {
    args: Vec<String>,
    input: String,
    exit: i32,
    named: Vec<String>,
}

fn mistakes(address: &str) -> Vec<Mistake> {
    let rows = MISTAKES.lines();
    let rows = rows.filter(|row| !row.is_empty() && !row.starts_with('#'));
    let rows = rows.map(|row| {
        let (row, input) = row.split_once(" <<").unwrap_or((row, ""));
        let columns: Vec<_> = row.split(" | ").collect();
        let [exit, args, named]: [&str; 3] = columns.try_into().unwrap();
        Mistake {
            args: args
                .split(' ')
                .map(|arg| arg.replace("$A", address))
                .collect(),
            input: input.trim_start().replace("\\n", "\n"),
            exit: exit.parse().unwrap(),
            named: named
                .split(", ")
                .map(|name| name.trim().to_owned())
                .collect(),
        }
    });
    rows.collect()
}

#[test]
fn every_mistake_is_named_with_what_to_do() {
    let home = Home::new();
    let address = home.put(&belief("ana", "likes", "tea")).remove(0);
    home.write("notes.jsonl", belief("ana", "likes", "coffee"));
    home.write("empty", "");
    // `printf x | gzip -n`.
    let gzip = b"\x1f\x8b\x08\0\0\0\0\0\0\x03\xab\0\0\x83\x16\xdc\x8c\x01\0\0\0";
    home.write("one.jsonl.gz", gzip);
    home.write("there.omi.json", "precious");
    fs::create_dir(home.path("pam")).unwrap();
    home.write("pam/memory-store.json", "precious");
    let mistakes = mistakes(&address);
    assert!(mistakes.len() >= 200, "{}", mistakes.len());
    let mut faults = Vec::new();
    for Mistake {
        args,
        input,
        exit,
        named,
    } in mistakes
    {
        let args: Vec<_> = args.iter().map(String::as_str).collect();
        let ran = home.run_with(&args, input);
        let lacks: Vec<_> = named
            .iter()
            .filter(|name| !ran.stderr.contains(*name))
            .collect();
        let is_long = ran.stderr.lines().any(|line| line.chars().count() > 300);
        if ran.code != exit || !lacks.is_empty() || is_long {
            faults.push(format!(
                "{args:?} lacks {lacks:?}: {}: {}",
                ran.code, ran.stderr
            ));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
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
            said.contains("No space left") && said.contains("is full"),
            "{args:?}: {said}"
        );
    }
}
