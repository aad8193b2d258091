//! Copies of a store: consistent while it is written, and only of what is new.

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

#[test]
fn a_backup_is_a_store_that_says_the_same() {
    let home = Home::new();
    let expected = filled(&home);
    let store = home.open("s");
    let backup = store.maintenance().unwrap().backup(home.path("b")).unwrap();
    let stats = store.maintenance().unwrap().stats().unwrap();
    assert!(stats.segments > 3);
    assert_eq!((backup.entries, backup.head), (stats.entries, stats.head));
    assert_eq!(
        (u64::from(backup.segments), backup.kept),
        (stats.segments, 0)
    );
    assert_eq!(backup.bytes, stats.ledger_bytes);
    assert_eq!(files(&home.path("b/ledger")), files(&home.path("s/ledger")));
    assert!(!home.path("b/index").exists() && !home.path("b/text").exists());
    let copy = home.open("b");
    assert_eq!(told(&copy), expected);
    assert_eq!(copy.maintenance().unwrap().check().unwrap().findings, []);
    assert_eq!(
        copy.maintenance().unwrap().stats().unwrap().store_id,
        stats.store_id
    );
}

#[test]
fn a_store_knows_when_it_was_backed_up_last() {
    let home = Home::new();
    let last = |store: &Store| store.maintenance().unwrap().stats().unwrap().last_backup;
    let store = home.open("s");
    assert_eq!(last(&store), None);
    store.maintenance().unwrap().backup(home.path("b")).unwrap();
    let first = last(&store).unwrap();
    // Any process knows it, and the copy does not say so of itself.
    let reader = Store::open(home.path("s"), options().read_only()).unwrap();
    assert_eq!(last(&reader), Some(first));
    assert_eq!(last(&home.open("b")), None);
    store.maintenance().unwrap().backup(home.path("b")).unwrap();
    assert!(last(&store).unwrap() >= first);
    fs::write(home.path("s/BACKUP"), "no time").unwrap();
    assert_eq!(last(&store), None);
}

#[test]
fn a_store_of_nothing_is_backed_up_too() {
    let home = Home::new();
    let store = home.open("s");
    assert_eq!(
        store
            .maintenance()
            .unwrap()
            .backup(home.path("b"))
            .unwrap()
            .segments,
        1
    );
    assert_eq!(told(&home.open("b")), []);
    store.put(draft(1)).unwrap();
    store.maintenance().unwrap().backup(home.path("b")).unwrap();
    assert_eq!(told(&home.open("b")), told(&store));
}

#[test]
fn a_later_backup_copies_only_what_is_new() {
    let home = Home::new();
    filled(&home);
    let store = home.open("s");
    let first = store.maintenance().unwrap().backup(home.path("b")).unwrap();
    let again = store.maintenance().unwrap().backup(home.path("b")).unwrap();
    assert_eq!(
        (again.segments, again.kept, again.bytes),
        (0, first.segments, 0)
    );
    store.put(draft(199)).unwrap();
    let before = store.maintenance().unwrap().stats().unwrap().ledger_bytes;
    store.maintenance().unwrap().backup(home.path("b")).unwrap();
    store.put(draft(198)).unwrap();
    store.put(draft(197)).unwrap();
    let grown = store.maintenance().unwrap().stats().unwrap().ledger_bytes - before;
    let two = store.maintenance().unwrap().backup(home.path("b")).unwrap();
    assert_eq!(two.bytes, grown, "two entries and no more");
    for n in 200..260 {
        store.put(draft(n)).unwrap();
        if n % 7 == 0 {
            let more = store.maintenance().unwrap().backup(home.path("b")).unwrap();
            assert!(
                more.segments <= 3 && more.kept + 1 >= first.segments,
                "{more:?}"
            );
            assert_eq!(files(&home.path("b/ledger")), files(&home.path("s/ledger")));
        }
    }
    store.maintenance().unwrap().backup(home.path("b")).unwrap();
    assert_eq!(told(&home.open("b")), told(&store));
    // A backup that was opened meanwhile is gone on with all the same.
    store.put(draft(300)).unwrap();
    store.maintenance().unwrap().backup(home.path("b")).unwrap();
    // For a reader too, whatever end the one that opened it published.
    let reader = Store::open(home.path("b"), options().read_only()).unwrap();
    assert_eq!(told(&reader), told(&store));
    assert_eq!(told(&home.open("b")), told(&store));
}

#[test]
fn a_segment_in_which_something_was_erased_since_is_copied_again() {
    let home = Home::new();
    filled(&home);
    home.open("s")
        .maintenance()
        .unwrap()
        .backup(home.path("b"))
        .unwrap();
    erase(&home.path("s"), &[1, 3], Vec::new());
    let store = home.open("s");
    let backup = store.maintenance().unwrap().backup(home.path("b")).unwrap();
    assert!(backup.segments >= 2 && backup.kept >= 2, "{backup:?}");
    assert_eq!(files(&home.path("b/ledger")), files(&home.path("s/ledger")));
    let again = store.maintenance().unwrap().backup(home.path("b")).unwrap();
    assert_eq!(again.segments, 0);
    let first = fs::read(home.path("b/ledger/0000000000000001.seg")).unwrap();
    assert!(!first.windows(7).any(|part| part == b"thing1 "));
}

#[test]
fn a_backup_taken_while_others_write_is_a_prefix_of_whole_batches() {
    let home = Home::new();
    let store = home.open("s");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for batch in 0..60 {
                let drafts = (batch * 5..batch * 5 + 5).map(draft);
                store.put_batch(drafts).unwrap();
            }
            done.store(true, Ordering::Release);
        });
        let mut before = 0;
        loop {
            let is_last = done.load(Ordering::Acquire);
            let acknowledged = store.maintenance().unwrap().stats().unwrap().grains;
            let backup = store.maintenance().unwrap().backup(home.path("b")).unwrap();
            assert!(backup.entries >= acknowledged && backup.entries >= before);
            assert_eq!(backup.entries % 5, 0);
            before = backup.entries;
            if is_last {
                break;
            }
        }
    });
    assert_eq!(told(&home.open("b")), told(&store));
}

#[test]
fn a_backup_never_replaces_another_store_or_another_history() {
    let home = Home::new();
    filled(&home);
    let store = home.open("s");
    let refused = |path: &Path, code: &str| {
        let before = files(&path.join("ledger"));
        let error = store.maintenance().unwrap().backup(path).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert_eq!(files(&path.join("ledger")), before);
    };
    drop(home.open("other"));
    refused(&home.path("other"), "ERR_BACKUP_DIVERGED");
    refused(&home.path("s"), "ERR_STORE_LOCKED");
    fs::create_dir_all(home.path("photos/ledger")).unwrap();
    fs::write(home.path("photos/cat.jpg"), "meow").unwrap();
    refused(&home.path("photos"), "ERR_NOT_A_STORE");

    // A copy that went on by itself.
    store.maintenance().unwrap().backup(home.path("b")).unwrap();
    home.open("b").put(draft(900)).unwrap();
    refused(&home.path("b"), "ERR_BACKUP_DIVERGED");
    for n in 901..910 {
        store.put(draft(n)).unwrap();
    }
    refused(&home.path("b"), "ERR_BACKUP_DIVERGED");
}

#[test]
fn a_backup_cut_short_is_completed_by_the_next() {
    let home = Home::new();
    let expected = filled(&home);
    let store = home.open("s");
    store
        .maintenance()
        .unwrap()
        .backup(home.path("whole"))
        .unwrap();
    let segments = files(&home.path("whole/ledger"));
    for taken in 0..segments.len() {
        let name = format!("b{taken}");
        fs::create_dir_all(home.path(&name).join("ledger")).unwrap();
        for (file, bytes) in &segments[..taken] {
            fs::write(home.path(&name).join("ledger").join(file), bytes).unwrap();
        }
        let (file, bytes) = &segments[taken];
        let half = home.path(&name).join("ledger").join(format!("{file}.new"));
        fs::write(half, &bytes[..bytes.len() / 2]).unwrap();
        let error = Store::open(
            home.path(&name),
            Options {
                create: grainstore::store::Create::Never,
                ..options()
            },
        );
        assert_eq!(error.unwrap_err().code(), "ERR_NOT_A_STORE");
        store
            .maintenance()
            .unwrap()
            .backup(home.path(&name))
            .unwrap();
        assert_eq!(files(&home.path(&name).join("ledger")), segments);
        assert_eq!(told(&home.open(&name)), expected);
    }
}

#[test]
fn what_follows_the_end_of_a_segment_is_added_whole_or_not_at_all() {
    let home = Home::new();
    filled(&home);
    let store = home.open("s");
    let back_up = |name: &str| {
        store
            .maintenance()
            .unwrap()
            .backup(home.path(name))
            .unwrap()
    };
    back_up("old");
    let old = files(&home.path("old/ledger"));
    let before = told(&home.open("old"));
    let (segment, beginning) = old.last().unwrap();
    store.put(draft(300)).unwrap();
    back_up("new");
    let new = files(&home.path("new/ledger"));
    let whole = &new.iter().find(|(name, _)| name == segment).unwrap().1;
    assert!(whole.len() > beginning.len() && whole.starts_with(beginning));
    let mut rest = (beginning.len() as u64).to_be_bytes().to_vec();
    rest.extend_from_slice(&whole[beginning.len()..]);

    // Without the mark nothing of it is there, and the next backup writes it anew.
    let ledger = home.path("old/ledger");
    let beside = ledger.join(format!("{segment}.rest"));
    fs::write(&beside, &rest[..rest.len() / 2]).unwrap();
    assert_eq!(told(&home.open("old")), before);
    let again = back_up("old");
    assert_eq!(again.bytes, rest.len() as u64 - 8);
    assert_eq!(files(&ledger), new);
    // With it all is there for the next that opens it, and a reader, who changes nothing, sees what there was.
    for added in [0, rest.len() / 2, rest.len() - 8] {
        fs::write(ledger.join(segment), &whole[..beginning.len() + added]).unwrap();
        fs::write(&beside, &rest).unwrap();
        fs::write(ledger.join("REPLACE"), "").unwrap();
        drop(fs::remove_file(home.path("old/END")));
        let read_only = Store::open(home.path("old"), options().read_only()).unwrap();
        assert!(
            [&before, &told(&store)].contains(&&told(&read_only)),
            "{added}"
        );
        drop(read_only);
        assert!(beside.exists());
        assert_eq!(told(&home.open("old")), told(&store), "{added}");
        assert_eq!(files(&ledger), new, "{added}");
    }
}

/// Changes one byte in the middle of a file.
fn rot(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let at = bytes.len() / 2;
    bytes[at] ^= 0x20;
    fs::write(path, bytes).unwrap();
}

#[test]
fn rot_is_never_copied_over_a_good_backup_and_rot_in_a_backup_is_replaced() {
    let home = Home::new();
    filled(&home);
    let store = home.open("s");
    let back_up = || store.maintenance().unwrap().backup(home.path("b"));
    back_up().unwrap();
    let good = files(&home.path("b/ledger"));
    let names: Vec<_> = good.iter().map(|(name, _)| name.clone()).collect();
    assert!(names.len() > 3);
    for name in &names {
        // In the backup: compared with what is here, and written again.
        let there = home.path("b/ledger").join(name);
        rot(&there);
        assert_ne!(files(&home.path("b/ledger")), good);
        assert_eq!(back_up().unwrap().segments, 1, "{name:?}");
        assert_eq!(files(&home.path("b/ledger")), good, "{name:?}");
        // In the store: refused, whether the backup has the segment or not.
        let here = home.path("s/ledger").join(name);
        let before = fs::read(&here).unwrap();
        rot(&here);
        assert_eq!(
            back_up().unwrap_err().code(),
            "ERR_STORAGE_DAMAGED",
            "{name:?}"
        );
        assert_eq!(files(&home.path("b/ledger")), good, "{name:?}");
        let elsewhere = store.maintenance().unwrap().backup(home.path("c"));
        assert!(elsewhere.is_err() && !home.path("c/MANIFEST").exists());
        fs::write(&here, before).unwrap();
    }
    assert_eq!(back_up().unwrap().segments, 0);
}

#[test]
fn rot_in_the_last_header_of_a_backup_is_told_from_another_history() {
    let home = Home::new();
    filled(&home);
    let store = home.open("s");
    let back_up = || store.maintenance().unwrap().backup(home.path("b"));
    back_up().unwrap();
    let good = files(&home.path("b/ledger"));
    for (name, bytes) in &good {
        let path = home.path("b/ledger").join(name);
        // The last entry ends with its body; its header lies before.
        let mut rotten = bytes.clone();
        let at = bytes.len() - 200;
        rotten[at..].iter_mut().for_each(|byte| *byte ^= 1);
        fs::write(&path, &rotten).unwrap();
        let error = back_up().unwrap_err();
        assert_eq!(error.code(), "ERR_STORAGE_DAMAGED", "{error}");
        assert!(error.to_string().contains(name.as_str()), "{error}");
        assert_eq!(fs::read(&path).unwrap(), rotten, "nothing is changed");
        // As the message says.
        fs::remove_file(&path).unwrap();
        back_up().unwrap();
        assert_eq!(files(&home.path("b/ledger")), good);
    }
}
