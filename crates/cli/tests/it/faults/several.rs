//! Many processes at one store at once: writers and readers that are killed all the time, commands
//! that start together, and a reader that does nothing while a grain is erased.
//!
//! `just several` is the long form.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Stdio};
use std::thread;

use serde_json::Value;

use crate::command::{Home, event};

/// A number that the long form sets when it is compiled.
const fn or(text: Option<&str>, usual: u64) -> u64 {
    match text {
        Some(text) => match u64::from_str_radix(text, 10) {
            Ok(number) => number,
            Err(_) => usual,
        },
        None => usual,
    }
}

const PROCESSES: u64 = or(option_env!("GRAINSTORE_PROCESSES"), 3);
const PUTS: u64 = or(option_env!("GRAINSTORE_PUTS"), 150);
const COMMANDS: u64 = or(option_env!("GRAINSTORE_COMMANDS"), 24);

#[test]
fn writers_and_readers_that_are_killed_all_the_time_lose_nothing_and_store_nothing_twice() {
    let home = Home::new();
    home.ok(&["init"]);
    let all = PROCESSES * PUTS;
    let (acknowledged, kills) = thread::scope(|scope| {
        let home = &home;
        let readers = (0..PROCESSES).map(|reader| scope.spawn(move || read_all(home, reader, all)));
        let readers: Vec<_> = readers.collect();
        let writers = (0..PROCESSES).map(|writer| scope.spawn(move || write_all(home, writer)));
        let writers: Vec<_> = writers.collect();
        let mut kills = 0;
        let mut acknowledged = BTreeSet::new();
        for writer in writers {
            let (addresses, killed) = writer.join().unwrap();
            acknowledged.extend(addresses);
            kills += killed;
        }
        for reader in readers {
            let (read, killed) = reader.join().unwrap();
            assert_eq!(
                read, acknowledged,
                "a reader saw what was stored, once each"
            );
            kills += killed;
        }
        (acknowledged, kills)
    });
    assert_eq!(acknowledged.len() as u64, all);
    let listed = home.addresses();
    assert_eq!(
        listed.len() as u64,
        all,
        "none is lost, none is there twice"
    );
    assert_eq!(listed.into_iter().collect::<BTreeSet<_>>(), acknowledged);
    home.ok(&["check", "--deep"]);
    println!(
        "{PROCESSES} writers of {PUTS} grains each, as many readers: {kills} kills, none lost"
    );
}

#[test]
fn an_export_beside_processes_that_write_all_the_time_is_complete_and_no_error() {
    let home = Home::new();
    home.ok(&["init"]);
    let done = std::sync::atomic::AtomicBool::new(false);
    thread::scope(|scope| {
        let home = &home;
        let done = &done;
        let writers: Vec<_> = (0..2_u64)
            .map(|writer| {
                scope.spawn(move || {
                    let mut number = 0;
                    while !done.load(std::sync::atomic::Ordering::Relaxed) {
                        number += 1;
                        let name = format!("of-{writer}.jsonl");
                        let lines: String = (0..40)
                            .map(|n| event(&format!("of {writer} {number}"), n))
                            .collect();
                        home.write(&name, &lines);
                        home.ok(&["--wait", "600", "put", &name]);
                    }
                })
            })
            .collect();
        for number in 0..COMMANDS {
            let name = format!("copy-{number}.jsonl");
            let ran = home.run(&["export", "--format", "jsonl", "-o", &name]);
            assert_eq!(ran.code, 0, "{}", ran.stderr);
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        writers
            .into_iter()
            .for_each(|writer| writer.join().unwrap());
    });
    let log = home.run(&["--json", "audit", "log", "--operation", "export"]);
    let exports = log.json()["entries"].as_array().unwrap().len() as u64;
    assert!(exports >= COMMANDS, "{exports} of {COMMANDS} are recorded");
}

/// Stores the grains of one writer, across kills, and returns their addresses.
fn write_all(home: &Home, writer: u64) -> (BTreeSet<String>, u64) {
    let mut acknowledged = BTreeSet::new();
    let mut kills = 0;
    while (acknowledged.len() as u64) < PUTS {
        // Some of them may be stored, and not acknowledged, by the process that was killed.
        let from = acknowledged.len() as u64;
        let lines: String = (from..PUTS)
            .map(|n| event(&format!("of {writer}"), n))
            .collect();
        let mut child = start(home, &["--wait", "600", "put", "-"]);
        let mut stdin = child.stdin.take().unwrap();
        let feeder = thread::spawn(move || drop(stdin.write_all(lines.as_bytes())));
        // Each life is longer than the one before, so that it comes to an end.
        let wanted = 1 + (writer * 7 + kills * 13) % 40 * (kills + 1);
        let (printed, killed) = lines_until(&mut child, |seen, _| seen as u64 == wanted);
        acknowledged.extend(printed);
        kills += u64::from(killed);
        feeder.join().unwrap();
    }
    (acknowledged, kills)
}

/// Follows the store, across kills, and returns the addresses of the first `all` grains.
fn read_all(home: &Home, reader: u64, all: u64) -> (BTreeSet<String>, u64) {
    let mut read = BTreeSet::new();
    let (mut next, mut kills) = (0, 0);
    while (read.len() as u64) < all {
        let from = next.to_string();
        let mut child = start(home, &["--json", "tail", "--follow", "--from", &from]);
        let wanted = 1 + (reader * 11 + kills * 17) % 60 * (kills + 1);
        let left = all - read.len() as u64;
        let (printed, _) = lines_until(&mut child, |seen, _| seen as u64 == wanted.min(left));
        for line in printed {
            let line: Value = serde_json::from_str(&line).unwrap();
            let entry = line["entry"].as_u64().unwrap();
            assert!(entry >= next, "entry {entry} came after {next}");
            next = entry + 1;
            assert!(read.insert(line["address"].as_str().unwrap().to_owned()));
        }
        kills += 1;
    }
    (read, kills)
}

fn start(home: &Home, args: &[&str]) -> Child {
    let mut command = home.command();
    command.args(args).stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    command.spawn().unwrap()
}

/// Returns the whole lines that a process prints until it ends or, at a line, is killed; and whether
/// it was killed.
fn lines_until(child: &mut Child, is_last: impl Fn(usize, &str) -> bool) -> (Vec<String>, bool) {
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut lines = Vec::new();
    let mut line = String::new();
    // Whole lines that are still in the pipe count.
    while stdout.read_line(&mut line).unwrap() > 0 && line.ends_with('\n') {
        lines.push(line.trim_end().to_owned());
        if is_last(lines.len(), &line) {
            child.kill().unwrap();
        }
        line.clear();
    }
    (lines, !child.wait().unwrap().success())
}

#[test]
fn commands_that_are_started_at_once_all_succeed() {
    let home = Home::new();
    let started = (0..COMMANDS).map(|n| {
        let mut child = start(&home, &["--wait", "600", "put", "-"]);
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(event("at once", n).as_bytes()).unwrap();
        child
    });
    // The first of them creates the store.
    for mut child in started.collect::<Vec<_>>() {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(home.addresses().len() as u64, COMMANDS);
    home.ok(&["check", "--deep"]);
}

#[cfg(target_os = "linux")]
#[test]
fn processes_that_are_asked_nothing_close_the_files_of_an_erased_grain() {
    let home = Home::new();
    let lines: String = (0..200).map(|n| event("obsidian", n)).collect();
    let stored = home.put(&lines);
    home.ok(&["compact"]);
    // The first keeps the files, the second follows it; then both are idle.
    let mut idle: Vec<Child> = Vec::new();
    for _ in 0..2 {
        let mut child = start(&home, &["tail", "--follow", "--from", "199"]);
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut String::new()).unwrap();
        child.stdout = Some(stdout.into_inner() as ChildStdout);
        idle.push(child);
    }
    assert!(idle.iter().all(|child| !held(&home, child, "").is_empty()));
    let yes = [
        "--reason",
        "a request",
        "--authority",
        "the office",
        "--yes",
    ];
    home.ok(&[&["--wait", "600", "delete", &*stored[7]][..], &yes].concat());
    let has_closed = |child: &Child| held(&home, child, "(deleted)").is_empty();
    let mut looks = (0..LOOKS_MAX).map(|_| {
        // It takes a while, so that nothing needs to sleep here.
        assert_eq!(home.run(&["exists", &stored[7]]).code, 1);
        idle.iter().all(has_closed)
    });
    let closed = looks.any(|is_closed| is_closed);
    let still: Vec<_> = idle
        .iter()
        .flat_map(|child| held(&home, child, "(deleted)"))
        .collect();
    for mut child in idle {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(closed, "{still:?}");
}

/// Returns the files in a directory that a process has open or mapped, with this in their names.
#[cfg(target_os = "linux")]
fn held(home: &Home, child: &Child, mark: &str) -> Vec<String> {
    let process = format!("/proc/{}", child.id());
    let open = fs::read_dir(format!("{process}/fd")).unwrap();
    let open = open.filter_map(|item| fs::read_link(item.ok()?.path()).ok());
    let mut names: Vec<String> = open.map(|path| path.display().to_string()).collect();
    let maps = fs::read_to_string(format!("{process}/maps")).unwrap();
    names.extend(maps.lines().map(str::to_owned));
    let store = home.path("memory.grains").display().to_string();
    names.retain(|name| name.contains(&store) && name.contains(mark));
    names
}

/// Each look starts a command, so that these take far longer than the 5 seconds of an erasure.
#[cfg(target_os = "linux")]
const LOOKS_MAX: usize = 400;
