//! A compacted ledger takes less room, and nothing else about it changes.

use std::collections::BTreeSet;

use grainstore::ledger::{RecoveryHint, verify_ledger};

use super::faults::{FailingDisk, plans};
use super::*;

/// A ledger of these bodies, one frame each, of which the listed ones are erased.
fn erased(disk: &MemoryDisk, bodies: &[Vec<u8>], gone: &BTreeSet<u8>, segment: u64) -> Ledger {
    let ledger = create(disk, segment);
    for body in bodies {
        append(&ledger, &[Item::new(body)]).unwrap();
    }
    erase(&ledger, gone);
    ledger
}

fn erase(ledger: &Ledger, gone: &BTreeSet<u8>) {
    let mut erasing = Item::new(gone.iter().copied().collect::<Vec<_>>());
    erasing.kind = Kind::Erasing;
    append(ledger, &[erasing]).unwrap();
    let ids: Vec<_> = gone.iter().map(|id| EntryId::new(u64::from(*id))).collect();
    ledger.redact(&ids).unwrap();
}

/// Compacts where no other process writes.
fn compact(ledger: &Ledger) -> Result<u64, Error> {
    ledger.compact(true, || Ok::<_, Error>(()))
}

fn bytes(disk: &MemoryDisk) -> usize {
    let files = files_of(disk).into_iter();
    files.map(|(_, bytes)| bytes.len()).sum()
}

/// Five large bodies between six short ones.
fn large() -> (Vec<Vec<u8>>, BTreeSet<u8>) {
    let body = |nth: u8| match nth % 2 {
        0 => vec![nth; 3],
        _ => vec![nth; 3_000],
    };
    (
        (0..11).map(body).collect(),
        (0..11).filter(|nth| nth % 2 == 1).collect(),
    )
}

/// What a reader can ask of a ledger.
fn seen(ledger: &Ledger, disk: &MemoryDisk) -> impl PartialEq + std::fmt::Debug + use<> {
    let end = EntryId::new(ledger.len());
    let ids = EntryId::FIRST..end;
    let codes: Vec<_> = (0..ledger.len())
        .map(|id| {
            ledger
                .read(EntryId::new(id))
                .map_err(|error| error.code())
                .map(|e| e.body.into_owned())
        })
        .collect();
    let verified = verify_ledger(ledger).unwrap();
    assert_eq!(verified.findings, []);
    assert_eq!(verify(disk, &STORE, erases).unwrap(), verified);
    (
        all(ledger),
        ledger.head(),
        codes,
        verified.root,
        ledger.entry_locations(&ids),
    )
}

proptest! {
    #[test]
    fn a_ledger_whose_room_is_given_back_reads_as_before(
        bodies in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..2_500), 1..24),
        gone in proptest::collection::btree_set(0..24_u8, 0..24),
        later in proptest::collection::btree_set(0..24_u8, 0..24),
        segment in 400_u64..30_000,
    ) {
        let disk = MemoryDisk::default();
        let inside = |ids: BTreeSet<u8>| -> BTreeSet<u8> {
            ids.into_iter().filter(|id| usize::from(*id) < bodies.len()).collect()
        };
        let (gone, later) = (inside(gone), inside(later));
        let ledger = erased(&disk, &bodies, &gone, segment);
        let (before, stored) = (seen(&ledger, &disk), bytes(&disk));
        let given_back = compact(&ledger).unwrap();
        prop_assert_eq!(&seen(&ledger, &disk), &before);
        // A begun segment is a header.
        prop_assert!(bytes(&disk) <= stored - usize::try_from(given_back).unwrap() + 32);
        prop_assert_eq!(compact(&ledger).unwrap(), 0, "it was given back");

        let hint = RecoveryHint {
            position: ledger.sync().unwrap(),
            locations: ledger.entry_locations(&(EntryId::FIRST..EntryId::new(ledger.len()))),
            erased: gone.iter().map(|id| EntryId::new(u64::from(*id))).collect(),
        };
        let shared = Arc::new(disk.clone());
        let (hinted, _) =
            Ledger::open(shared, STORE, segment, 0, Some(hint), erases).unwrap();
        prop_assert_eq!(&seen(&hinted, &disk), &before);
        drop((ledger, hinted));
        let (ledger, torn, _) = open(&disk, 0).unwrap();
        prop_assert_eq!(torn, None);
        prop_assert_eq!(&seen(&ledger, &disk), &before);

        let copy = MemoryDisk::default();
        ledger.copy_to(&copy).unwrap();
        prop_assert_eq!(files_of(&copy), files_of(&disk));
        prop_assert_eq!(ledger.copy_to(&copy).unwrap().segments, 0);

        append(&ledger, &[Item::new("after")]).unwrap();
        erase(&ledger, &later);
        for id in later.iter().filter(|id| !bodies[usize::from(**id)].is_empty()) {
            let body = &bodies[usize::from(*id)];
            let is_left = |(_, bytes): (String, Vec<u8>)| bytes.windows(body.len()).any(|at| at == body);
            prop_assert!(body.len() < 16 || !files_of(&disk).into_iter().any(is_left));
        }
        let before = seen(&ledger, &disk);
        compact(&ledger).unwrap();
        prop_assert_eq!(&seen(&ledger, &disk), &before);
        let (again, _, _) = open(&disk, 0).unwrap();
        prop_assert_eq!(&seen(&again, &disk), &before);
    }
}

#[test]
fn a_store_of_erased_bodies_takes_the_room_of_its_headers() {
    let (bodies, gone) = large();
    let disk = MemoryDisk::default();
    let ledger = erased(&disk, &bodies, &gone, 1 << 20);
    let before = bytes(&disk);
    assert!(before > 15_000);
    // The last segment is closed for it.
    assert!(compact(&ledger).unwrap() > 14_000);
    assert_eq!(disk.list("ledger").unwrap().len(), 2);
    assert!(bytes(&disk) < 2_000, "{}", bytes(&disk));
}

#[test]
fn one_whole_table_is_enough_and_a_damaged_one_is_reported() {
    let (bodies, gone) = large();
    let disk = MemoryDisk::default();
    let ledger = erased(&disk, &bodies, &gone, 1 << 20);
    compact(&ledger).unwrap();
    let (kept, whole) = (all(&ledger), bytes_of(&disk, &segment(1)));
    let table = usize::try_from(u32::from_be_bytes(*whole.last_chunk().unwrap())).unwrap();
    let tables = [32..32 + table, whole.len() - table - 4..whole.len()];
    for at in 0..whole.len() {
        let disk = disk_with(&files_of(&disk));
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        let file = disk.open(&segment(1), OpenMode::Write).unwrap();
        file.write_at(&bytes, 0).unwrap();
        let found = verify(&disk, &STORE, erases).unwrap().findings;
        assert!(!found.is_empty(), "byte {at}");
        if tables.iter().any(|table| table.contains(&at)) {
            let (ledger, _, seen) = open(&disk, 0).unwrap();
            assert_eq!(seen, kept, "byte {at}");
            compact(&ledger).unwrap();
            assert_eq!(
                bytes_of(&disk, &segment(1)),
                whole,
                "byte {at}: both are written again"
            );
        }
    }
    for len in 0..whole.len() {
        let disk = disk_with(&files_of(&disk));
        let file = disk.open(&segment(1), OpenMode::Write).unwrap();
        file.set_len(len as u64).unwrap();
        assert!(!verify(&disk, &STORE, erases).unwrap().findings.is_empty());
        assert_eq!(
            open(&disk, 0).unwrap_err().code(),
            "ERR_STORAGE_DAMAGED",
            "{len}"
        );
    }
}

/// Texts of common words, each with a word of its own that it says again and again.
fn texts() -> Vec<Vec<u8>> {
    let common = |nth: usize| format!("the harbour of number {} is quiet in winter", nth % 7);
    let text = |nth: usize| {
        let sentences = (nth..nth + 10).map(|nth| common(nth * nth) + " and ");
        let own = format!("{} ", own_word(nth)).repeat(9);
        sentences.collect::<String>() + &own
    };
    (0..240).map(|nth| text(nth).into_bytes()).collect()
}

fn own_word(nth: usize) -> String {
    let digest = Sha256::digest([u8::try_from(nth).unwrap()]);
    digest[..6]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Returns whether a file of a ledger has a word.
fn has_word(disk: &MemoryDisk, word: &str) -> bool {
    let has =
        |(_, bytes): (String, Vec<u8>)| bytes.windows(word.len()).any(|at| at == word.as_bytes());
    files_of(disk).into_iter().any(has)
}

/// A packed ledger of texts, and those of which a word is in its dictionary.
fn packed() -> (MemoryDisk, Ledger, Vec<u8>) {
    let disk = MemoryDisk::default();
    let ledger = erased(&disk, &texts(), &BTreeSet::new(), 1 << 20);
    let before = bytes(&disk);
    let given_back = compact(&ledger).unwrap();
    assert_eq!(
        u64::try_from(before + 32 - bytes(&disk)).unwrap(),
        given_back
    );
    assert!(bytes(&disk) < before / 3, "{} of {before}", bytes(&disk));
    let in_dictionary = (0..240).filter(|nth| has_word(&disk, &own_word(usize::from(*nth))));
    let in_dictionary = in_dictionary.collect();
    (disk, ledger, in_dictionary)
}

/// Each entry that is not read is damaged, and no other is another.
#[test]
fn a_damaged_byte_of_a_packed_segment_is_reported_and_takes_its_block_at_most() {
    let (disk, ledger, _) = packed();
    let files = files_of(&disk);
    let whole = bytes_of(&disk, &segment(1));
    let bodies: Vec<_> = all(&ledger).into_iter().map(|item| item.body).collect();
    let mut reported = 0;
    for at in (0..whole.len()).step_by(211) {
        let disk = disk_with(&files);
        let file = disk.open(&segment(1), OpenMode::Write).unwrap();
        file.write_at(&[whole[at] ^ 0x04], at as u64).unwrap();
        let found = verify(&disk, &STORE, erases).unwrap().findings;
        let disk = Arc::new(disk);
        let Ok((ledger, _)) = Ledger::open(disk, STORE, 1 << 20, 0, None, erases) else {
            assert!(!found.is_empty(), "byte {at}");
            reported += 1;
            continue;
        };
        let mut lost = 0;
        for (id, body) in (0..).map(EntryId::new).zip(&bodies) {
            match ledger.read(id) {
                Ok(entry) => assert_eq!(entry.body, *body, "byte {at}"),
                Err(error) => {
                    assert_eq!(error.code(), "ERR_STORAGE_DAMAGED");
                    lost += 1;
                }
            }
        }
        // A frame of zstd has bits that change nothing.
        assert!(!found.is_empty() || lost == 0, "byte {at}");
        assert!(lost <= 16, "byte {at}: {lost}");
        reported += usize::from(!found.is_empty());
    }
    assert!(
        reported * 211 > whole.len() * 9 / 10,
        "{reported} of {}",
        whole.len()
    );
}

/// The bytes of the segment that a packed one stands for, by docs/format.md alone.
fn unpacked(file: &[u8]) -> Vec<u8> {
    let be32 = |at: usize| u32::from_be_bytes(file[at..at + 4].try_into().unwrap()) as usize;
    let table = be32(32);
    let (blocks_len, count) = (be32(32 + 52), be32(32 + 56));
    let index: Vec<_> = (0..count).map(|nth| be32(32 + 60 + nth * 8 + 4)).collect();
    let samples = be32(92 + count * 8);
    let dictionary = &file[96 + count * 8 + samples * 4..32 + table - 8];
    let mut segment = file[44..76].to_vec();
    let blocks = &file[32 + table..32 + table + blocks_len];
    for (nth, place) in index.iter().enumerate() {
        let end = index.get(nth + 1).copied().unwrap_or(blocks.len());
        let mut rest = &blocks[*place..end];
        let mut sequence = u64::from_be_bytes(cut(&mut rest, 8).try_into().unwrap());
        let mut time = i64::from_be_bytes(cut(&mut rest, 8).try_into().unwrap());
        let mut actor = cut(&mut rest, 8).to_vec();
        while !rest.is_empty() {
            let tag = cut(&mut rest, 1)[0];
            if tag == 0 {
                let [count, len, behind] = [0; 3].map(|_| number(&mut rest));
                segment.extend_from_slice(b"GFRM");
                segment.extend_from_slice(&u32::try_from(count).unwrap().to_be_bytes());
                segment.extend_from_slice(&len.to_be_bytes());
                segment.extend_from_slice(&(sequence - behind).to_be_bytes());
                segment.extend_from_slice(cut(&mut rest, 8));
                continue;
            }
            let len = number(&mut rest);
            let later = number(&mut rest);
            let later = i64::try_from(later / 2).unwrap() ^ -i64::try_from(later % 2).unwrap();
            time = time.wrapping_add(later);
            if tag & 0x20 != 0 {
                actor = cut(&mut rest, 8).to_vec();
            }
            segment.extend_from_slice(&sequence.to_be_bytes());
            segment.extend_from_slice(&time.to_be_bytes());
            segment.extend_from_slice(&actor);
            segment.extend_from_slice(&u32::try_from(len).unwrap().to_be_bytes());
            segment.extend_from_slice(&[tag & 0x1f, 0, 0, 0]);
            segment.extend_from_slice(cut(&mut rest, 32));
            sequence += 1;
            let len = usize::try_from(len).unwrap();
            if tag & 0x40 != 0 {
                segment.extend_from_slice(&vec![0; 16 + len]);
                continue;
            }
            let stored = usize::try_from(number(&mut rest)).unwrap();
            segment.extend_from_slice(cut(&mut rest, 16));
            let stored = cut(&mut rest, stored);
            match stored[0] {
                0 => segment.extend_from_slice(&vec![0; len]),
                1 => segment.extend_from_slice(&stored[1..]),
                _ => segment.extend_from_slice(&decompressed(len, &stored[1..], dictionary)),
            }
        }
    }
    segment
}

fn cut<'a>(rest: &mut &'a [u8], len: usize) -> &'a [u8] {
    let (front, behind) = rest.split_at(len);
    *rest = behind;
    front
}

fn number(rest: &mut &[u8]) -> u64 {
    let byte = u64::from(cut(rest, 1)[0]);
    match byte < 128 {
        true => byte,
        false => byte - 128 + number(rest) * 128,
    }
}

fn decompressed(len: usize, blocks: &[u8], dictionary: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd];
    match len {
        0..256 => frame.extend([0x20, u8::try_from(len).unwrap()]),
        256..65_792 => {
            frame.push(0x60);
            frame.extend(u16::try_from(len - 256).unwrap().to_le_bytes());
        }
        _ => {
            frame.push(0xa0);
            frame.extend(u32::try_from(len).unwrap().to_le_bytes());
        }
    }
    frame.extend_from_slice(blocks);
    let mut zstd = zstd::bulk::Decompressor::with_dictionary(dictionary).unwrap();
    let body = zstd.decompress(&frame, len).unwrap();
    assert_eq!(body.len(), len);
    body
}

#[test]
fn a_packed_segment_is_laid_out_as_the_format_says() {
    let (disk, ledger, _) = packed();
    erase(&ledger, &BTreeSet::from([3, 77]));
    let packed = bytes_of(&disk, &segment(1));
    let segment = unpacked(&packed);
    assert_eq!(
        packed[..16],
        [&b"GRAINLOG\0\x03\0\0"[..], &[0, 0, 0, 1]].concat()
    );
    // A copy up to a moment has the segment itself.
    let copy = MemoryDisk::default();
    ledger
        .point_in_time_copy(Arc::new(copy.clone()), 1 << 20, &|entries, _| entries < 240)
        .unwrap();
    let copied = bytes_of(&copy, &super::segment(1));
    assert!(copied.len() > 150_000);
    assert!(segment.starts_with(&copied));
}

#[test]
fn the_words_of_an_erased_grain_go_out_of_the_dictionary_too() {
    let (disk, ledger, in_dictionary) = packed();
    assert!(in_dictionary.len() > 4, "{in_dictionary:?}");
    let mut kept: Vec<_> = all(&ledger);
    for id in in_dictionary.into_iter().take(12) {
        erase(&ledger, &BTreeSet::from([id]));
        let text = &texts()[usize::from(id)];
        kept.retain(|item| item.body != *text);
        assert!(!has_word(&disk, &own_word(usize::from(id))), "{id}");
        let (_, _, seen) = open(&disk, 0).unwrap();
        assert_eq!(seen[..kept.len() - 1], kept[..kept.len() - 1]);
    }
    assert_eq!(verify(&disk, &STORE, erases).unwrap().findings, []);
}

/// The right to append is taken to close the segment, and again once its packed form is written.
#[test]
fn an_erasure_while_a_segment_is_compressed_is_not_undone() {
    for turn in 0..2 {
        let disk = MemoryDisk::default();
        let ledger = erased(&disk, &texts(), &BTreeSet::new(), 1 << 20);
        let turns = std::cell::Cell::new(0);
        let right = || {
            if turns.replace(turns.get() + 1) == turn {
                erase(&ledger, &BTreeSet::from([4, 9]));
            }
            Ok::<_, Error>(())
        };
        ledger.compact(true, right).unwrap();
        assert_eq!(turns.get(), 2);
        for _ in 0..2 {
            let gone = [4, 9].map(|nth| has_word(&disk, &own_word(nth)));
            assert_eq!(gone, [false, false], "{turn}");
            let (again, _, seen) = open(&disk, 0).unwrap();
            assert_eq!((&seen, seen.len()), (&all(&ledger), 240));
            assert_eq!(
                disk.list("ledger").unwrap().len(),
                2,
                "no file is left beside"
            );
            drop(again);
            compact(&ledger).unwrap();
        }
        assert!(bytes(&disk) < 60_000, "the next compaction packs it");
    }
}

#[test]
fn an_erasure_that_fails_is_completed_in_the_dictionary_too() {
    let (disk, ledger, in_dictionary) = packed();
    let (files, kept) = (files_of(&disk), all(&ledger).len());
    drop(ledger);
    let id = in_dictionary[in_dictionary.len() / 2];
    let mut failures = 0;
    for plan in (0..24).flat_map(plans) {
        let disk = disk_with(&files);
        let failing = Arc::new(FailingDisk::new(&disk, plan));
        let opened = Ledger::open(failing, STORE, 1 << 20, 0, None, erases);
        let redacted = opened.and_then(|(ledger, _)| {
            let mut erasing = Item::new([id]);
            erasing.kind = Kind::Erasing;
            append(&ledger, &[erasing])?;
            ledger.redact(&[EntryId::new(u64::from(id))])
        });
        failures += usize::from(redacted.is_err());
        let (ledger, _, seen) = open(&disk, 0).unwrap();
        ledger.remove_torn_files().unwrap();
        let is_listed = seen
            .iter()
            .filter(|item| item.kind == Kind::Erasing)
            .count()
            > 1;
        assert_eq!(seen.len(), kept, "one that is gone, and one that lists it");
        assert_eq!(has_word(&disk, &own_word(usize::from(id))), !is_listed);
        assert!(is_listed || redacted.is_err());
    }
    assert!(failures > 40, "{failures}");
}

proptest! {
    #[test]
    fn a_packed_ledger_of_any_entries_reads_as_before(
        batches in proptest::collection::vec(
            (any::<i64>(), proptest::collection::vec(item(), 1..9)),
            20..50,
        ),
        gone in proptest::collection::btree_set(any::<u8>(), 0..24),
        later in proptest::collection::btree_set(any::<u8>(), 0..24),
    ) {
        let disk = MemoryDisk::default();
        let ledger = create(&disk, 40_000);
        for (time_ms, batch) in &batches {
            ledger.append(*time_ms, &entries(batch)).unwrap();
        }
        let inside = |ids: BTreeSet<u8>| -> BTreeSet<u8> {
            ids.into_iter().filter(|id| u64::from(*id) < ledger.len()).collect()
        };
        let (gone, later) = (inside(gone), inside(later));
        erase(&ledger, &gone);
        let before = seen(&ledger, &disk);
        compact(&ledger).unwrap();
        prop_assert_eq!(&seen(&ledger, &disk), &before);
        erase(&ledger, &later);
        let before = seen(&ledger, &disk);
        compact(&ledger).unwrap();
        prop_assert_eq!(&seen(&ledger, &disk), &before);
        drop(ledger);
        let (again, _, _) = open(&disk, 0).unwrap();
        prop_assert_eq!(&seen(&again, &disk), &before);
    }
}

#[test]
fn the_end_of_room_given_back_takes_no_frame() {
    let (bodies, gone) = large();
    let disk = MemoryDisk::default();
    compact(&erased(&disk, &bodies, &gone, 1 << 20)).unwrap();
    // The segment behind it holds nothing, and nothing says that it was there.
    disk.remove(&segment(2)).unwrap();
    disk.remove("END").unwrap();
    let (ledger, _, before) = open(&disk, 0).unwrap();
    append(&ledger, &[Item::new("after")]).unwrap();
    let (_, _, after) = open(&disk, 0).unwrap();
    assert_eq!(
        (after.len(), &after[..before.len()]),
        (before.len() + 1, &before[..])
    );
    assert_eq!(disk.list("ledger").unwrap().len(), 2);
}

#[test]
fn any_failure_while_room_is_given_back_leaves_all_that_is_kept() {
    let (bodies, gone) = large();
    let disk = MemoryDisk::default();
    let kept = all(&erased(&disk, &bodies, &gone, 4_000));
    let files = files_of(&disk);
    let mut failures = 0;
    for plan in (0..40).flat_map(plans) {
        let disk = disk_with(&files);
        let failing = Arc::new(FailingDisk::new(&disk, plan));
        let opened = Ledger::open(failing, STORE, 4_000, 0, None, erases);
        let given_back = opened.and_then(|(ledger, _)| compact(&ledger));
        failures += usize::from(given_back.is_err());
        let (ledger, _, seen) = open(&disk, 12).unwrap();
        assert_eq!(seen, kept);
        ledger.remove_torn_files().unwrap();
        let names = disk.list("ledger").unwrap();
        assert!(names.iter().all(|name| name.ends_with(".seg")), "{names:?}");
    }
    assert!(failures > 80, "{failures}");
}
