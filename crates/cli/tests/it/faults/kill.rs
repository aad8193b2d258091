//! SIGKILL in the middle of storing: every address that was printed is there afterwards.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use crate::command::{Home, binary, event};

const LINES: u64 = 10_000;
/// The number of kills; `GRAINSTORE_KILLS` overrides it at compile time.
const RUNS: u64 = match option_env!("GRAINSTORE_KILLS") {
    Some(text) => match u64::from_str_radix(text, 10) {
        Ok(runs) => runs,
        Err(_) => 30,
    },
    None => 30,
};

/// The runs after which the same put is repeated to its end.
const AGAIN: [u64; 2] = [7, 21];

#[test]
fn what_was_acknowledged_survives_a_kill() {
    let lines: String = (0..LINES).map(|number| event("killed", number)).collect();
    let mut random = Random(0x6772_6169_6e73);
    let (mut torn, mut seen) = (0, 0);
    for run in 0..RUNS {
        let home = Home::new();
        let path = home.path("memory.grains");
        let wanted = 1 + random.next() % 1_500;
        let acknowledged = killed_put(&path, lines.clone(), wanted);
        assert!(
            acknowledged.len() as u64 >= wanted,
            "run {run}: the put ended by itself"
        );

        // Opened by separate processes: a fork by another test would hold our lock for a while.
        let ran = home.run(&["list"]);
        assert_eq!(ran.code, 0, "run {run}: {ran:?}");
        torn += u32::from(ran.stderr.contains("are no whole frame"));
        let here: BTreeSet<_> = ran.stdout.lines().collect();
        seen += acknowledged.len();
        let lost = acknowledged.iter().find(|one| !here.contains(one.as_str()));
        assert_eq!(lost, None, "run {run}, {wanted} printed");
        let ran = home.run(&["check"]);
        assert_eq!(ran.code, 0, "run {run}: {ran:?}");

        if AGAIN.contains(&run) {
            let printed = home.put(&lines);
            assert_eq!(printed.len() as u64, LINES);
            let listed = home.addresses();
            assert_eq!(listed.len() as u64, LINES, "none twice");
            let listed: BTreeSet<_> = listed.into_iter().collect();
            assert_eq!(listed, printed.into_iter().collect());
        }
    }
    println!("{RUNS} kills, {seen} acknowledged grains, none lost; {torn} torn tails");
}

#[test]
fn what_several_processes_acknowledged_survives_the_kill_of_any_of_them() {
    let home = Home::new();
    let path = home.path("memory.grains");
    let rounds = RUNS.div_ceil(PROCESSES);
    let store = |process: u64| {
        let mut random = Random(process);
        let mut acknowledged = BTreeSet::new();
        for round in 0..rounds {
            // Its own grains, and one that all processes store.
            let of = |number| event("shared", number) + &event(&format!("of {process}"), number);
            let from = round * LINES;
            let lines: String = (from..from + LINES).map(of).collect();
            let wanted = 1 + random.next() % 150;
            acknowledged.extend(killed_put(&path, lines, wanted));
        }
        acknowledged
    };
    let acknowledged: BTreeSet<String> = thread::scope(|scope| {
        let started = (0..PROCESSES).map(|process| scope.spawn(move || store(process)));
        let started: Vec<_> = started.collect();
        let each = started.into_iter().map(|thread| thread.join().unwrap());
        each.flatten().collect()
    });
    let listed = home.addresses();
    let here: BTreeSet<_> = listed.iter().cloned().collect();
    assert_eq!(listed.len(), here.len(), "none twice");
    assert_eq!(acknowledged.difference(&here).next(), None, "none is lost");
    home.ok(&["check", "--deep"]);
    let kills = rounds * PROCESSES;
    let seen = acknowledged.len();
    println!("{kills} kills of {PROCESSES} processes, {seen} acknowledged grains, none lost");
}

/// The processes that store at once.
const PROCESSES: u64 = 4;

/// Returns what a `put -` printed until it was killed, a while after `wanted` addresses.
fn killed_put(path: &Path, lines: String, wanted: u64) -> Vec<String> {
    let mut child = Command::new(binary())
        .arg("--store")
        .arg(path)
        .args(["put", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let feeder = thread::spawn(move || drop(stdin.write_all(lines.as_bytes())));
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut acknowledged = Vec::new();
    let mut line = String::new();
    // A line cut short by the kill does not count; complete lines still in the pipe do.
    while stdout.read_line(&mut line).unwrap() > 0 && line.ends_with('\n') {
        acknowledged.push(line.trim_end().to_owned());
        line.clear();
        if acknowledged.len() as u64 == wanted {
            child.kill().unwrap();
        }
    }
    let status = child.wait().unwrap();
    assert!(!status.success(), "it was killed");
    feeder.join().unwrap();
    acknowledged
}

/// A generator whose numbers are the same in every run (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
