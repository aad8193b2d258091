//! Opening from a mark, and what is durable when.

use grainstore::ledger::{EntryId, EntryLocation, RecoveryHint, verify_ledger};

use super::*;

/// What an index that has covered the first `entries` entries would know.
fn known(ledger: &Ledger, marks: &[LedgerPosition], entries: u64) -> RecoveryHint {
    let mark = marks.iter().find(|mark| mark.entries == entries);
    RecoveryHint {
        position: *mark.unwrap(),
        locations: ledger.entry_locations(&(EntryId::FIRST..EntryId::new(entries))),
        erased: Vec::new(),
    }
}

fn open_known(disk: &MemoryDisk, known: RecoveryHint) -> Result<(Ledger, Option<TornTail>), Error> {
    let disk = Arc::new(disk.clone());
    Ledger::open(disk, STORE, 400, 0, Some(known), erases)
}

/// [`small`], with the mark after each frame.
fn marked() -> (MemoryDisk, Ledger, Vec<LedgerPosition>) {
    let (disk, batches) = small();
    let files = files_of(&disk);
    let again = MemoryDisk::default();
    let ledger = create(&again, 400);
    let mut marks = vec![ledger.position()];
    for batch in &batches {
        append(&ledger, batch).unwrap();
        marks.push(ledger.sync().unwrap());
    }
    assert_eq!(files_of(&again), files);
    (again, ledger, marks)
}

#[test]
fn a_ledger_opened_from_any_mark_is_the_one_that_was_read_whole() {
    let (disk, ledger, marks) = marked();
    let model = all(&ledger);
    for mark in &marks {
        let known = known(&ledger, &marks, mark.entries);
        let (from_mark, opened) = open_known(&disk, known).unwrap();
        assert_eq!(opened, None);
        assert_eq!(from_mark.position(), ledger.position());
        assert_eq!(
            from_mark.entry_locations(&(EntryId::FIRST..EntryId::new(99))),
            ledger.entry_locations(&(EntryId::FIRST..EntryId::new(99)))
        );
        assert_eq!(all(&from_mark), model);
        assert_eq!(verify_ledger(&from_mark).unwrap().findings, []);
        let copy = disk_with(&files_of(&disk));
        let known = self::known(&ledger, &marks, mark.entries);
        let (writer, _) = open_known(&copy, known).unwrap();
        append(&writer, &[Item::new("more")]).unwrap();
        assert_eq!(open(&copy, 8).unwrap().2.len(), model.len() + 1);
    }
}

#[test]
fn what_lies_below_the_mark_is_not_read_and_what_lies_above_is_proven() {
    let (disk, ledger, marks) = marked();
    let files = files_of(&disk);
    let mut unread = 0;
    for mark in &marks {
        for (nth, (name, bytes)) in files.iter().enumerate() {
            for (at, byte) in bytes.iter().enumerate().skip(32) {
                let copy = disk_with(&files);
                let file = copy.open(name, OpenMode::Write).unwrap();
                file.write_at(&[byte ^ 1], at as u64).unwrap();
                let below = (nth as u64 + 1, at as u64) < (u64::from(mark.segment), mark.offset);
                let known = known(&ledger, &marks, mark.entries);
                match open_known(&copy, known) {
                    Ok((_, opened)) => {
                        assert!(below || opened.is_some());
                        unread += u32::from(below);
                    }
                    // Below, the header of a segment's last entry is read: it says where it ends.
                    Err(error) => assert_eq!(error.code(), "ERR_STORAGE_DAMAGED"),
                }
            }
        }
    }
    assert!(unread > 1_000, "{unread}");
}

#[test]
fn a_mark_that_does_not_fit_the_files_is_damage_and_changes_nothing() {
    let (disk, ledger, marks) = marked();
    let len = ledger.len();
    let refused = |disk: &MemoryDisk, known: RecoveryHint| {
        let before = files_of(disk);
        let error = open_known(disk, known).unwrap_err();
        assert_eq!(error.code(), "ERR_STORAGE_DAMAGED", "{error}");
        assert_eq!(files_of(disk), before);
    };
    for missing in 0..3 {
        let mut files = files_of(&disk);
        files.remove(missing);
        refused(&disk_with(&files), known(&ledger, &marks, len));
    }
    // Cut below the mark, in every segment.
    for number in 1..=3 {
        let end = bytes_of(&disk, &segment(number)).len() as u64;
        for cut in [0, 31, 32, 33, end - 1] {
            let copy = disk_with(&files_of(&disk));
            let file = copy.open(&segment(number), OpenMode::Write).unwrap();
            file.set_len(cut).unwrap();
            refused(&copy, known(&ledger, &marks, len));
        }
    }
    // What no index ever wrote.
    let sound = || known(&ledger, &marks, len);
    let mut wrong = vec![sound(), sound(), sound(), sound(), sound(), sound()];
    wrong[0].locations.pop();
    wrong[1].locations.swap(0, 1);
    wrong[2].locations[3].offset = 31;
    wrong[3].locations[3].segment = 9;
    wrong[4].position.entries += 1;
    wrong[5].locations.push(EntryLocation {
        segment: 3,
        offset: u32::MAX,
        check: 0,
    });
    for known in wrong {
        refused(&disk, known);
    }
}

#[test]
fn a_torn_tail_above_the_mark_is_set_aside() {
    // The mark ends a closed segment, and the segment after it is torn.
    let (disk, ledger, marks) = marked();
    let mark = marks[4];
    assert_eq!(mark.segment, 2);
    let end = bytes_of(&disk, &segment(3)).len() as u64;
    for cut in 0..end {
        let copy = disk_with(&files_of(&disk));
        let file = copy.open(&segment(3), OpenMode::Write).unwrap();
        file.set_len(cut).unwrap();
        let (opened, found) = open_known(&copy, known(&ledger, &marks, mark.entries)).unwrap();
        assert_eq!(opened.len(), mark.entries);
        assert_eq!(found.is_some(), cut != 32, "{cut}");
    }
    // The mark and the tear are in one segment.
    let disk = MemoryDisk::default();
    let ledger = create(&disk, 1 << 20);
    append(&ledger, &["one", "two"].map(Item::new)).unwrap();
    let mark = ledger.sync().unwrap();
    append(&ledger, &[Item::new("three")]).unwrap();
    for cut in mark.offset..ledger.position().offset {
        let copy = disk_with(&files_of(&disk));
        let file = copy.open(&segment(1), OpenMode::Write).unwrap();
        file.set_len(cut).unwrap();
        let (opened, found) = open_known(&copy, known(&ledger, &[mark], 2)).unwrap();
        assert_eq!(opened.len(), 2);
        assert_eq!(found.is_some(), cut > mark.offset);
    }
}

/// The `synced` of each frame of a segment, by the layout in the document.
fn synced(bytes: &[u8]) -> Vec<u64> {
    let number = |at: usize| u64::from_be_bytes(bytes[at..at + 8].try_into().unwrap());
    let mut found = Vec::new();
    let mut at = 32;
    while at < bytes.len() {
        found.push(number(at + 16));
        at += usize::try_from(number(at + 8)).unwrap();
    }
    found
}

#[test]
fn what_is_not_synced_is_never_claimed_to_be() {
    let disk = MemoryDisk::default();
    let ledger = create(&disk, 1 << 20);
    let write = |body: &str| {
        let items = [Item::new(body)];
        ledger.append_unsynced(1, &entries(&items)).unwrap();
    };
    write("one");
    write("two");
    assert_eq!((ledger.len(), ledger.durable()), (2, 0));
    assert_eq!(all(&ledger).len(), 2, "written, so readable");
    let mark = ledger.sync().unwrap();
    assert_eq!((mark.entries, ledger.durable()), (2, 2));
    assert_eq!(mark, ledger.position());
    write("three");
    assert_eq!(ledger.durable(), 2);
    append(&ledger, &[Item::new("four")]).unwrap();
    assert_eq!(ledger.durable(), 4, "a sync is for all before it");
    write("five");
    let mut erasing = Item::new("\0");
    erasing.kind = Kind::Erasing;
    append(&ledger, &[erasing]).unwrap();
    assert_eq!(
        synced(&bytes_of(&disk, &segment(1))),
        [0, 0, 2, 2, 4, 5],
        "an erasure's frame claims all before it"
    );
    let (again, ..) = open(&disk, 6).unwrap();
    assert_eq!(again.durable(), 6);
}

#[test]
fn a_new_segment_and_enough_bytes_sync_what_was_not() {
    let ledger = create(&MemoryDisk::default(), 1000);
    let items = [Item::new(vec![1; 400])];
    for _ in 0..4 {
        ledger.append_unsynced(1, &entries(&items)).unwrap();
    }
    assert_eq!((ledger.len(), ledger.durable()), (4, 3));

    let ledger = create(&MemoryDisk::default(), 1 << 30);
    let items = [Item::new(vec![1; 1 << 20])];
    let mut behind = 0;
    for _ in 0..40 {
        ledger.append_unsynced(1, &entries(&items)).unwrap();
        behind = behind.max(ledger.len() - ledger.durable());
    }
    assert!((2..=8).contains(&behind), "{behind}");
}
