//! The calls to the system that a put and a get cost once a process keeps the right to write: counted
//! by the system for a thread, and by `strace` of every kind.

#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use grainstore::{ContentAddress, Draft, Options, Store};

fn open(path: &Path) -> Store {
    let options = Options {
        lock_wait: Duration::from_secs(120),
        // Its thread is woken now and then by what is put.
        text: None,
        ..Options::default()
    };
    Store::open(path, options).unwrap()
}

fn draft(n: u64) -> Draft {
    Draft::belief("ada", "counts", format!("grain {n}")).confidence(0.5)
}

/// Puts grains until the names of the directory are so old that one look tells of all.
fn warm(store: &Store, at_least: Duration) -> Vec<ContentAddress> {
    let begun = Instant::now();
    let mut stored = Vec::new();
    while stored.len() < 64 || begun.elapsed() < at_least {
        stored.push(store.put(draft(stored.len() as u64)).unwrap());
    }
    stored
}

/// Returns how often this thread has read and written.
fn reads_and_writes() -> [u64; 2] {
    let text = fs::read_to_string("/proc/thread-self/io").unwrap();
    ["syscr: ", "syscw: "].map(|name| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap().parse().unwrap()
    })
}

/// Runs a step in many windows and returns the least that one of them reads and writes: on a busy
/// machine the right is given back now and then, when a thread stands still for too long.
fn least(mut step: impl FnMut()) -> [u64; 2] {
    let mut window = |len: u64| {
        let before = reads_and_writes();
        (0..len).for_each(|_| step());
        let after = reads_and_writes();
        [after[0] - before[0], after[1] - before[1]]
    };
    let own = window(0);
    let windows = (0..WINDOWS).map(|_| window(WINDOW));
    let windows = windows.map(|[reads, writes]| [reads - own[0], writes - own[1]]);
    windows
        .min_by_key(|[reads, writes]| reads + writes)
        .unwrap()
}

#[test]
fn a_get_reads_once_and_a_durable_put_reads_nothing_and_writes_twice() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let stored = warm(&store, Duration::ZERO);
    let mut n = 1_000;
    let put = least(|| {
        n += 1;
        store.put(draft(n)).unwrap();
    });
    let mut addresses = stored.iter().cycle();
    let get = least(|| {
        let grain = store.get(addresses.next().unwrap()).unwrap();
        assert!(grain.is_some());
    });
    println!("reads and writes of {WINDOW} puts {put:?}, of {WINDOW} gets {get:?}");
    assert_eq!(put, [0, 2 * WINDOW]);
    assert_eq!(get, [WINDOW, 0]);
}

#[test]
#[ignore = "a part of the next test"]
fn child() {
    let Some(home) = std::env::var_os("GRAINSTORE_TRACED") else {
        return;
    };
    let store = open(Path::new(&home));
    let stored = warm(&store, Duration::from_secs(4));
    let mut n = 1_000_000;
    for _ in 0..WINDOWS {
        mark("puts");
        for _ in 0..WINDOW {
            n += 1;
            store.put(draft(n)).unwrap();
        }
        mark("gets");
        for (address, _) in stored.iter().cycle().zip(0..WINDOW) {
            assert!(store.get(address).unwrap().is_some());
        }
        mark("end");
    }
}

/// Asks for a file that is not there, as a mark in the trace.
fn mark(name: &str) {
    assert!(fs::metadata(format!("{MARK}{name}")).is_err());
}

#[test]
#[ignore = "needs strace"]
fn a_durable_put_makes_at_most_five_calls_to_the_system_and_a_get_makes_one() {
    let home = tempfile::tempdir().unwrap();
    let log = home.path().join("calls");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-o"]).arg(&log);
    strace.arg(std::env::current_exe().unwrap());
    strace.args(["--exact", "system_calls::child", "--ignored"]);
    strace.env("GRAINSTORE_TRACED", home.path().join("store"));
    let output = strace.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let trace = fs::read_to_string(log).unwrap();
    let [puts, gets] = ["puts", "gets"].map(|what| {
        let windows = windows(&trace, what);
        assert_eq!(windows.len() as u64, WINDOWS, "{what}");
        windows.into_iter().min_by_key(Vec::len).unwrap()
    });
    println!("{WINDOW} puts: {}", summary(&puts));
    println!("{WINDOW} gets: {}", summary(&gets));
    // Random bytes are drawn once for many, and memory is asked for now and then.
    let now_and_then = WINDOW / 10;
    assert!(puts.len() as u64 <= 5 * WINDOW + now_and_then, "{puts:?}");
    assert!(gets.len() as u64 <= WINDOW + now_and_then, "{gets:?}");
}

/// Returns the calls of the marking thread in each window that begins with a mark.
fn windows<'t>(trace: &'t str, what: &str) -> Vec<Vec<&'t str>> {
    let begin = format!("{MARK}{what}\"");
    let thread = trace.lines().find(|line| line.contains(&begin)).unwrap();
    let thread = thread.split_whitespace().next().unwrap();
    let mut windows: Vec<Vec<&str>> = Vec::new();
    let mut is_inside = false;
    for line in trace.lines() {
        let Some((of, call)) = line.split_once(char::is_whitespace) else {
            continue;
        };
        let call = call.trim_start();
        // A call that another thread interrupts has two lines.
        if of != thread || call.starts_with('<') || call.starts_with("---") {
            continue;
        }
        if call.contains(MARK) {
            is_inside = call.contains(&begin);
            if is_inside {
                windows.push(Vec::new());
            }
        } else if is_inside && let Some(window) = windows.last_mut() {
            window.push(call.split('(').next().unwrap_or(call));
        }
    }
    windows
}

fn summary(calls: &[&str]) -> String {
    let mut counts = std::collections::BTreeMap::<&str, u64>::new();
    for call in calls {
        *counts.entry(call).or_default() += 1;
    }
    format!("{counts:?}")
}

const MARK: &str = "/grainstore-mark-";
const WINDOW: u64 = 50;
const WINDOWS: u64 = 40;
