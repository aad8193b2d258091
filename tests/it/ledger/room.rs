//! Room: zeros that the process that appends makes ahead of the frames, and a killed one leaves.

use super::*;

/// Gives the last segment of [`small`] room, and returns where its frames end.
fn add_room(disk: &MemoryDisk, segment: &str) -> u64 {
    let end = bytes_of(disk, segment).len() as u64;
    let file = disk.open(segment, OpenMode::Write).unwrap();
    file.set_len(ROOM).unwrap();
    end
}

#[test]
fn room_behind_the_last_frame_is_no_finding_and_is_cut_at_opening() {
    let (disk, batches) = small();
    let model = batches.concat();
    let end = add_room(&disk, &segment(3));
    assert_eq!(verify(&disk, &STORE, erases).unwrap().findings, []);
    let before = files_of(&disk);
    let missing = open(&disk, model.len() as u64 + 1).unwrap_err();
    assert_eq!(missing.code(), "ERR_STORAGE_DAMAGED");
    assert_eq!(files_of(&disk), before);

    let (ledger, torn, seen) = open(&disk, model.len() as u64).unwrap();
    assert_eq!((torn, seen), (None, model.clone()));
    assert_eq!(bytes_of(&disk, &segment(3)).len() as u64, end);
    append(&ledger, &[Item::new("after")]).unwrap();
    let (_, torn, seen) = open(&disk, ledger.len()).unwrap();
    assert_eq!(
        (torn, seen),
        (None, [model, vec![Item::new("after")]].concat())
    );
}

#[test]
fn a_frame_that_a_crash_cut_in_room_is_set_aside_without_the_room() {
    let (disk, batches) = small();
    let files = files_of(&disk);
    let end = bytes_of(&disk, &segment(3)).len();
    let (ledger, ..) = open(&disk, 0).unwrap();
    append(&ledger, &[Item::new("the last"), Item::new("frame")]).unwrap();
    let whole = bytes_of(&disk, &segment(3));
    for cut in end..whole.len() {
        let disk = disk_with(&files);
        let file = disk.open(&segment(3), OpenMode::Write).unwrap();
        file.write_at(&whole[end..cut], end as u64).unwrap();
        file.set_len(ROOM).unwrap();
        let (_, torn, seen) = open(&disk, 0).unwrap();
        assert_eq!(seen, batches.concat(), "cut at {cut}");
        let left = whole[end..cut].iter().rposition(|byte| *byte != 0);
        let left = left.map_or(end, |last| end + last + 1);
        let aside = torn.as_ref().map(|torn| bytes_of(&disk, &torn.file));
        assert_eq!(aside.unwrap_or_default(), whole[end..left], "cut at {cut}");
        assert_eq!(torn.map_or(0, |torn| torn.bytes), (left - end) as u64);
        assert_eq!(bytes_of(&disk, &segment(3)).len(), end);
    }
}

#[test]
fn zeros_behind_the_last_frame_of_a_closed_segment_are_damage() {
    let (disk, _) = small();
    add_room(&disk, &segment(1));
    assert_eq!(open(&disk, 0).unwrap_err().code(), "ERR_STORAGE_DAMAGED");
    assert_ne!(verify(&disk, &STORE, erases).unwrap().findings, []);
}

#[test]
fn a_copy_that_has_room_is_brought_up_to_date() {
    for more in [0, 1] {
        let (disk, batches) = small();
        let (ledger, ..) = open(&disk, 0).unwrap();
        let copy = MemoryDisk::default();
        ledger.copy_to(&copy).unwrap();
        add_room(&copy, &segment(3));
        for _ in 0..more {
            append(&ledger, &[Item::new("more")]).unwrap();
        }
        ledger.copy_to(&copy).unwrap();
        assert_eq!(bytes_of(&copy, &segment(3)), bytes_of(&disk, &segment(3)));
        let seen = open(&copy, ledger.len()).unwrap().2;
        assert_eq!(seen.len(), batches.concat().len() + more);
    }
}

#[test]
fn a_copy_of_another_history_is_refused_with_room_too() {
    let (disk, _) = small();
    let copy = disk_with(&files_of(&disk));
    for (disk, body) in [(&disk, "one"), (&copy, "the other")] {
        append(&open(disk, 0).unwrap().0, &[Item::new(body)]).unwrap();
    }
    add_room(&copy, &segment(3));
    let before = files_of(&copy);
    let refused = open(&disk, 0).unwrap().0.copy_to(&copy);
    assert_eq!(refused.unwrap_err().code(), "ERR_BACKUP_DIVERGED");
    assert_eq!(files_of(&copy), before);
}

/// Room ends at a multiple of so many bytes (docs/format.md, "Writing").
const ROOM: u64 = 64 << 10;
