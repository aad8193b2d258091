//! Bytes that changed, vanished or came from elsewhere are never read as entries.

use super::*;
use grainstore::ledger::verify_ledger;

/// Returns the entries of the first whole frames that fit in `len` bytes of the last segment of
/// [`small`], and where they end.
fn prefix(batches: &[Vec<Item>], in_last: usize, len: usize) -> (Vec<Item>, usize) {
    let (before, last) = batches.split_at(batches.len() - in_last);
    let mut kept = before.concat();
    let mut end = 32;
    for batch in last {
        let frame: usize = 32 + batch.iter().map(|item| 80 + item.body.len()).sum::<usize>();
        if end + frame > len {
            break;
        }
        end += frame;
        kept.extend_from_slice(batch);
    }
    (kept, end)
}

/// One segment with all batches of [`small`].
fn single() -> (MemoryDisk, Vec<Vec<Item>>) {
    let (_, batches) = small();
    let disk = MemoryDisk::default();
    let ledger = create(&disk, 1 << 20);
    for batch in &batches {
        append(&ledger, batch).unwrap();
    }
    (disk, batches)
}

#[test]
fn a_last_segment_cut_at_any_byte_opens_to_whole_frames_and_keeps_the_rest_aside() {
    for ((disk, batches), last, in_last) in [(small(), 3, 1), (single(), 1, 5)] {
        let files = files_of(&disk);
        let full = bytes_of(&disk, &segment(last));
        let len = batches.concat().len() as u64;
        for cut in 0..full.len() {
            let disk = disk_with(&files);
            let tail = disk.open(&segment(last), OpenMode::Write).unwrap();
            tail.set_len(cut as u64).unwrap();
            let cut_files = files_of(&disk);

            // With an index that has seen all of it, nothing may be missing.
            assert_eq!(open(&disk, len).unwrap_err().code(), "ERR_STORAGE_DAMAGED");
            assert_eq!(files_of(&disk), cut_files);
            if last == 1 && cut < 32 {
                assert_eq!(open(&disk, 0).unwrap_err().code(), "ERR_STORAGE_DAMAGED");
                continue;
            }

            let (kept, end) = prefix(&batches, in_last, cut);
            let end = if cut < 32 { 0 } else { end };
            let (ledger, opened, seen) = open(&disk, 0).unwrap();
            assert_eq!(seen, kept, "cut at {cut}");
            if cut == end && cut > 0 {
                assert_eq!(opened, None);
            } else {
                let torn = opened.unwrap();
                assert_eq!((torn.segment, torn.offset), (last, end as u64));
                assert_eq!(torn.bytes, (cut - end) as u64);
                assert_eq!(bytes_of(&disk, &torn.file), full[end..cut]);
            }
            append(&ledger, &[Item::new("after")]).unwrap();
            let (_, opened, seen) = open(&disk, ledger.len()).unwrap();
            assert_eq!(opened, None);
            assert_eq!(seen, [kept, vec![Item::new("after")]].concat());
        }
    }
}

#[test]
fn every_flipped_bit_is_reported_and_no_wrong_entry_is_ever_read() {
    for (disk, batches) in [small(), single()] {
        let files = files_of(&disk);
        let model = batches.concat();
        let len = model.len() as u64;
        let last_frame = files.last().unwrap().1.len() - (32 + 80 + 1);
        for (nth, (name, bytes)) in files.iter().enumerate() {
            for bit in 0..bytes.len() * 8 {
                let disk = disk_with(&files);
                let (live, ..) = open(&disk, len).unwrap();
                let flipped = [bytes[bit / 8] ^ (1 << (bit % 8))];
                let file = disk.open(name, OpenMode::Write).unwrap();
                file.write_at(&flipped, (bit / 8) as u64).unwrap();

                let place = format!("{name} bit {bit}");
                for (sequence, item) in (0..).zip(&model) {
                    match live.read(EntryId::new(sequence)) {
                        Ok(entry) => assert_eq!(&Item::of(&entry), item, "{place}"),
                        Err(error) => assert_eq!(error.code(), "ERR_STORAGE_DAMAGED", "{place}"),
                    }
                }
                assert_ne!(verify_ledger(&live).unwrap().findings, [], "{place}");
                assert_ne!(
                    verify(&disk, &STORE, erases).unwrap().findings,
                    [],
                    "{place}"
                );
                let error = open(&disk, len).unwrap_err();
                assert_eq!(error.code(), "ERR_STORAGE_DAMAGED", "{place}");
                let before = files_of(&disk);
                match open(&disk, 0) {
                    Err(error) => {
                        assert_eq!(error.code(), "ERR_STORAGE_DAMAGED", "{place}");
                        assert_eq!(files_of(&disk), before, "{place}");
                    }
                    Ok((_, opened, seen)) => {
                        // Only the last frame of all has no witness that it was durable.
                        assert!(nth + 1 == files.len() && bit / 8 >= last_frame, "{place}");
                        assert_eq!(opened.unwrap().bytes, 113, "{place}");
                        assert_eq!(seen, model[..model.len() - 1], "{place}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_flipped_byte_of_an_entry_is_noticed_by_reading_that_entry_alone() {
    let (disk, batches) = single();
    let (ledger, ..) = open(&disk, 0).unwrap();
    let file = disk.open(&segment(1), OpenMode::Write).unwrap();
    let mut offset = 32;
    let mut sequence = 0;
    for batch in &batches {
        offset += 32;
        for item in batch {
            let entry = offset..offset + 80 + item.body.len();
            let bytes = bytes_of(&disk, &segment(1));
            for at in entry.clone() {
                file.write_at(&[bytes[at] ^ 1], at as u64).unwrap();
                let error = ledger.read(EntryId::new(sequence)).unwrap_err();
                let hash = Sha256::digest(&item.body).into();
                let of_body = at >= offset + 80;
                if of_body || (24..28).contains(&(at - offset)) {
                    let error = ledger.read_if(EntryId::new(sequence), &hash).unwrap_err();
                    assert_eq!(error.code(), "ERR_STORAGE_DAMAGED");
                }
                // What proves the body without reading it cannot see its bytes.
                assert_eq!(
                    ledger.holds(EntryId::new(sequence), &hash).unwrap_or(false),
                    of_body
                );
                let place = format!("segment 1 is damaged at byte {offset} (entry {sequence})");
                assert!(error.to_string().starts_with(&place), "{error}");
                file.write_at(&bytes[at..=at], at as u64).unwrap();
            }
            ledger.read(EntryId::new(sequence)).unwrap();
            offset = entry.end;
            sequence += 1;
        }
    }
}

#[test]
fn an_open_ledger_notices_that_its_last_frame_was_cut_off() {
    let (disk, batches) = single();
    let (ledger, ..) = open(&disk, 0).unwrap();
    let file = disk.open(&segment(1), OpenMode::Write).unwrap();
    file.set_len(file.len_bytes().unwrap() - 113).unwrap();
    let found = verify_ledger(&ledger).unwrap();
    assert_eq!(found.entries, batches.concat().len() as u64 - 1);
    assert_eq!(found.findings.len(), 1);
    assert_eq!(verify(&disk, &STORE, erases).unwrap().findings, []);
}

#[test]
fn damage_below_a_synced_frame_is_never_taken_for_a_torn_tail() {
    let (disk, batches) = single();
    let files = files_of(&disk);
    let end = files[0].1.len();
    // Zeros from anywhere up to the last frame, as a disk that dropped writes would leave.
    for from in 32..end - 113 {
        let disk = disk_with(&files);
        let file = disk.open(&segment(1), OpenMode::Write).unwrap();
        file.write_at(&vec![0; end - 113 - from], from as u64)
            .unwrap();
        let before = files_of(&disk);
        assert_eq!(open(&disk, 0).unwrap_err().code(), "ERR_STORAGE_DAMAGED");
        assert_eq!(files_of(&disk), before);
        let found = verify(&disk, &STORE, erases).unwrap();
        assert!(!found.findings.is_empty());
        // What comes behind the damage is still recognised.
        let (kept, _) = prefix(&batches, 5, from);
        assert!(found.entries > kept.len() as u64, "zeros from {from}");
        assert!(found.entries < batches.concat().len() as u64);
    }
}

#[test]
fn a_last_frame_whose_bodies_were_lost_is_torn_unless_something_says_it_was_durable() {
    let (disk, batches) = single();
    let model = batches.concat();
    let end = bytes_of(&disk, &segment(1)).len() as u64;
    let lose_body = |disk: &MemoryDisk| {
        let file = disk.open(&segment(1), OpenMode::Write).unwrap();
        file.write_at(b"?", end - 1).unwrap();
    };
    let followed = disk_with(&files_of(&disk));
    let (ledger, ..) = open(&followed, 0).unwrap();
    append(&ledger, &[Item::new("a witness")]).unwrap();
    lose_body(&followed);
    lose_body(&disk);
    for (disk, watermark) in [(&followed, 0), (&disk, model.len() as u64)] {
        let before = files_of(disk);
        let error = open(disk, watermark).unwrap_err();
        assert_eq!(error.code(), "ERR_STORAGE_DAMAGED");
        assert_eq!(files_of(disk), before);
    }
    // The published end says it, too.
    assert!(open(&disk, model.len() as u64 - 1).is_err());
    disk.remove("END").unwrap();
    let (_, opened, seen) = open(&disk, model.len() as u64 - 1).unwrap();
    assert_eq!(opened.unwrap().bytes, 113);
    assert_eq!(seen, model[..model.len() - 1]);
}

#[test]
fn a_missing_or_exchanged_segment_is_damage() {
    let (disk, _) = small();
    let files = files_of(&disk);
    for missing in 0..2 {
        let mut left = files.clone();
        left.remove(missing);
        let disk = disk_with(&left);
        assert_eq!(open(&disk, 0).unwrap_err().code(), "ERR_STORAGE_DAMAGED");
        assert!(!verify(&disk, &STORE, erases).unwrap().findings.is_empty());
    }
    let mut exchanged = files.clone();
    exchanged[1].1 = files[2].1.clone();
    exchanged[2].1 = files[1].1.clone();
    let disk = disk_with(&exchanged);
    assert_eq!(open(&disk, 0).unwrap_err().code(), "ERR_STORAGE_DAMAGED");
    assert_eq!(
        open(&disk_with(&[]), 0).unwrap_err().code(),
        "ERR_STORAGE_DAMAGED"
    );

    // A closed segment that ends at a frame's end, but too early.
    let disk = disk_with(&files);
    let file = disk.open(&segment(2), OpenMode::Write).unwrap();
    file.set_len(32).unwrap();
    assert_eq!(open(&disk, 0).unwrap_err().code(), "ERR_STORAGE_DAMAGED");
    // Also when the last segment was only just begun.
    let last = disk.open(&segment(3), OpenMode::Write).unwrap();
    last.set_len(32).unwrap();
    assert_eq!(open(&disk, 0).unwrap_err().code(), "ERR_STORAGE_DAMAGED");
}

#[test]
fn the_wrong_store_id_opens_nothing_and_changes_nothing() {
    let other = StoreId::new([9; 16]);
    for (disk, _) in [small(), single()] {
        let before = files_of(&disk);
        let error = open_as(&disk, other, 0).unwrap_err();
        assert_eq!(error.code(), "ERR_STORAGE_DAMAGED");
        assert_eq!(files_of(&disk), before);
    }
}

#[test]
fn stale_bytes_behind_the_end_are_set_aside() {
    let (disk, batches) = single();
    let own = files_of(&disk);
    let elsewhere = MemoryDisk::default();
    let other = StoreId::new([9; 16]);
    let ledger = Ledger::create(Arc::new(elsewhere.clone()), other, 1 << 20).unwrap();
    for batch in &batches {
        append(&ledger, batch).unwrap();
    }
    append(&ledger, &[Item::new("the next of another store")]).unwrap();
    let next_of_other = bytes_of(&elsewhere, &segment(1)).split_off(own[0].1.len());
    let first_again = own[0].1[32..227].to_vec();
    for stale in [next_of_other, first_again] {
        let mut files = own.clone();
        files[0].1.extend_from_slice(&stale);
        let disk = disk_with(&files);
        let (_, opened, seen) = open(&disk, 0).unwrap();
        assert_eq!(seen, batches.concat());
        assert_eq!(bytes_of(&disk, &opened.unwrap().file), stale);
    }
}

#[test]
fn each_torn_tail_has_a_file_of_its_own() {
    let (disk, _) = single();
    for nth in 1..4 {
        let file = disk.open(&segment(1), OpenMode::Write).unwrap();
        let end = file.len_bytes().unwrap();
        file.write_at(b"GFRM\0\0\0\x02 and no more", end).unwrap();
        let torn = open(&disk, 0).unwrap().1.unwrap();
        assert_eq!(torn.file, format!("ledger/torn-{nth}"));
        assert_eq!(torn.bytes, 20);
    }
}

#[test]
fn a_torn_frame_says_how_many_entries_it_may_hold() {
    let (disk, _) = single();
    let before = bytes_of(&disk, &segment(1)).len();
    let shared = Arc::new(disk.clone());
    let (ledger, _) = Ledger::open(shared, STORE, 1 << 20, 0, None, erases).unwrap();
    append(&ledger, &["a", "b", "c"].map(Item::new)).unwrap();
    let file = disk.open(&segment(1), OpenMode::Write).unwrap();
    file.set_len((before + 32 + 2 * 81 + 5) as u64).unwrap();
    disk.remove("END").unwrap();
    let torn = open(&disk, 0).unwrap().1.unwrap();
    assert_eq!(torn.entries_maybe, 2);
}

#[test]
fn look_alike_frames_nested_in_a_torn_body_do_not_stall_opening() {
    // Frame headers inside the bodies of a chain of entries: each claims the rest of the chain.
    let links = 60_000_usize;
    let mut body = Vec::new();
    for link in 0..links {
        let mut header = [0; 80];
        header[0..8].copy_from_slice(&(link as u64).to_be_bytes());
        header[24..28].copy_from_slice(&32_u32.to_be_bytes());
        let left = links - link - 1;
        body.extend_from_slice(&header);
        body.extend_from_slice(b"GFRM");
        body.extend_from_slice(&u32::try_from(left.max(1)).unwrap().to_be_bytes());
        body.extend_from_slice(&((32 + left * 112) as u64).to_be_bytes());
        body.extend_from_slice(&[0; 16]);
    }
    // The tear must leave room for all they claim.
    body.extend_from_slice(&[0; 100]);
    let (disk, batches) = single();
    let shared = Arc::new(disk.clone());
    let (ledger, _) = Ledger::open(shared, STORE, 1 << 30, 0, None, erases).unwrap();
    append(&ledger, &[Item::new(body)]).unwrap();
    let file = disk.open(&segment(1), OpenMode::Write).unwrap();
    file.set_len(file.len_bytes().unwrap() - 1).unwrap();
    disk.remove("END").unwrap();
    let started = std::time::Instant::now();
    let (_, opened, seen) = open(&disk, 0).unwrap();
    assert_eq!(seen, batches.concat());
    assert!(opened.unwrap().bytes > 2_000_000);
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}
