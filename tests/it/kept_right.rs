//! A process that keeps the right to write between its operations, beside others: they get it when they
//! ask, also if the one that keeps it dies or stands still, and it answers with nothing that another
//! erased.

#![cfg(unix)]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use grainstore::store::Authorization;
use grainstore::{ContentAddress, Draft, Options, Store};

const OFFICE: Authorization<'static> = Authorization {
    reason: "a request",
    authority: "the office",
};

fn open(path: &Path, wait: Duration) -> Store {
    let options = Options {
        lock_wait: wait,
        ..Options::default()
    };
    Store::open(path, options).unwrap()
}

fn note(text: &str) -> Draft {
    Draft::belief("ada", "notes", text).confidence(0.5)
}

/// Another process, which does what a line tells it and answers with a line.
struct Other {
    child: Child,
    asks: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Other {
    fn start(home: &Path) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "kept_right::other", "--ignored", "--nocapture"]);
        command.env("GRAINSTORE_KEEPS", home);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let asks = child.stdin.take().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        Self {
            child,
            asks,
            answers,
        }
    }

    fn tell(&mut self, what: &str) {
        writeln!(self.asks, "{what}").unwrap();
    }

    fn answer(&mut self) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            assert!(self.answers.read_line(&mut line).unwrap() > 0, "it ended");
            // The test program prints lines of its own.
            if let Some((_, answer)) = line.split_once(ANSWER) {
                return answer.trim_end().to_owned();
            }
        }
    }

    fn ask(&mut self, what: &str) -> String {
        self.tell(what);
        self.answer()
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let mut kill = Command::new("kill");
        assert!(kill.args([name, &pid]).status().unwrap().success());
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
#[ignore = "a part of the others"]
fn other() {
    let Some(home) = std::env::var_os("GRAINSTORE_KEEPS") else {
        return;
    };
    let store = open(Path::new(&home), PATIENT);
    println!("{ANSWER}open");
    let mut serial = 0;
    let mut put = || {
        serial += 1;
        let text = format!("of the other {serial}");
        store.put(note(&text)).unwrap()
    };
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        match line.split_once(' ') {
            None => {
                let stored: Vec<_> = (0..BURST).map(|_| put()).collect();
                println!("{ANSWER}{}", stored[BURST - 1]);
                if line == "forever" {
                    loop {
                        put();
                    }
                }
            }
            Some((_, address)) => {
                let address: ContentAddress = address.parse().unwrap();
                // From one of many questions on, no more look at what others wrote.
                let found = (0..200).filter(|_| store.get(&address).unwrap().is_some());
                println!("{ANSWER}{}", found.count());
            }
        }
    }
}

#[test]
fn processes_that_take_turns_find_at_once_what_the_other_stored() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path(), PATIENT);
    let mut other = Other::start(home.path());
    assert_eq!(other.answer(), "open");
    for round in 0..10 {
        for n in 0..BURST {
            let mine = store.put(note(&format!("of mine {round} {n}"))).unwrap();
            if n == BURST - 1 {
                assert_eq!(other.ask(&format!("get {mine}")), "200");
            }
        }
        let theirs = other.ask("put").parse().unwrap();
        assert!(store.get(&theirs).unwrap().is_some(), "round {round}");
    }
    assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
}

#[test]
fn a_process_that_asks_again_and_again_sees_at_once_that_another_erased_a_grain() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path(), PATIENT);
    let mut other = Other::start(home.path());
    assert_eq!(other.answer(), "open");
    for round in 0..5 {
        let erased = store.put(note(&format!("obsidian {round}"))).unwrap();
        // Nothing is kept for a second after another process wrote.
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(1_200) {
            assert_eq!(other.ask(&format!("get {erased}")), "200");
        }
        store.admin().unwrap().delete(&erased, OFFICE).unwrap();
        assert_eq!(other.ask(&format!("get {erased}")), "0", "round {round}");
    }
}

#[test]
fn a_process_that_writes_all_the_time_gives_the_right_to_one_that_asks() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path(), PATIENT);
    let mut other = Other::start(home.path());
    assert_eq!(other.answer(), "open");
    let _theirs = other.ask("forever");
    for n in 0..20 {
        let mine = store.put(note(&format!("of mine {n}"))).unwrap();
        assert!(store.get(&mine).unwrap().is_some());
    }
    drop(other);
    assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
}

#[test]
fn what_a_process_acknowledged_before_it_was_killed_with_the_right_is_there() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path(), PATIENT);
    for round in 0..5 {
        let mut other = Other::start(home.path());
        assert_eq!(other.answer(), "open");
        let theirs = other.ask("put").parse().unwrap();
        let _theirs = other.ask("forever");
        other.signal("-KILL");
        drop(other);
        // The system has released its lock.
        let mine = store.put(note(&format!("of mine {round}"))).unwrap();
        assert!(store.get(&mine).unwrap().is_some());
        assert!(store.get(&theirs).unwrap().is_some());
    }
    assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
}

#[test]
fn the_last_segment_has_room_while_the_right_is_kept_and_ends_with_its_frames_after() {
    let home = tempfile::tempdir().unwrap();
    let segment = home.path().join("ledger/0000000000000001.seg");
    let len = || std::fs::metadata(&segment).unwrap().len();
    let store = open(home.path(), PATIENT);
    let ledger_bytes = || store.maintenance().unwrap().stats().unwrap().ledger_bytes;
    let mut serial = 0;
    let mut put_until_there_is_room = || {
        while len() % ROOM != 0 {
            serial += 1;
            store.put(note(&format!("of mine {serial}"))).unwrap();
        }
    };
    put_until_there_is_room();
    // Without a further put the right is given back.
    while len() % ROOM == 0 {
        std::thread::yield_now();
    }
    assert_eq!(len(), ledger_bytes());
    put_until_there_is_room();
    let frames = ledger_bytes();
    drop(store);
    assert_eq!(len(), frames);
}

#[test]
fn a_process_that_was_stopped_with_the_right_delays_others_until_it_goes_on() {
    let home = tempfile::tempdir().unwrap();
    let mut other = Other::start(home.path());
    assert_eq!(other.answer(), "open");
    let store = open(home.path(), Duration::from_millis(300));
    let _theirs = other.ask("forever");
    // It may be stopped in the moment in which it has given the right to this process.
    let refused = (0..20).find_map(|n| {
        other.signal("-STOP");
        let put = store.put(note(&format!("while it stands still {n}")));
        other.signal("-CONT");
        put.err()
    });
    let refused = refused.unwrap();
    assert_eq!(refused.code(), "ERR_STORE_LOCKED");
    let named = format!("process {} (", other.child.id());
    assert!(refused.to_string().contains(&named), "{refused}");
    let mine = loop {
        if let Ok(mine) = store.put(note("when it goes on")) {
            break mine;
        }
    };
    assert!(store.get(&mine).unwrap().is_some());
}

#[test]
fn a_process_that_stopped_a_moment_after_its_last_operation_delays_no_other() {
    let home = tempfile::tempdir().unwrap();
    let mut other = Other::start(home.path());
    assert_eq!(other.answer(), "open");
    let store = open(home.path(), Duration::ZERO);
    let theirs: ContentAddress = other.ask("put").parse().unwrap();
    assert_eq!(other.ask(&format!("get {theirs}")), "200");
    // Long enough on a busy machine.
    std::thread::sleep(Duration::from_secs(1));
    other.signal("-STOP");
    let mine = store.put(note("of mine")).unwrap();
    other.signal("-CONT");
    assert_eq!(other.ask(&format!("get {mine}")), "200");
}

const ANSWER: &str = "=> ";

/// Room ends at a multiple of so many bytes (docs/format.md, "Writing").
const ROOM: u64 = 64 << 10;

/// So many puts, one after the other, that the right is kept.
const BURST: usize = 40;

/// A busy machine is no reason to give up.
const PATIENT: Duration = Duration::from_secs(120);
