//! The ledger: what is acknowledged is read back, and nothing else ever is.

mod compact;
mod damage;
mod disks;
mod faults;
mod format;
mod marks;
mod redaction;
mod room;

use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use grainstore::ledger::{
    Binding, Disk, Entry, EntryId, Error, Kind, Ledger, LedgerPosition, MemoryDisk, NewEntry,
    OpenMode, SEGMENT_BYTES, StoreId, TornTail, verify, verify_ledger,
};
use proptest::prelude::*;
use sha2::{Digest, Sha256};

const STORE: StoreId = StoreId::new(*b"a store for test");

/// What a test puts in, and expects back.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Item {
    kind: Kind,
    actor: Option<EntryId>,
    body: Vec<u8>,
}

impl Item {
    fn new(body: impl AsRef<[u8]>) -> Self {
        Self {
            kind: Kind::Grain,
            actor: None,
            body: body.as_ref().to_vec(),
        }
    }

    fn of(entry: &Entry<'_>) -> Self {
        Self {
            kind: entry.header.kind,
            actor: entry.header.actor,
            body: entry.body.to_vec(),
        }
    }
}

fn append(ledger: &Ledger, items: &[Item]) -> Result<Range<EntryId>, Error> {
    ledger.append(1_700_000_000_000, &entries(items))
}

/// Entries with salts that differ from each other and from zero.
fn entries(items: &[Item]) -> Vec<NewEntry<'_>> {
    let salts = (0x81..=0xff_u8).cycle().map(|byte| [byte; 16]);
    let salted = items.iter().zip(salts);
    salted
        .map(|(item, salt)| NewEntry {
            kind: item.kind,
            actor: item.actor,
            body: &item.body,
            binding: Binding::of(salt, &item.body),
        })
        .collect()
}

/// What an erasing entry of these tests lists: each byte of its body is a sequence.
fn erases(body: &[u8]) -> Vec<EntryId> {
    let listed = body.iter().copied().map(u64::from);
    listed.map(EntryId::new).collect()
}

/// Opens a ledger, and returns what it holds.
fn open(disk: &MemoryDisk, watermark: u64) -> Result<(Ledger, Option<TornTail>, Vec<Item>), Error> {
    open_as(disk, STORE, watermark)
}

fn open_as(
    disk: &MemoryDisk,
    store_id: StoreId,
    watermark: u64,
) -> Result<(Ledger, Option<TornTail>, Vec<Item>), Error> {
    let disk = Arc::new(disk.clone());
    let (ledger, opened) = Ledger::open(disk, store_id, 700, watermark, None, erases)?;
    assert_eq!(ledger.durable(), ledger.len());
    let seen = all(&ledger);
    Ok((ledger, opened, seen))
}

fn create(disk: &MemoryDisk, segment_bytes: u64) -> Ledger {
    Ledger::create(Arc::new(disk.clone()), STORE, segment_bytes).unwrap()
}

/// Returns everything a ledger holds, by `scan`.
fn all(ledger: &Ledger) -> Vec<Item> {
    let mut seen = Vec::new();
    let mut visit = |entry: Entry<'_>| {
        seen.push(Item::of(&entry));
        ControlFlow::Continue(())
    };
    ledger.scan(EntryId::FIRST, &mut visit).unwrap();
    seen
}

fn bytes_of(disk: &dyn Disk, name: &str) -> Vec<u8> {
    let file = disk.open(name, OpenMode::Read).unwrap();
    let mut bytes = vec![0; usize::try_from(file.len_bytes().unwrap()).unwrap()];
    file.read_at(&mut bytes, 0).unwrap();
    bytes
}

/// Returns every file of the ledger with its bytes.
fn files_of(disk: &MemoryDisk) -> Vec<(String, Vec<u8>)> {
    let names = disk.list("ledger").unwrap().into_iter();
    let named = names.map(|name| format!("ledger/{name}"));
    named
        .map(|name| (name.clone(), bytes_of(disk, &name)))
        .collect()
}

fn disk_with(files: &[(String, Vec<u8>)]) -> MemoryDisk {
    let disk = MemoryDisk::default();
    disk.create_folder("ledger").unwrap();
    for (name, bytes) in files {
        disk.create(name).unwrap().write_at(bytes, 0).unwrap();
    }
    disk
}

fn segment(number: u32) -> String {
    format!("ledger/{number:016}.seg")
}

/// Three segments of small frames, and the batches in them.
fn small() -> (MemoryDisk, Vec<Vec<Item>>) {
    let disk = MemoryDisk::default();
    let ledger = create(&disk, 400);
    let bodies: [&[&str]; 5] = [
        &["one", ""],
        &["three"],
        &["four", "five"],
        &["six"],
        &["7"],
    ];
    let batches = bodies.map(|batch| batch.iter().map(Item::new).collect::<Vec<_>>());
    for batch in &batches {
        append(&ledger, batch).unwrap();
    }
    assert_eq!(disk.list("ledger").unwrap().len(), 3);
    (disk, batches.to_vec())
}

fn item() -> impl Strategy<Value = Item> {
    let kinds = Kind::ALL.into_iter().filter(|kind| *kind != Kind::Erasing);
    let kind = proptest::sample::select(kinds.collect::<Vec<_>>());
    let body = proptest::collection::vec(any::<u8>(), 0..200);
    (
        kind,
        proptest::option::of((0..9_u64).prop_map(EntryId::new)),
        body,
    )
        .prop_map(|(kind, actor, body)| Item { kind, actor, body })
}

proptest! {
    #[test]
    fn any_sequence_of_batches_reads_back_after_reopening(
        batches in proptest::collection::vec(proptest::collection::vec(item(), 0..6), 0..12),
        segment_bytes in 0_u64..3000,
        reopen_every in 1_usize..5,
    ) {
        let disk = MemoryDisk::default();
        let mut ledger = create(&disk, segment_bytes);
        let mut model: Vec<Item> = Vec::new();
        for (nth, batch) in batches.iter().enumerate() {
            let first = model.len() as u64;
            model.extend_from_slice(batch);
            let appended = EntryId::new(first)..EntryId::new(model.len() as u64);
            prop_assert_eq!(append(&ledger, batch).unwrap(), appended);
            let head = ledger.head();
            if nth % reopen_every == 0 {
                let (again, opened, seen) = open(&disk, first).unwrap();
                prop_assert_eq!(opened, None);
                prop_assert_eq!(&seen, &model);
                prop_assert_eq!(again.head(), head);
                ledger = again;
            }
        }
        prop_assert_eq!(&all(&ledger), &model);
        for (sequence, item) in (0..).map(EntryId::new).zip(&model) {
            let entry = ledger.read(sequence).unwrap();
            prop_assert_eq!(entry.header.sequence, sequence);
            prop_assert_eq!(&Item::of(&entry), item);
        }
        let checked = verify_ledger(&ledger).unwrap();
        prop_assert_eq!(&checked, &verify(&disk, &STORE, erases).unwrap());
        prop_assert_eq!(checked.findings, []);
        prop_assert_eq!((checked.entries, checked.head), (ledger.len(), ledger.head()));
    }
}

#[test]
fn a_segment_is_closed_at_its_size_and_a_larger_frame_has_one_of_its_own() {
    let disk = MemoryDisk::default();
    let ledger = create(&disk, 500);
    for len in [100, 100, 2000, 100, 0] {
        append(&ledger, &[Item::new(vec![7; len])]).unwrap();
    }
    let lens: Vec<_> = files_of(&disk)
        .iter()
        .map(|(_, bytes)| bytes.len())
        .collect();
    assert_eq!(lens, [32 + 2 * 212, 32 + 2112, 32 + 212 + 112]);
    assert_eq!(all(&ledger).len(), 5);
}

#[test]
fn a_scan_begins_where_it_is_told_and_stops_when_it_is_told() {
    let (disk, batches) = small();
    let (ledger, ..) = open(&disk, 0).unwrap();
    let model = batches.concat();
    for from in 0..model.len() {
        let mut seen = Vec::new();
        let mut visit = |entry: Entry<'_>| {
            seen.push(Item::of(&entry));
            if seen.len() == 2 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        ledger.scan(EntryId::new(from as u64), &mut visit).unwrap();
        assert_eq!(seen, model[from..model.len().min(from + 2)]);
    }
    ledger
        .scan(EntryId::new(99), &mut |_| panic!("nothing there"))
        .unwrap();
}

#[test]
fn readers_run_beside_a_writer_and_see_only_whole_batches() {
    let disk = MemoryDisk::default();
    let ledger = create(&disk, 4000);
    let done = AtomicBool::new(false);
    let body = |sequence: u64| format!("{sequence:0>9}").repeat(3).into_bytes();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let len = ledger.len();
                    assert_eq!(len % 3, 0);
                    for sequence in len.saturating_sub(20)..len {
                        assert_eq!(
                            ledger.read(EntryId::new(sequence)).unwrap().body,
                            body(sequence)
                        );
                    }
                    let mut next = len / 2;
                    let mut visit = |entry: Entry<'_>| {
                        assert_eq!(entry.body, body(next));
                        next += 1;
                        ControlFlow::Continue(())
                    };
                    ledger.scan(EntryId::new(len / 2), &mut visit).unwrap();
                    assert!(next >= len);
                    assert_eq!(verify_ledger(&ledger).unwrap().findings, []);
                }
            });
        }
        for first in (0..600).step_by(3) {
            let batch = [first, first + 1, first + 2].map(|sequence| Item::new(body(sequence)));
            append(&ledger, &batch).unwrap();
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(ledger.len(), 600);
}

#[test]
fn a_body_over_the_limit_is_refused_and_one_at_the_limit_is_not() {
    let disk = MemoryDisk::default();
    let ledger = create(&disk, 400);
    let mut item = Item::new(vec![1; (64 << 20) + 1]);
    let refused = append(&ledger, std::slice::from_ref(&item)).unwrap_err();
    assert_eq!(refused.code(), "ERR_RANGE");
    assert_eq!(ledger.len(), 0);
    item.body.pop();
    append(&ledger, std::slice::from_ref(&item)).unwrap();
    assert_eq!(ledger.read(EntryId::FIRST).unwrap().body.len(), 64 << 20);
}

#[test]
fn a_read_past_the_end_names_the_end() {
    let (disk, _) = small();
    let (ledger, ..) = open(&disk, 0).unwrap();
    let error = ledger.read(EntryId::new(7)).unwrap_err();
    assert_eq!(error.to_string(), "no entry 7; the ledger has 7");
    assert_eq!(error.code(), "ERR_RANGE");
}

#[test]
fn a_ledger_is_not_created_over_another() {
    let (disk, _) = small();
    let before = files_of(&disk);
    let again = Ledger::create(Arc::new(disk.clone()), STORE, SEGMENT_BYTES);
    assert_eq!(again.unwrap_err().code(), "ERR_STORE_EXISTS");
    assert_eq!(files_of(&disk), before);
}

#[test]
fn what_a_crash_inside_creation_left_is_replaced() {
    for len in 0..=32 {
        let disk = disk_with(&[(segment(1), vec![0; len])]);
        let ledger = create(&disk, 400);
        append(&ledger, &[Item::new("first")]).unwrap();
        assert_eq!(open(&disk, 1).unwrap().2, [Item::new("first")]);
    }
}

#[test]
fn an_entry_is_found_by_the_hash_of_its_body_and_by_no_other() {
    let (disk, batches) = small();
    let (ledger, ..) = open(&disk, 0).unwrap();
    let model = batches.concat();
    let hashes: Vec<[u8; 32]> = model
        .iter()
        .map(|item| Sha256::digest(&item.body).into())
        .collect();
    for ((sequence, item), own) in (0..).zip(&model).zip(&hashes) {
        let entry = ledger.read(EntryId::new(sequence)).unwrap();
        assert_eq!((&*entry.body, &entry.hash), (&*item.body, own));
        for (other, hash) in (0..).zip(&hashes) {
            assert_eq!(
                ledger.holds(EntryId::new(sequence), hash).unwrap(),
                sequence == other
            );
            let found = ledger.read_if(EntryId::new(sequence), hash).unwrap();
            assert_eq!(found.as_ref(), (sequence == other).then_some(&item.body));
        }
    }
    assert_eq!(
        ledger
            .holds(EntryId::new(7), &hashes[0])
            .unwrap_err()
            .code(),
        "ERR_RANGE"
    );
    let error = ledger.read_if(EntryId::new(7), &hashes[0]).unwrap_err();
    assert_eq!(error.code(), "ERR_RANGE");
}
