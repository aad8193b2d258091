//! The room of blank bodies is given back, and nothing else about a ledger changes.

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
        let given_back = ledger.give_back_blanked().unwrap();
        prop_assert_eq!(&seen(&ledger, &disk), &before);
        // A begun segment is a header.
        prop_assert!(bytes(&disk) <= stored - usize::try_from(given_back).unwrap() + 32);
        prop_assert_eq!(ledger.give_back_blanked().unwrap(), 0, "it was given back");

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
        ledger.give_back_blanked().unwrap();
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
    assert!(ledger.give_back_blanked().unwrap() > 14_000);
    assert_eq!(disk.list("ledger").unwrap().len(), 2);
    assert!(bytes(&disk) < 2_000, "{}", bytes(&disk));
}

#[test]
fn one_whole_table_is_enough_and_a_damaged_one_is_reported() {
    let (bodies, gone) = large();
    let disk = MemoryDisk::default();
    let ledger = erased(&disk, &bodies, &gone, 1 << 20);
    ledger.give_back_blanked().unwrap();
    let (kept, whole) = (all(&ledger), bytes_of(&disk, &segment(1)));
    let table = 4 + 8 + 32 + 5 * 8 + 8;
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
            ledger.give_back_blanked().unwrap();
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

#[test]
fn the_end_of_room_given_back_takes_no_frame() {
    let (bodies, gone) = large();
    let disk = MemoryDisk::default();
    erased(&disk, &bodies, &gone, 1 << 20)
        .give_back_blanked()
        .unwrap();
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
        let given_back = opened.and_then(|(ledger, _)| ledger.give_back_blanked());
        failures += usize::from(given_back.is_err());
        let (ledger, _, seen) = open(&disk, 12).unwrap();
        assert_eq!(seen, kept);
        ledger.remove_torn_files().unwrap();
        let names = disk.list("ledger").unwrap();
        assert!(names.iter().all(|name| name.ends_with(".seg")), "{names:?}");
    }
    assert!(failures > 80, "{failures}");
}
