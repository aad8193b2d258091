//! The law of `open_ledger`: opening and verifying agree about every input, and no byte is dropped.

use std::ops::ControlFlow;
use std::sync::Arc;

use grainstore::ledger::{
    Binding, Disk, Entry, EntryHeader, EntryId, Error, Kind, Ledger, LedgerVerification,
    MemoryDisk, NewEntry, OpenMode, SEGMENT_BYTES, TornTail, verify,
};

use crate::meter::{PLAIN, measure};
use crate::segment::{STORE_ID, mend_frames, with_header};

/// Opens a ledger whose segments are the input.
///
/// The first byte says how: with headers that fit or without (bit 0), with checks made to fit or
/// without (bit 1), as one segment or two (bit 2), and how many entries the caller has seen durable
/// (bits 3 to 5).
///
/// - Opening and verifying agree on what is sound, and neither changes a damaged ledger.
/// - No byte is dropped: what opening cuts off is in the file it names.
/// - What was opened opens again to the same entries, is verified without a finding, reads every
///   entry as it was visited, and takes another.
pub fn open_ledger(data: &[u8]) {
    let Some((mode, bytes)) = data.split_first() else {
        return;
    };
    let watermark = u64::from(mode >> 3 & 7);
    let segments = segments(*mode, bytes);
    let disk = Arc::new(disk_of(&segments));
    let found = measure(PLAIN, data.len(), || verify(&*disk, &STORE_ID, erases));
    let found = found.expect("memory can be read");
    assert_eq!(contents(&disk, &segments), segments, "verifying is reading");
    let mut visited = Vec::new();
    let opened = measure(PLAIN, data.len(), || open(&disk, watermark, &mut visited));
    match opened {
        Err(error) => {
            assert_eq!(contents(&disk, &segments), segments, "{error}");
            let is_early = found.entries < watermark;
            assert!(!found.findings.is_empty() || is_early, "{error}");
        }
        Ok((ledger, opened)) => {
            assert_eq!(opened.is_none(), found.findings.is_empty());
            assert!(ledger.len() >= watermark);
            nothing_dropped(&disk, &segments, &opened);
            sound(&ledger, &visited);
            if opened.is_none() {
                assert_eq!((found.entries, found.head), (ledger.len(), ledger.head()));
            }
            let (len, head) = (ledger.len(), ledger.head());
            drop(ledger);
            opens_again(&disk, len, head, &visited);
        }
    }
}

type Visited = Vec<(EntryHeader, Vec<u8>)>;

fn open(
    disk: &Arc<MemoryDisk>,
    watermark: u64,
    visited: &mut Visited,
) -> Result<(Ledger, Option<TornTail>), Error> {
    let disk: Arc<MemoryDisk> = Arc::clone(disk);
    let opened = Ledger::open(disk, STORE_ID, SEGMENT_BYTES, watermark, None, erases)?;
    opened.0.scan(EntryId::FIRST, &mut |entry| {
        visited.push((entry.header, entry.body.to_vec()));
        ControlFlow::Continue(())
    })?;
    Ok(opened)
}

/// No erasure lists anything here.
fn erases(_: &[u8]) -> Vec<EntryId> {
    Vec::new()
}

fn segments(mode: u8, bytes: &[u8]) -> Vec<Vec<u8>> {
    let [has_header, is_mended, is_two] = [1, 2, 4].map(|bit| mode & bit != 0);
    let (one, two) = match bytes.split_at_checked(2) {
        Some((len, rest)) if is_two => {
            let len = usize::from(u16::from_be_bytes([len[0], len[1]]));
            rest.split_at(len.min(rest.len()))
        }
        _ => (bytes, &[][..]),
    };
    let mut first = 0;
    let mut segments = Vec::new();
    for (number, frames) in [(1, one), (2, two)] {
        if number == 2 && !is_two {
            break;
        }
        let mut frames = frames.to_vec();
        let next = if is_mended {
            mend_frames(&mut frames, first)
        } else {
            first
        };
        segments.push(if has_header {
            with_header(number, first, &frames)
        } else {
            frames
        });
        first = next;
    }
    segments
}

fn disk_of(segments: &[Vec<u8>]) -> MemoryDisk {
    let disk = MemoryDisk::default();
    let fill = || {
        disk.create_folder("ledger")?;
        for (nth, bytes) in segments.iter().enumerate() {
            disk.create(&name_of(nth))?.write_at(bytes, 0)?;
        }
        std::io::Result::Ok(())
    };
    fill().expect("memory takes everything");
    disk
}

fn name_of(nth: usize) -> String {
    format!("ledger/{:016}.seg", nth + 1)
}

fn contents(disk: &MemoryDisk, segments: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let names = disk.list("ledger").expect("the folder is there");
    assert_eq!(names.len(), segments.len());
    (0..segments.len())
        .map(|nth| content(disk, &name_of(nth)).expect("the segment is there"))
        .collect()
}

fn content(disk: &MemoryDisk, name: &str) -> Option<Vec<u8>> {
    let file = disk.open(name, OpenMode::Read).ok()?;
    let len = file.len_bytes().expect("memory has a length");
    let mut bytes = vec![0; usize::try_from(len).expect("memory has room for it")];
    file.read_at(&mut bytes, 0).expect("memory can be read");
    Some(bytes)
}

fn nothing_dropped(disk: &MemoryDisk, segments: &[Vec<u8>], opened: &Option<TornTail>) {
    for (nth, before) in segments.iter().enumerate() {
        let mut after = content(disk, &name_of(nth)).unwrap_or_default();
        if let Some(torn) = opened
            && torn.segment as usize == nth + 1
        {
            let aside = content(disk, &torn.file).expect("the torn tail is where it says");
            assert_eq!(
                (torn.offset, torn.bytes),
                (after.len() as u64, aside.len() as u64)
            );
            after.extend(aside);
        }
        assert_eq!(&after, before);
    }
}

/// Holds an open ledger to the entries that were visited when it was opened.
fn sound(ledger: &Ledger, visited: &Visited) {
    let LedgerVerification {
        entries,
        head,
        findings,
        ..
    } = grainstore::ledger::verify_ledger(ledger).expect("memory can be read");
    assert_eq!(findings, []);
    assert_eq!((entries, head), (ledger.len(), ledger.head()));
    assert_eq!(entries, visited.len() as u64);
    let is = |entry: &Entry<'_>, (header, body): &(EntryHeader, Vec<u8>)| {
        entry.header == *header && *entry.body == **body
    };
    for (sequence, entry) in (0..).map(EntryId::new).zip(visited) {
        assert_eq!(entry.0.sequence, sequence);
        let read = ledger.read(sequence).expect("it was visited");
        assert!(is(&read, entry));
    }
    let mut rest = visited.iter();
    let scanned = ledger.scan(EntryId::FIRST, &mut |entry| {
        assert!(rest.next().is_some_and(|expected| is(&entry, expected)));
        ControlFlow::Continue(())
    });
    scanned.expect("all entries are sound");
    assert!(rest.next().is_none());
}

fn opens_again(disk: &Arc<MemoryDisk>, len: u64, head: [u8; 32], before: &Visited) {
    let mut visited = Vec::new();
    let (ledger, opened) = open(disk, len, &mut visited).expect("it was opened before");
    assert_eq!(opened, None);
    assert_eq!((ledger.len(), ledger.head(), &visited), (len, head, before));
    let entry = NewEntry {
        kind: Kind::Grain,
        actor: None,
        body: b"one more",
        binding: Binding::of([1; 16], b"one more"),
    };
    let appended = ledger.append(1, &[entry]);
    let added = EntryId::new(len)..EntryId::new(len + 1);
    assert_eq!(appended.expect("there is room"), added);
    drop(ledger);
    visited.clear();
    let (ledger, opened) = open(disk, len + 1, &mut visited).expect("it was appended to");
    assert_eq!((opened, ledger.len()), (None, len + 1));
    assert_eq!(visited[..visited.len() - 1], before[..]);
}
