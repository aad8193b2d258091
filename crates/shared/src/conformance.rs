//! The rules that every [`Sequence`] keeps, as checks that run on any of them.
//!
//! A check gets several handles on one new sequence, as several nodes have them, and returns the rule's
//! violation in words. The checks are proven themselves: `tests/it/planted.rs` breaks a sequence in one
//! way after the other, and each is found.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::{Appended, Head, Identity, Node, Proposal, Sequence, StoredFrame, Turn};

/// Handles on one sequence, that of a new store; and one on the sequence of another store beside it.
#[derive(Debug, Clone)]
pub struct Handles {
    /// As two nodes have them.
    pub nodes: [Arc<dyn Sequence>; 2],
    /// Of another store in the same place.
    pub neighbour: Arc<dyn Sequence>,
}

/// One rule: its name, and the check.
pub type Rule = (&'static str, fn(&Handles) -> Result<(), String>);

/// Every rule.
pub const RULES: [Rule; 12] = [
    ("a store is created once", created_once),
    (
        "a frame is appended at the expected head alone",
        expected_head,
    ),
    (
        "a frame and the head change together, for every handle",
        together,
    ),
    ("a leaf that differs is another head", leaf_counts),
    (
        "frames are read in order, from the one that holds an entry on",
        read_in_order,
    ),
    (
        "of racing appends one succeeds, and none is lost or doubled",
        races,
    ),
    ("no node appends in the turn of another", turn_excludes),
    ("a turn ends with its lease", lease_ends),
    (
        "a turn is given back by the node that has it alone",
        turn_is_own,
    ),
    (
        "a wait ends with news, and without them in time",
        wait_for_news,
    ),
    (
        "a replaced frame is read anew, and a stale replacement refused",
        replaced,
    ),
    ("stores in one place do not touch", apart),
];

/// Returns the rules that a kind of sequence violates, with the violation. `fresh` makes handles on a
/// new sequence each time.
pub fn violations(fresh: &mut dyn FnMut() -> Handles) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    for (name, check) in RULES {
        if let Err(violation) = check(&fresh()) {
            found.push((name, violation));
        }
    }
    found
}

fn created_once(at: &Handles) -> Result<(), String> {
    let [a, b] = &at.nodes;
    expect(a.identity(), None, "identity of no store")?;
    expect_error(a.head().is_err(), "a head without a store")?;
    expect(a.create(&identity(1)), true, "create")?;
    expect(b.create(&identity(2)), false, "create again")?;
    for node in [a, b] {
        expect(node.identity(), Some(identity(1)), "identity")?;
        expect(node.head(), origin(1), "head of an empty sequence")?;
    }
    Ok(())
}

fn expected_head(at: &Handles) -> Result<(), String> {
    let [a, b] = &created(at)?;
    expect(
        append(a, 1, origin(1), 2, b"first"),
        Appended::Yes,
        "append",
    )?;
    expect(
        append(b, 2, origin(1), 1, b"second"),
        Appended::No,
        "append at an old head",
    )?;
    let ahead = head(5, 5);
    expect(
        append(b, 2, ahead, 1, b"second"),
        Appended::No,
        "append at a head that is not yet",
    )?;
    expect(
        append(b, 2, head(2, 2), 1, b"second"),
        Appended::Yes,
        "append at the head",
    )?;
    expect(a.head(), head(3, 3), "head")
}

fn together(at: &Handles) -> Result<(), String> {
    let [a, b] = &created(at)?;
    for n in 0..20 {
        let bytes = format!("frame {n}");
        let from = if n == 0 { origin(1) } else { head(n, n) };
        expect(
            append(a, 1, from, 1, bytes.as_bytes()),
            Appended::Yes,
            "append",
        )?;
        expect(b.head(), head(n + 1, n + 1), "head after an append")?;
        let read = b.read(n, 1).map_err(|error| error.to_string())?;
        let expected = StoredFrame {
            first: n,
            version: 0,
            bytes: bytes.into_bytes(),
        };
        equal(&read, &vec![expected], "the frame that was appended")?;
    }
    Ok(())
}

fn leaf_counts(at: &Handles) -> Result<(), String> {
    let [a, b] = &created(at)?;
    let other = Head {
        leaf: [9; 32],
        ..origin(1)
    };
    expect(
        append(a, 1, other, 1, b"x"),
        Appended::No,
        "append at another leaf",
    )?;
    expect(b.head(), origin(1), "head")?;
    expect(b.read(0, 100).map(|read| read.len()), 0, "frames")
}

fn read_in_order(at: &Handles) -> Result<(), String> {
    let [a, b] = &created(at)?;
    expect(b.read(0, 100), Vec::new(), "frames of an empty sequence")?;
    let mut from = origin(1);
    for (n, len) in [(1, 3_u64), (2, 1), (3, 10), (4, 2)] {
        let bytes = vec![n; 40];
        expect(append(a, 1, from, len, &bytes), Appended::Yes, "append")?;
        from = head(from.entries + len, from.entries + len);
    }
    let firsts = |from, max| {
        let read = b.read(from, max).map_err(|error| error.to_string())?;
        Ok::<_, String>(read.iter().map(|frame| frame.first).collect::<Vec<_>>())
    };
    let cases: [(u64, usize, &[u64]); 8] = [
        (0, 1_000, &[0, 3, 4, 14]),
        (2, 1_000, &[0, 3, 4, 14]),
        (3, 1_000, &[3, 4, 14]),
        (13, 1_000, &[4, 14]),
        (0, 80, &[0, 3]),
        (0, 1, &[0]),
        (15, 1_000, &[14]),
        (16, 1_000, &[]),
    ];
    for (from, max, expected) in cases {
        let told = format!("frames from {from} of {max} bytes");
        equal(&firsts(from, max)?, &expected.to_vec(), &told)?;
    }
    Ok(())
}

fn races(at: &Handles) -> Result<(), String> {
    let nodes = created(at)?;
    let won = AtomicU64::new(0);
    let told = thread::scope(|scope| {
        let racers: Vec<_> = (0..RACERS)
            .map(|n| {
                let node = &nodes[usize::from(n % 2)];
                let won = &won;
                scope.spawn(move || race(node, n, won))
            })
            .collect();
        let ends = racers
            .into_iter()
            .map(|racer| racer.join().map_err(|_| "panic".to_owned()));
        ends.flatten().collect::<Result<Vec<_>, String>>()
    })?;
    let mine: BTreeSet<Vec<u8>> = told.into_iter().flatten().collect();
    let frames = nodes[0]
        .read(0, usize::MAX >> 1)
        .map_err(|error| error.to_string())?;
    equal(
        &(frames.len() as u64),
        &won.load(Ordering::Relaxed),
        "number of frames",
    )?;
    for (n, frame) in (0..).zip(&frames) {
        equal(&frame.first, &n, "the first entry of a frame")?;
    }
    let stored: BTreeSet<Vec<u8>> = frames.into_iter().map(|frame| frame.bytes).collect();
    equal(&stored, &mine, "the frames that were acknowledged")
}

/// Appends until it has won several times; returns its frames.
fn race(node: &Arc<dyn Sequence>, n: u8, won: &AtomicU64) -> Result<Vec<Vec<u8>>, String> {
    let mut mine = Vec::new();
    while mine.len() < 5 {
        let at = node.head().map_err(|error| error.to_string())?;
        let frame = vec![n, u8::try_from(mine.len()).unwrap_or(0), 7];
        match append(node, n, at, 1, &frame).map_err(|error| error.to_string())? {
            Appended::Yes => {
                won.fetch_add(1, Ordering::Relaxed);
                mine.push(frame);
            }
            Appended::No => thread::sleep(Duration::from_millis(u64::from(n))),
        }
    }
    Ok(mine)
}

fn turn_excludes(at: &Handles) -> Result<(), String> {
    let [a, b] = &created(at)?;
    expect(a.take_turn(node(1), HOUR), Turn::Taken(origin(1)), "turn")?;
    expect(
        a.take_turn(node(1), HOUR),
        Turn::Taken(origin(1)),
        "the same turn anew",
    )?;
    expect(b.take_turn(node(2), HOUR), Turn::Waits, "turn of another")?;
    expect(
        append(b, 2, origin(1), 1, b"x"),
        Appended::No,
        "append in the turn of another",
    )?;
    expect(
        append(a, 1, origin(1), 1, b"x"),
        Appended::Yes,
        "append in the own turn",
    )?;
    expect(
        append(b, 2, head(1, 1), 1, b"x"),
        Appended::No,
        "append after that",
    )?;
    a.end_turn(node(1));
    soon("turn after it was given back", || {
        b.take_turn(node(2), HOUR)
            .is_ok_and(|turn| turn == Turn::Taken(head(1, 1)))
    })?;
    expect(
        append(b, 2, head(1, 1), 1, b"y"),
        Appended::Yes,
        "append in the next turn",
    )
}

fn lease_ends(at: &Handles) -> Result<(), String> {
    let [a, b] = &created(at)?;
    expect(
        a.take_turn(node(1), Duration::from_millis(30)),
        Turn::Taken(origin(1)),
        "turn",
    )?;
    soon("turn after the lease", || {
        b.take_turn(node(2), HOUR)
            .is_ok_and(|turn| turn == Turn::Taken(origin(1)))
    })?;
    expect(
        append(a, 1, origin(1), 1, b"x"),
        Appended::No,
        "append after the lease",
    )
}

fn turn_is_own(at: &Handles) -> Result<(), String> {
    let [a, b] = &created(at)?;
    expect(a.take_turn(node(1), HOUR), Turn::Taken(origin(1)), "turn")?;
    b.end_turn(node(2));
    thread::sleep(Duration::from_millis(100));
    expect(
        b.take_turn(node(2), HOUR),
        Turn::Waits,
        "turn that another gave back",
    )
}

fn wait_for_news(at: &Handles) -> Result<(), String> {
    let [a, b] = &created(at)?;
    let before = Instant::now();
    expect(
        b.wait(0, Duration::from_millis(50)),
        origin(1),
        "wait without news",
    )?;
    if before.elapsed() < Duration::from_millis(40) {
        return Err("a wait ended without news before its time".to_owned());
    }
    let waited = thread::scope(|scope| {
        let waits = scope.spawn(|| b.wait(0, LONG));
        thread::sleep(Duration::from_millis(50));
        let appended = append(a, 1, origin(1), 1, b"news");
        a.end_turn(node(1));
        expect(appended, Appended::Yes, "append")?;
        let head = waits.join().map_err(|_| "panic".to_owned())?;
        expect(head, self::head(1, 1), "wait with news")
    });
    waited?;
    expect(b.wait(0, LONG), head(1, 1), "wait for what is there")?;
    match before.elapsed() < LONG {
        true => Ok(()),
        false => Err("a wait did not end with the news".to_owned()),
    }
}

fn replaced(at: &Handles) -> Result<(), String> {
    let [a, b] = &created(at)?;
    expect(
        append(a, 1, origin(1), 2, b"secret"),
        Appended::Yes,
        "append",
    )?;
    expect(
        append(a, 1, head(2, 2), 1, b"other"),
        Appended::Yes,
        "append",
    )?;
    let first = |version, bytes: &[u8]| StoredFrame {
        first: 0,
        version,
        bytes: bytes.to_vec(),
    };
    expect_error(
        a.replace(&first(0, b"longer than before")).is_err(),
        "another length",
    )?;
    expect(a.replace(&first(0, b"s\0\0\0\0t")), true, "replace")?;
    expect(
        b.read(1, 1),
        vec![first(1, b"s\0\0\0\0t")],
        "the frame that was replaced",
    )?;
    // Of two erasures in one frame, the second must not bring back what the first took.
    expect(
        b.replace(&first(0, b"\0ecret")),
        false,
        "replace an old version",
    )?;
    expect(b.replace(&first(1, b"\0\0\0\0\0\0")), true, "replace again")?;
    expect(
        a.read(0, 1),
        vec![first(2, b"\0\0\0\0\0\0")],
        "the frame that was replaced twice",
    )?;
    expect(a.head(), head(3, 3), "head")
}

fn apart(at: &Handles) -> Result<(), String> {
    let [a, _] = &created(at)?;
    let other = &at.neighbour;
    expect(other.identity(), None, "identity of the other store")?;
    expect(other.create(&identity(2)), true, "create the other store")?;
    expect(a.take_turn(node(1), HOUR), Turn::Taken(origin(1)), "turn")?;
    expect(
        append(other, 2, origin(2), 1, b"other"),
        Appended::Yes,
        "append to the other",
    )?;
    expect(
        append(a, 1, origin(1), 2, b"mine"),
        Appended::Yes,
        "append to this one",
    )?;
    expect(other.head(), head(1, 1), "head of the other")?;
    expect(a.head(), head(2, 2), "head of this one")?;
    let read = |of: &Arc<dyn Sequence>| {
        of.read(0, 100)
            .map(|read| read.first().map(|it| it.bytes.clone()))
    };
    expect(read(a), Some(b"mine".to_vec()), "frame of this one")?;
    expect(read(other), Some(b"other".to_vec()), "frame of the other")
}

/// Returns the handles of the nodes on the sequence of store 1, which is created.
fn created(at: &Handles) -> Result<[Arc<dyn Sequence>; 2], String> {
    expect(at.nodes[0].create(&identity(1)), true, "create")?;
    Ok(at.nodes.clone())
}

fn append(
    to: &Arc<dyn Sequence>,
    by: u8,
    expected: Head,
    entries: u64,
    frame: &[u8],
) -> Result<Appended, crate::Error> {
    let end = expected.entries + entries;
    to.append(&Proposal {
        node: node(by),
        expected,
        frame,
        end: head(end, end),
    })
}

fn identity(store: u8) -> Identity {
    Identity {
        store: [store; 16],
        manifest: vec![b'{', store, b'}'],
        origin: origin(store),
        bodies: None,
    }
}

fn origin(store: u8) -> Head {
    Head {
        entries: 0,
        leaf: [store | 0x80; 32],
    }
}

fn head(entries: u64, leaf: u64) -> Head {
    let [.., low] = leaf.to_be_bytes();
    Head {
        entries,
        leaf: [low; 32],
    }
}

fn node(n: u8) -> Node {
    Node::new([n; 16])
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "an expectation is written where it is passed"
)]
fn expect<T: PartialEq + std::fmt::Debug>(
    found: Result<T, crate::Error>,
    expected: T,
    what: &str,
) -> Result<(), String> {
    let found = found.map_err(|error| format!("{what}: {error:?}"))?;
    equal(&found, &expected, what)
}

fn equal<T: PartialEq + std::fmt::Debug>(
    found: &T,
    expected: &T,
    what: &str,
) -> Result<(), String> {
    match found == expected {
        true => Ok(()),
        false => Err(format!("{what}: {found:?} in place of {expected:?}")),
    }
}

fn expect_error(is_error: bool, what: &str) -> Result<(), String> {
    match is_error {
        true => Ok(()),
        false => Err(format!("{what} is no error")),
    }
}

/// Waits for what comes a moment later.
fn soon(what: &str, is_there: impl Fn() -> bool) -> Result<(), String> {
    let end = Instant::now() + LONG;
    while Instant::now() < end {
        if is_there() {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(5));
    }
    Err(format!("no {what}"))
}

const RACERS: u8 = 8;
const HOUR: Duration = Duration::from_secs(3_600);
/// Longer than any of these takes, on a machine that is busy.
const LONG: Duration = Duration::from_secs(10);
