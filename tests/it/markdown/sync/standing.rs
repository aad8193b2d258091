//! Files that are as the last step left them: they are not read, and a file that only looks so is.

use std::sync::Arc;
use std::time::Duration;

use grainstore::store::{Clock, SystemClock};

use super::*;

/// A clock that is an hour ahead of the times of files: none of them is too new to be relied on.
#[derive(Debug)]
struct Ahead;

impl Clock for Ahead {
    fn now(&self) -> Time {
        Time::from_ms(SystemClock.now().ms() + 3_600_000)
    }
}

/// A store that relies on the times of files at once.
pub(super) fn relying() -> Store {
    Store::in_memory(Options {
        clock: Arc::new(Ahead),
        ..Options::default()
    })
    .unwrap()
}

/// Waits until a write has another time than the one before: the clock of files ticks.
pub(super) fn tick() {
    std::thread::sleep(Duration::from_millis(12));
}

fn crowd(count: usize) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..count {
        let path = format!("{}/n{number}.md", number % 10);
        write(folder.path(), &path, &format!("- fact {number}\n"));
    }
    folder
}

/// What a step read: the records that came in, and those that were here.
fn was_read(store: &Store, folder: &Path) -> u64 {
    let (summary, _) = sync(store, folder);
    counts(&summary).iter().sum()
}

#[test]
fn a_step_reads_what_changed_since_the_last_one_and_nothing_else() {
    let (store, folder) = (relying(), crowd(100));
    assert!(was_read(&store, folder.path()) >= 100);
    let entries = || store.maintenance().unwrap().stats().unwrap().entries;
    sync(&store, folder.path());
    let before = entries();
    assert_eq!(was_read(&store, folder.path()), 0);
    assert_eq!(entries(), before, "a step without a change leaves no trace");

    tick();
    edit(folder.path(), "3/n33.md", "fact 33", "fact x");
    assert_eq!(was_read(&store, folder.path()), 1);
    assert_eq!(find(&store, "fact x").text("subject"), Some("n33"));
    sync(&store, folder.path());
    assert_eq!(was_read(&store, folder.path()), 0);

    // What changes in the store is written, though no file of it was read.
    replace(&store, "fact 44", "fact y");
    let (_, written) = sync(&store, folder.path());
    assert_eq!(written.files, 2, "the note and the index");
    let text = fs::read_to_string(folder.path().join("4/n44.md")).unwrap();
    assert_eq!(text, "- fact y\n");
    settled(&store, folder.path());
    fs::remove_file(folder.path().join("5/n55.md")).unwrap();
    let (summary, _) = sync(&store, folder.path());
    assert!(!summary.ended.is_empty(), "{summary:?}");
    assert_eq!(said(&store).len(), 99);
}

#[test]
fn a_text_that_was_erased_leaves_a_file_that_was_not_read() {
    let (store, folder) = (relying(), crowd(10));
    settled(&store, folder.path());
    let admin = || store.admin().unwrap();
    let gone = find(&store, "fact 4").address();
    admin().delete(&gone, OFFICE).unwrap();
    settled(&store, folder.path());
    assert!(!text(folder.path()).contains("fact 4"));
    // The file itself is erased too, and its text is of no other grain: it comes in again.
    let states = Filter::new().with_envelopes().of_type(Type::State);
    for found in store.query(&states, 99, None).unwrap().results {
        admin().delete(&found.address, OFFICE).unwrap();
    }
    sync(&store, folder.path());
    assert_eq!(said(&store).len(), 9);
    settled(&store, folder.path());
}

#[test]
fn a_file_that_was_rewritten_within_the_same_timestamp_is_noticed() {
    for (store, ticks) in [(memory(), false), (relying(), true)] {
        let folder = tree(&[("a.md", "- one\n"), ("b.md", "- two\n")]);
        let path = folder.path().join("a.md");
        settled(&store, folder.path());
        for (number, text) in ["- uno\n", "- eins\n", "- jeden\n", "- egy\n"]
            .iter()
            .enumerate()
        {
            let times = fs::metadata(&path).unwrap().modified().unwrap();
            // Where the clock does not tick, the file is too new to be relied on.
            if ticks {
                tick();
            }
            fs::write(&path, text).unwrap();
            let file = fs::File::options().write(true).open(&path).unwrap();
            file.set_modified(times).unwrap();
            let (summary, _) = sync(&store, folder.path());
            assert_eq!(summary.updated, 1, "{number} {summary:?}");
        }
        assert_eq!(
            said(&store),
            ["\"a\" \"note\" \"egy\"", "\"b\" \"note\" \"two\""]
        );
    }
}

#[test]
fn an_option_that_reads_more_reads_everything_again() {
    let store = relying();
    let folder = tree(&[("a.md", "- one\n"), ("CLAUDE.md", "- obey\n")]);
    settled(&store, folder.path());
    assert_eq!(said(&store).len(), 1);
    let reading = ReadOptions {
        scope: Some("tree".to_owned()),
        with_instructions: true,
        ..ReadOptions::default()
    };
    let admin = store.admin().unwrap();
    let stepped = admin.sync_tree(folder.path(), &reading, &WriteOptions::default());
    assert_eq!(stepped.unwrap().0.inserted, 1);
}

#[test]
fn a_belief_that_ran_out_leaves_a_tree_in_which_nothing_changed() {
    let store = relying();
    let soon = Ahead.now().ms() + 400;
    for (object, end) in [("tea", soon), ("milk", soon + 3_600_000)] {
        let draft = Draft::belief("Ana", "likes", object).confidence(1.0);
        store.put(draft.valid_to(Time::from_ms(end))).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    settled(&store, folder.path());
    settled(&store, folder.path());
    assert!(text(folder.path()).contains("tea"));
    std::thread::sleep(Duration::from_millis(500));
    sync(&store, folder.path());
    assert!(
        !text(folder.path()).contains("tea"),
        "{}",
        text(folder.path())
    );
    assert!(text(folder.path()).contains("milk"));
}
