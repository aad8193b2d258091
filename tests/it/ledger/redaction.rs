//! Bodies blanked in place: gone for good, and everything else still proven.

use super::faults::{FailingDisk, plans};
use super::*;
use grainstore::ledger::verify_ledger;

/// Entries 0 to 5, then the erasing entry 6 that lists 1, 2 and 4.
fn erasing() -> (MemoryDisk, Ledger) {
    let disk = MemoryDisk::default();
    let ledger = create(&disk, 500);
    for batch in [&["zero", "one"][..], &["two", ""], &["four", "five"]] {
        let items: Vec<_> = batch.iter().map(Item::new).collect();
        append(&ledger, &items).unwrap();
    }
    let mut erasing = Item::new([1, 2, 4]);
    erasing.kind = Kind::Erasing;
    append(&ledger, &[erasing]).unwrap();
    (disk, ledger)
}

fn left(ledger: &Ledger) -> Vec<Vec<u8>> {
    let seen = all(ledger).into_iter();
    seen.map(|item| item.body).collect()
}

fn assert_erased(disk: &MemoryDisk, ledger: &Ledger) {
    let kept = [&b"zero"[..], b"", b"five", &[1, 2, 4]];
    assert_eq!(left(ledger), kept);
    for (sequence, body) in [(1, "one"), (2, "two"), (4, "four")] {
        let error = ledger.read(EntryId::new(sequence)).unwrap_err();
        assert_eq!(error.code(), "ERR_ERASED");
        let hash = Sha256::digest(body).into();
        let error = ledger.read_if(EntryId::new(sequence), &hash).unwrap_err();
        assert_eq!(error.code(), "ERR_ERASED");
        assert!(!ledger.holds(EntryId::new(sequence), &hash).unwrap());
    }
    assert_eq!(verify_ledger(ledger).unwrap().findings, []);
    assert_eq!(verify(disk, &STORE, erases).unwrap().findings, []);
    for (_, bytes) in files_of(disk) {
        for word in ["one", "two", "four"] {
            let gone = bytes.windows(word.len()).all(|at| at != word.as_bytes());
            assert!(gone, "{word}");
        }
    }
}

#[test]
fn what_is_redacted_is_gone_and_heads_and_places_stay() {
    let (disk, ledger) = erasing();
    let (head, places) = (
        ledger.head(),
        ledger.entry_locations(&(EntryId::FIRST..EntryId::new(7))),
    );
    let lens = |disk| files_of(disk).into_iter().map(|(_, bytes)| bytes.len());
    let before: Vec<_> = lens(&disk).collect();
    ledger.redact(&[4, 1, 2, 1].map(EntryId::new)).unwrap();
    assert_erased(&disk, &ledger);
    assert!(lens(&disk).eq(before));
    // Again is a no-op.
    let files = files_of(&disk);
    ledger.redact(&[1, 2, 4].map(EntryId::new)).unwrap();
    assert_eq!(files_of(&disk), files);
    append(&ledger, &[Item::new("after")]).unwrap();

    let (again, opened, _) = open(&disk, 8).unwrap();
    assert_eq!(opened, None);
    assert_eq!(
        again.entry_locations(&(EntryId::FIRST..EntryId::new(7))),
        places
    );
    assert_ne!(again.head(), head);
    assert_eq!(again.head(), ledger.head());
    assert_eq!(
        again.read(EntryId::new(1)).unwrap_err().code(),
        "ERR_ERASED"
    );
    assert_eq!(
        ledger
            .redact(&[1, 99].map(EntryId::new))
            .unwrap_err()
            .code(),
        "ERR_RANGE"
    );
}

#[test]
fn what_a_crash_kept_from_being_blanked_is_blanked_when_the_ledger_opens() {
    let (disk, _) = erasing();
    let (ledger, ..) = open(&disk, 7).unwrap();
    assert_erased(&disk, &ledger);
}

#[test]
fn a_body_half_blanked_is_finished_when_listed_and_damage_when_not() {
    for (sequence, offset) in [(1, 32 + 32 + 84), (3, 32 + 32 + 84 + 83 + 32 + 83)] {
        let (disk, ledger) = erasing();
        let name = segment(1);
        let id = EntryId::new(sequence);
        assert!(ledger.entry_locations(&(id..id.next()))[0].offset == offset);
        let file = disk.open(&name, OpenMode::Write).unwrap();
        // Half of the salt.
        file.write_at(&[0; 8], u64::from(offset) + 64).unwrap();
        if sequence == 1 {
            let (ledger, ..) = open(&disk, 7).unwrap();
            assert_erased(&disk, &ledger);
        } else {
            let error = open(&disk, 7).unwrap_err();
            assert!(error.to_string().contains("entry 3"), "{error}");
            assert_eq!(error.code(), "ERR_STORAGE_DAMAGED");
            let findings = verify(&disk, &STORE, erases).unwrap().findings;
            assert_eq!(findings.len(), 1);
            assert_eq!(findings[0].sequence, EntryId::new(3));
        }
    }
}

#[test]
fn an_erasure_lists_only_what_came_before_it() {
    let disk = MemoryDisk::default();
    let ledger = create(&disk, 1 << 20);
    let mut erasing = Item::new([0, 1, 2]);
    erasing.kind = Kind::Erasing;
    append(&ledger, &[Item::new("zero"), erasing]).unwrap();
    append(&ledger, &[Item::new("two")]).unwrap();
    let (again, _, seen) = open(&disk, 3).unwrap();
    assert_eq!(seen.len(), 2);
    assert_eq!(&*again.read(EntryId::new(2)).unwrap().body, b"two");
    assert_eq!(again.read(EntryId::FIRST).unwrap_err().code(), "ERR_ERASED");
}

#[test]
fn a_mark_carries_what_was_erased_below_it() {
    let (disk, ledger) = erasing();
    ledger.redact(&[1, 2, 4].map(EntryId::new)).unwrap();
    let known = grainstore::ledger::RecoveryHint {
        position: ledger.sync().unwrap(),
        locations: ledger.entry_locations(&(EntryId::FIRST..EntryId::new(7))),
        erased: [1, 2, 4].map(EntryId::new).into(),
    };
    let shared = Arc::new(disk.clone());
    let (again, _) = Ledger::open(shared, STORE, 500, 0, Some(known), erases).unwrap();
    assert_erased(&disk, &again);
}

#[test]
fn whatever_fails_while_entries_are_blanked_reopening_finishes_it() {
    let (disk, _) = erasing();
    let files = files_of(&disk);
    let mut failures = 0;
    for plan in (0..8).flat_map(plans) {
        let disk = disk_with(&files);
        // Opening itself blanks; the first operation is the sync of the last segment.
        let failing = Arc::new(FailingDisk::new(&disk, plan));
        failures += usize::from(Ledger::open(failing, STORE, 500, 7, None, erases).is_err());
        let (ledger, opened, _) = open(&disk, 7).unwrap();
        assert_eq!(opened, None);
        assert_erased(&disk, &ledger);
    }
    assert!(failures > 40, "{failures}");
}
