//! A store made anew of another, as it was at a moment.

use grainstore::store::{Create, Until};

use super::*;

use crate::sample::addresses_of;

fn restore(home: &Home, to: &str, until: Until) -> (Store, grainstore::store::Restored) {
    grainstore::recovery::restore(home.path("b"), home.path(to), until, options()).unwrap()
}

/// A store at times 1, 2, 3, …, and what it said after each batch: entries, time, told.
type Moment = (u64, i64, Vec<(ContentAddress, Status)>);

fn history(home: &Home) -> Vec<Moment> {
    let (clocked, clock) = at(0);
    let options = Options {
        clock: clocked.clock,
        ..options()
    };
    let store = Store::open(home.path("s"), options).unwrap();
    let mut moments = vec![(0, 0, Vec::new())];
    let mut last = None;
    for n in 0..24_usize {
        let time = i64::try_from(n).unwrap() * 10 + 10;
        clock.set(time);
        match (n % 4, last) {
            (3, Some(old)) => {
                let newer = draft(500 + n).derived_from(old);
                last = Some(store.supersede(&old, newer, None).unwrap());
            }
            _ => {
                let drafts = (0..=n % 3).map(|nth| draft(n * 3 + nth));
                last = addresses_of(&store.put_batch(drafts).unwrap()).pop();
            }
        }
        moments.push((
            store.maintenance().unwrap().stats().unwrap().entries,
            time,
            told(&store),
        ));
    }
    store.maintenance().unwrap().backup(home.path("b")).unwrap();
    moments
}

#[test]
fn a_store_restored_at_any_frame_is_the_fold_of_what_was_before() {
    let home = Home::new();
    let moments = history(&home);
    let (whole, _, _) = moments.last().unwrap();
    let source = files(&home.path("b/ledger"));
    for entries in 0..*whole {
        let name = format!("e{entries}");
        let (store, restored) = restore(&home, &name, Until::Entries(entries));
        let (kept, _, expected) = moments.iter().rfind(|(kept, ..)| *kept <= entries).unwrap();
        assert_eq!((restored.entries, restored.left), (*kept, whole - kept));
        assert_eq!(&told(&store), expected, "{entries}");
        assert_eq!(
            store.maintenance().unwrap().stats().unwrap().entries,
            kept + 1,
            "and that it was restored"
        );
        assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
        store.put(draft(999)).unwrap();
    }
    for (nth, (kept, time, expected)) in moments[..moments.len() - 1].iter().enumerate() {
        for (after, name) in [(0, "at"), (9, "behind")] {
            let until = Until::Time(Time::from_ms(time + after));
            let (store, restored) = restore(&home, &format!("{name}{nth}"), until);
            assert_eq!(restored.entries, *kept);
            assert_eq!(&told(&store), expected, "{time}");
        }
    }
    let (store, restored) = restore(&home, "all", Until::End);
    assert_eq!((restored.entries, restored.left), (*whole, 0));
    assert_eq!(told(&store), moments.last().unwrap().2);
    assert_eq!(
        files(&home.path("b/ledger")),
        source,
        "the backup is as it was"
    );
}

#[test]
fn a_restored_store_is_the_same_store_with_another_history() {
    let home = Home::new();
    let moments = history(&home);
    let old = home.open("s");
    let old = (old.maintenance().unwrap().stats().unwrap(), old);
    let (new, _) = restore(&home, "new", Until::Entries(moments[5].0));
    assert_eq!(
        new.maintenance().unwrap().stats().unwrap().store_id,
        old.0.store_id
    );
    assert_ne!(new.maintenance().unwrap().stats().unwrap().head, old.0.head);
    // The old backup is not overwritten by the new history.
    let error = new
        .maintenance()
        .unwrap()
        .backup(home.path("b"))
        .unwrap_err();
    assert_eq!(error.code(), "ERR_BACKUP_DIVERGED");
    new.maintenance().unwrap().backup(home.path("b2")).unwrap();
    drop(new);
    let again =
        grainstore::recovery::restore(home.path("b2"), home.path("n2"), Until::End, options());
    assert_eq!(told(&again.unwrap().0), moments[5].2);
}

#[test]
fn what_was_erased_after_the_moment_is_erased_again() {
    let home = Home::new();
    let moments = history(&home);
    let (kept, ..) = moments[6];
    erase(&home.path("s"), &[0, 4, kept + 2], Vec::new());
    let store = home.open("s");
    let unerased = fs::read(home.path("b/ledger/0000000000000001.seg")).unwrap();
    assert!(unerased.windows(7).any(|part| part == b"thing0 "));
    store.maintenance().unwrap().backup(home.path("b")).unwrap();
    drop(store);
    // From the store itself, and from a backup of it.
    for (nth, from) in ["s", "b"].into_iter().enumerate() {
        let to = home.path(&format!("new{nth}"));
        let until = Until::Entries(kept);
        let restored = grainstore::recovery::restore(home.path(from), &to, until, options());
        let (store, restored) = restored.unwrap();
        assert_eq!((restored.entries, restored.erasures), (kept, 1));
        let entries = store.maintenance().unwrap().stats().unwrap().entries;
        drop(store);
        for (_, bytes) in files(&to.join("ledger")) {
            assert!(!bytes.windows(7).any(|part| part == b"thing0 "));
        }
        let store = Store::open(&to, options()).unwrap();
        assert!(store.maintenance().unwrap().stats().unwrap().entries >= entries.min(kept + 2));
        let last: Vec<u8> = files(&to.join("ledger")).pop().unwrap().1;
        assert!(
            last.windows(32).any(|part| part == [7; 32]),
            "what else it says stays"
        );
    }
}

#[test]
fn what_an_erasure_said_again_about_other_grains_is_said_again() {
    let home = Home::new();
    let store = home.open("s");
    let old = store.put(draft(0)).unwrap();
    store
        .supersede(&old, draft(1).derived_from(old), None)
        .unwrap();
    let other = store.put(draft(2)).unwrap();
    // Of a frame of its own, and nothing of the erasure.
    store.contradict(&other, None).unwrap();
    drop(store);
    let ended = Map::from_iter([
        ("a", Value::Bytes(old.as_bytes().to_vec())),
        ("svt", 1_000.into()),
    ]);
    erase(&home.path("s"), &[1, 2], vec![ended]);
    let until = Until::Entries(4);
    let restored = grainstore::recovery::restore(home.path("s"), home.path("n"), until, options());
    let (store, restored) = restored.unwrap();
    assert_eq!((restored.entries, restored.erasures), (4, 1));
    assert!(!store.status(&old).unwrap().is_current());
    assert_eq!(store.status(&old).unwrap().superseded_by, None);
    assert!(store.status(&other).unwrap().is_current());
    assert_eq!(told(&store).len(), 2);
}

#[test]
fn a_moment_at_which_the_backup_ends_takes_the_callers_word() {
    let home = Home::new();
    let moments = history(&home);
    let (whole, time, expected) = moments.last().unwrap();
    for until in [
        Until::Entries(*whole),
        Until::Entries(whole + 9),
        Until::Time(Time::from_ms(*time)),
    ] {
        let refused =
            grainstore::recovery::restore(home.path("b"), home.path("new"), until, options());
        assert_eq!(refused.unwrap_err().code(), "ERR_LOST_ERASURES");
        assert!(!home.path("new").exists());
    }
    let until = Until::Entries(*whole);
    let accepted = grainstore::recovery::restore_accepting_lost_erasures(
        home.path("b"),
        home.path("new"),
        until,
        options(),
    );
    assert_eq!(&told(&accepted.unwrap().0), expected);
}

#[test]
fn a_restore_writes_into_an_empty_directory_only_and_reads_no_damaged_segment() {
    let home = Home::new();
    history(&home);
    let code = |from: &str, to: &str| {
        let restored =
            grainstore::recovery::restore(home.path(from), home.path(to), Until::End, options());
        restored
            .map(|_| "restored")
            .unwrap_or_else(|error| error.code().as_str())
    };
    fs::create_dir(home.path("empty")).unwrap();
    assert_eq!(code("b", "empty"), "restored");
    assert_eq!(code("b", "empty"), "ERR_STORE_EXISTS");
    fs::create_dir(home.path("photos")).unwrap();
    fs::write(home.path("photos/cat.jpg"), "meow").unwrap();
    assert_eq!(code("b", "photos"), "ERR_NOT_A_STORE");
    assert_eq!(code("none", "new"), "ERR_NOT_A_STORE");
    let open = home.open("s");
    assert_eq!(code("s", "new"), "ERR_STORE_LOCKED");
    drop(open);
    let path = home.path("b/ledger/0000000000000002.seg");
    let mut bytes = fs::read(&path).unwrap();
    // A damaged body is blanked and told (`store::rot`); without its header a segment is not read.
    bytes[10] ^= 1;
    fs::write(&path, bytes).unwrap();
    assert_eq!(code("b", "new"), "ERR_STORAGE_DAMAGED");
    assert!(!home.path("new").exists());
    let never = Options {
        create: Create::Never,
        ..options()
    };
    assert!(Store::open(home.path("new"), never).is_err());
}

/// Makes the directory that a restore of `b` leaves when it is killed after `bytes` of a segment.
fn interrupted(home: &Home, name: &str, bytes: Option<usize>) {
    let manifest = fs::read(home.path("b/MANIFEST")).unwrap();
    let path = home.path(name);
    fs::create_dir(&path).unwrap();
    fs::write(path.join("LOCK"), "1 elsewhere").unwrap();
    let Some(bytes) = bytes else {
        // Not all of the announced manifest was written.
        fs::write(path.join("MANIFEST.new"), &manifest[..9]).unwrap();
        return;
    };
    fs::write(path.join("MANIFEST.new"), manifest).unwrap();
    fs::create_dir(path.join("ledger")).unwrap();
    let segment = fs::read(home.path("b/ledger/0000000000000001.seg")).unwrap();
    let segment = &segment[..bytes.min(segment.len())];
    for number in [1, 7] {
        fs::write(path.join(format!("ledger/{number:016}.seg")), segment).unwrap();
    }
}

#[test]
fn a_restore_that_was_interrupted_is_done_by_the_next_one() {
    let home = Home::new();
    let moments = history(&home);
    let (_, _, expected) = moments.last().unwrap();
    for (nth, bytes) in [None, Some(0), Some(40), Some(900), Some(usize::MAX)]
        .into_iter()
        .enumerate()
    {
        let name = format!("killed {nth}");
        interrupted(&home, &name, bytes);
        let never = Options {
            create: Create::Never,
            ..options()
        };
        assert!(Store::open(home.path(&name), never).is_err(), "no store");
        let (store, _) = restore(&home, &name, Until::End);
        assert_eq!(&told(&store), expected, "{name}");
        let report = store.maintenance().unwrap().check().unwrap();
        assert!(report.findings.is_empty(), "{:?}", report.findings);
        drop(store);
        assert!(!home.path(&name).join("MANIFEST.new").exists());
    }
}

/// A name, and a change of a directory.
type Plant<'a> = (&'a str, &'a dyn Fn(&Path));

#[test]
fn a_restore_replaces_nothing_but_what_a_restore_of_the_same_store_left() {
    let home = Home::new();
    history(&home);
    let other = Store::open(home.path("other"), options()).unwrap();
    other.put(draft(1)).unwrap();
    drop(other);
    let plants: [Plant<'_>; 5] = [
        ("the manifest of another store", &|path| {
            fs::copy(home.path("other/MANIFEST"), path.join("MANIFEST.new")).unwrap();
        }),
        ("no manifest", &|path| {
            fs::remove_file(path.join("MANIFEST.new")).unwrap();
        }),
        ("a part of the manifest, and segments", &|path| {
            fs::write(path.join("MANIFEST.new"), "{\"format\"").unwrap();
        }),
        ("a file of the user", &|path| {
            fs::write(path.join("cat.jpg"), "meow").unwrap();
        }),
        ("a file of the user beside the segments", &|path| {
            fs::write(path.join("ledger/cat.jpg"), "meow").unwrap();
        }),
    ];
    for (what, plant) in plants {
        interrupted(&home, what, Some(40));
        let path = home.path(what);
        plant(&path);
        let held = || {
            let names = fs::read_dir(&path).unwrap();
            let mut names: Vec<_> = names.map(|item| item.unwrap().path()).collect();
            names.sort();
            let tops = names.iter().filter(|path| path.is_file());
            let tops: Vec<_> = tops.map(|path| fs::read(path).unwrap()).collect();
            (names, tops, files(&path.join("ledger")))
        };
        let before = held();
        let refused = grainstore::recovery::restore(home.path("b"), &path, Until::End, options());
        assert_eq!(refused.unwrap_err().code(), "ERR_NOT_A_STORE", "{what}");
        assert!(held() == before, "{what}");
    }
}
