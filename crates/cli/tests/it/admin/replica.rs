//! `replicate`, `follow` and `restore URL`: a copy in a directory of objects, with processes that are killed.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::command::{Home, Ran, event};

/// The number of kills; `GRAINSTORE_REPLICA_KILLS` overrides it at compile time.
const KILLS: &str = match option_env!("GRAINSTORE_REPLICA_KILLS") {
    Some(kills) => kills,
    None => "6",
};

/// A store gets so many rounds: each of them restores all of it.
const ROUNDS_MAX: u64 = 16;

fn url(home: &Home) -> String {
    format!("file://{}", home.path("copy").display())
}

fn json(ran: &Ran) -> Value {
    let last = ran.stdout.lines().last().unwrap_or_default();
    serde_json::from_str(last).unwrap()
}

fn events(from: u64, to: u64) -> String {
    (from..to)
        .map(|n| event(&format!("shipped {n}"), n))
        .collect()
}

#[test]
fn a_copy_is_shipped_restored_and_followed() {
    let home = Home::new();
    let mut addresses = home.put(&events(0, 10));
    addresses.extend(home.put(&events(10, 50)));
    let url = url(&home);
    let ran = home.run(&["--json", "replicate", &url, "--once"]);
    let told = json(&ran);
    assert_eq!(
        (ran.code, &told["added"], &told["waits"]),
        (0, &50.into(), &0.into())
    );
    let ran = home.run(&["--json", "replicate", &url, "--once"]);
    assert_eq!(json(&ran)["added"], 0);

    home.ok(&["restore", &url, "new"]);
    assert!(!home.path("new.fetched").exists());
    let listed = home.ok(&["--store", "new", "list", "--limit", "100"]);
    assert!(addresses.iter().all(|address| listed.contains(address)));
    home.ok(&["restore", &url, "ten", "--at", "10"]);
    assert_eq!(home.ok(&["--store", "ten", "list"]).lines().count(), 10);

    home.ok(&["follow", &url, "follower", "--once"]);
    let got = home.ok(&["--store", "follower", "get", &addresses[7]]);
    assert!(got.contains("shipped"), "{got}");
    let ran = home.run_with(&["--store", "follower", "put", "-"], events(99, 100));
    assert!(ran.stderr.contains("ERR_STORAGE_READ_ONLY"), "{ran:?}");
    assert!(ran.stderr.contains("restore DIR NEW"), "{ran:?}");
    assert_eq!(
        home.run(&["follow", &url, "memory.grains", "--once"]).code,
        2
    );
}

#[test]
fn an_erasure_reaches_the_copy_and_doctor_says_when() {
    let home = Home::new();
    let addresses = home.put(&events(0, 5));
    let url = url(&home);
    home.ok(&["replicate", &url, "--once"]);
    assert!(holds(&home.path("copy"), "shipped 3"));
    let doctor = home.run(&["doctor"]);
    assert!(doctor.stdout.contains("note[replica]"), "{doctor:?}");
    let why = [
        "--yes",
        "--reason",
        "asked for",
        "--authority",
        "the office",
    ];
    home.ok(&[&["delete", &addresses[3]], &why[..]].concat());
    let doctor = home.run(&["doctor"]);
    assert!(
        doctor.stdout.contains("warning[replica-behind]"),
        "{doctor:?}"
    );
    assert_eq!(doctor.code, 1);
    let ran = home.run(&["--json", "replicate", &url, "--once"]);
    assert_eq!((ran.code, &json(&ran)["waits"]), (0, &0.into()));
    assert!(json(&ran)["erased"].as_u64() > Some(0), "{ran:?}");
    assert!(!holds(&home.path("copy"), "shipped 3"));
    assert!(holds(&home.path("copy"), "shipped 2"));
}

#[test]
fn a_copy_that_lost_something_is_refused_and_shipped_anew_if_asked() {
    let home = Home::new();
    home.put(&events(0, 5));
    let url = url(&home);
    home.ok(&["replicate", &url, "--once"]);
    let object = fs::read_dir(home.path("copy/objects")).unwrap().next();
    fs::remove_file(object.unwrap().unwrap().path()).unwrap();
    let ran = home.run(&["replicate", &url, "--once"]);
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(ran.stderr.contains("has lost 1 of its objects"), "{ran:?}");
    let ran = home.run(&["restore", &url, "new"]);
    assert!(ran.stderr.contains("new.fetched; remove it"), "{ran:?}");
    home.ok(&["replicate", &url, "--once", "--anew"]);
    home.ok(&["restore", &url, "new"]);
    fs::remove_dir_all(home.path("copy/manifests")).unwrap();
    let ran = home.run(&["replicate", &url, "--once"]);
    assert!(ran.stderr.contains("rolled back"), "{ran:?}");
}

#[test]
fn a_server_ships_what_it_and_others_store() {
    let home = Home::new();
    home.put(&events(0, 3));
    let url = url(&home);
    let mut server = start(
        &home,
        &["serve", "--listen", "127.0.0.1:0", "--replicate", &url],
    );
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert!(line.starts_with("http://"), "{line}");
    home.put(&events(3, 7));
    // Each run waits for nothing but the copy; a copy that does not come fails the test.
    let entries = |_| {
        let ran = home.run(&["--json", "follow", &url, "follower", "--once"]);
        json(&ran)["entries"].as_u64()
    };
    let shipped = (0..1_000).map(entries).any(|entries| entries == Some(7));
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(shipped);
}

#[test]
fn a_place_that_is_none_is_named() {
    let home = Home::new();
    home.put(&events(0, 1));
    let ran = home.run(&["replicate", "ftp://host/x", "--once"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("s3://BUCKET"), "{ran:?}");
    let ran = home.run(&["restore", &url(&home), "new"]);
    assert!(ran.stderr.contains("there is no copy"), "{ran:?}");
}

#[test]
fn what_was_shipped_survives_the_kill_of_any_process() {
    let rounds: u64 = KILLS.parse().unwrap();
    let (mut done, mut shipped) = (0, 0);
    while done < rounds {
        let some = ROUNDS_MAX.min(rounds - done);
        shipped += killed_in_rounds(some);
        done += some;
        let kills = done * 3;
        println!("{kills} kills of processes, {shipped} entries shipped, none lost");
    }
}

/// Kills writer, follower and replicator of a new store in each round, and restores; returns the number of
/// entries that were shipped.
fn killed_in_rounds(rounds: u64) -> u64 {
    let home = Home::new();
    let url = url(&home);
    home.put(&events(0, 10));
    home.ok(&["replicate", &url, "--once"]);
    let mut shipped = 10;
    for round in 0..rounds {
        let path = home.path("lines");
        let from = 100 + round * 5_000;
        fs::write(&path, events(from, from + 5_000)).unwrap();
        let mut running = [
            start(&home, &["put", path.to_str().unwrap()]),
            start(
                &home,
                &["--json", "follow", &url, "follower", "--every", "20"],
            ),
            start(&home, &["--json", "replicate", &url, "--every", "20"]),
        ];
        let mut told = BufReader::new(running[2].stdout.take().unwrap());
        let mut line = String::new();
        // The writer and the follower are at work by then; the first to end is another in each round.
        while line.is_empty() || shipped_in(&line) <= shipped {
            line.clear();
            assert!(told.read_line(&mut line).unwrap() > 0, "it ended by itself");
        }
        shipped = shipped_in(&line);
        for nth in 0..3 {
            running[usize::try_from((round + nth) % 3).unwrap()]
                .kill()
                .unwrap();
        }
        line.clear();
        // What it said before it was killed was so.
        while told.read_line(&mut line).unwrap() > 0 && line.ends_with('\n') {
            shipped = shipped_in(&line).max(shipped);
            line.clear();
        }
        for mut child in running {
            child.wait().unwrap();
        }
        let fetched = home.run(&["--json", "follow", &url, "restored", "--once"]);
        assert_eq!(fetched.code, 0, "{fetched:?}");
        let entries = json(&fetched)["entries"].as_u64();
        assert!(entries >= Some(shipped), "{entries:?} of {shipped}");
        assert_beginning(&home, "restored");
        fs::remove_dir_all(home.path("restored")).unwrap();
    }
    home.ok(&["replicate", &url, "--once"]);
    home.ok(&["follow", &url, "follower", "--once"]);
    assert_beginning(&home, "follower");
    home.ok(&["--store", "follower", "check", "--deep"]);
    shipped
}

/// Returns the entries of the copy, as a pass said.
fn shipped_in(line: &str) -> u64 {
    let told: Value = serde_json::from_str(line).unwrap();
    told["entries"].as_u64().unwrap()
}

fn start(home: &Home, args: &[&str]) -> Child {
    let mut command = home.command();
    command
        .args(args)
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    // Only one is listened to, and the others must not wait for a reader.
    let is_heard = args.contains(&"replicate") || args.contains(&"serve");
    command.stdout(if is_heard {
        Stdio::piped()
    } else {
        Stdio::null()
    });
    command.spawn().unwrap()
}

/// Compares the ledger of a copy with the beginning of that of the store.
fn assert_beginning(home: &Home, name: &str) {
    let folder = home.path(name).join("ledger");
    for item in fs::read_dir(folder).unwrap() {
        let path = item.unwrap().path();
        let copy = fs::read(&path).unwrap();
        let own = home
            .path("memory.grains/ledger")
            .join(path.file_name().unwrap());
        assert!(fs::read(own).unwrap().starts_with(&copy), "{path:?}");
    }
}

fn holds(folder: &Path, text: &str) -> bool {
    let items = fs::read_dir(folder).unwrap();
    items
        .map(|item| item.unwrap().path())
        .any(|path| match path.is_dir() {
            true => holds(&path, text),
            false => {
                let bytes = fs::read(&path).unwrap();
                bytes
                    .windows(text.len())
                    .any(|part| part == text.as_bytes())
            }
        })
}
