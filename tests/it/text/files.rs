//! What a view leaves on disk, and what it makes of it.

use std::collections::BTreeMap;
use std::fs;

use super::*;

#[test]
fn the_watermark_moves_past_rows_without_text_and_survives_reopening() {
    let folder = tempfile::tempdir().unwrap();
    let (text, opened) = at(folder.path(), 0);
    assert_eq!(opened, OpenOutcome::Created);
    text.add(EntryId::new(3), Document::from("green tea"))
        .unwrap();
    text.advance(10);
    text.advance(5);
    assert_eq!(text.watermark(), 10);
    text.flush().unwrap();
    text.advance(12);
    text.flush().unwrap();
    text.add(EntryId::new(12), Document::from("lost tea"))
        .unwrap();
    drop(text);
    let (text, opened) = at(folder.path(), 12);
    assert_eq!((opened, text.watermark()), (OpenOutcome::Found, 12));
    assert_eq!(rows(&text, "tea"), [3]);
}

#[test]
fn a_feed_commits_as_it_goes_when_much_is_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let options = TextOptions {
        background: false,
        ..TextOptions::default()
    };
    let disk: Arc<dyn Disk> = Arc::new(FileDisk::new(folder.path()));
    let (text, _) = Text::open(&disk, 0, options).unwrap();
    let long = format!("tea {}", ".".repeat(17 << 20));
    feed(&text, [long.as_str(), &long, "tea"]);
    drop(text);
    let (text, opened) = at(folder.path(), 3);
    assert_eq!((opened, text.watermark()), (OpenOutcome::Found, 2));
    assert_eq!(rows(&text, "tea"), [0, 1]);
}

#[test]
#[cfg(target_os = "linux")]
fn segments_of_a_new_index_are_mapped_as_those_of_an_old_one() {
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().to_str().unwrap();
    for row in 0..2 {
        let (text, _) = at(folder.path(), row);
        text.add(EntryId::new(row), Document::from("green tea"))
            .unwrap();
        text.flush().unwrap();
        assert_eq!(rows(&text, "tea").len() as u64, row + 1);
        let maps = fs::read_to_string("/proc/self/maps").unwrap();
        assert!(maps.lines().any(|line| line.contains(name)), "{row}");
    }
}

#[test]
fn feeding_covered_rows_again_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (text, _) = at(folder.path(), 0);
    feed(&text, ["green tea", "tea"]);
    let once = search(&text, "green tea");
    for _ in 0..2 {
        text.add(EntryId::FIRST, Document::from("green tea"))
            .unwrap();
        text.add(EntryId::new(1), Document::from("tea")).unwrap();
        assert_eq!(search(&text, "green tea"), once);
        text.close().unwrap();
    }
    drop(text);
    let (text, _) = at(folder.path(), 2);
    text.add(EntryId::new(1), Document::from("tea")).unwrap();
    assert_eq!(search(&text, "green tea"), once);
}

#[test]
fn short_runs_leave_few_files() {
    let folder = tempfile::tempdir().unwrap();
    for row in 0..40 {
        let (text, _) = at(folder.path(), row);
        text.add(EntryId::new(row), Document::from("tea")).unwrap();
        text.close().unwrap();
    }
    let files = fs::read_dir(folder.path().join("text")).unwrap().count();
    assert!(files < 100, "{files} files");
    assert_eq!(search(&at(folder.path(), 40).0, "tea").total, 40);
}

#[test]
fn an_index_ahead_of_its_ledger_is_rebuilt() {
    let folder = tempfile::tempdir().unwrap();
    let (text, _) = at(folder.path(), 0);
    feed(&text, ["green", "tea"]);
    text.flush().unwrap();
    drop(text);
    let (text, opened) = at(folder.path(), 1);
    let reason = "it covers 2 entries of a ledger of 1".to_owned();
    assert_eq!(opened, OpenOutcome::Rebuilt { reason });
    assert_eq!((text.watermark(), search(&text, "tea").total), (0, 0));
}

#[test]
fn another_schema_is_rebuilt() {
    let folder = tempfile::tempdir().unwrap();
    let mut schema = tantivy::schema::Schema::builder();
    schema.add_text_field("text", tantivy::schema::TEXT);
    fs::create_dir(folder.path().join("text")).unwrap();
    tantivy::Index::create_in_dir(folder.path().join("text"), schema.build()).unwrap();
    let (text, opened) = at(folder.path(), 0);
    assert!(matches!(opened, OpenOutcome::Rebuilt { .. }), "{opened:?}");
    feed(&text, ["tea"]);
    text.flush().unwrap();
    assert_eq!(rows(&text, "tea"), [0]);
}

/// Every file of a sound index in turn is cut short, emptied, deleted and garbled.
#[test]
fn a_damaged_index_is_rebuilt_or_unharmed_and_never_wrong() {
    let sound = tempfile::tempdir().unwrap();
    let (text, _) = at(sound.path(), 0);
    feed(&text, ["green tea", "black tea", "coffee"]);
    text.flush().unwrap();
    feed(&text, ["white tea", ""]);
    text.flush().unwrap();
    let expected = search(&text, "tea +\"black tea\" white");
    drop(text);
    let files: BTreeMap<_, _> = fs::read_dir(sound.path().join("text"))
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name(), fs::read(entry.path()).unwrap()))
        .collect();
    let mut rebuilt = 0;
    for (name, bytes) in &files {
        let mut damages = vec![None, Some(Vec::new()), Some(b"\xff\0{".repeat(9))];
        for place in (0..bytes.len()).step_by(bytes.len() / 10 + 1) {
            let mut garbled = bytes.clone();
            garbled[place] ^= 0x15;
            damages.extend([Some(garbled), Some(bytes[..place].to_vec())]);
        }
        for damage in damages {
            let folder = tempfile::tempdir().unwrap();
            fs::create_dir(folder.path().join("text")).unwrap();
            let path_of = |name| folder.path().join("text").join(name);
            for (name, bytes) in &files {
                fs::write(path_of(name), bytes).unwrap();
            }
            let path = path_of(name);
            match damage {
                Some(bytes) => fs::write(path, bytes).unwrap(),
                None => fs::remove_file(path).unwrap(),
            }
            let (text, opened) = at(folder.path(), 5);
            if opened != OpenOutcome::Found {
                rebuilt += 1;
                assert_eq!(text.watermark(), 0);
                feed(&text, ["green tea", "black tea", "coffee", "white tea", ""]);
            }
            assert_eq!(
                search(&text, "tea +\"black tea\" white"),
                expected,
                "{name:?} {opened:?}"
            );
            text.close().unwrap();
        }
    }
    assert!(rebuilt > 100, "{rebuilt}");
}

#[test]
fn what_a_row_said_is_gone_from_the_files_once_it_is_erased() {
    let folder = tempfile::tempdir().unwrap();
    let (text, _) = at(folder.path(), 0);
    feed(&text, ["green tea", "the wombat sleeps", "tea again"]);
    text.flush().unwrap();
    feed(&text, ["a quokka smiles"]);
    assert_eq!(rows(&text, "wombat quokka"), [1, 3]);
    text.erase(&[1, 3].map(EntryId::new)).unwrap();
    assert_eq!(rows(&text, "wombat quokka"), [0_u64; 0]);
    assert_eq!(rows(&text, "tea"), [0, 2]);
    assert_eq!(text.watermark(), 4);
    text.close().unwrap();
    for file in fs::read_dir(folder.path().join("text")).unwrap() {
        let bytes = fs::read(file.unwrap().path()).unwrap();
        for word in ["wombat", "quokka"] {
            let there = bytes
                .windows(word.len())
                .any(|part| part == word.as_bytes());
            assert!(!there, "{word}");
        }
    }
    drop(text);
    let (text, opened) = at(folder.path(), 4);
    assert_eq!((opened, text.watermark()), (OpenOutcome::Found, 4));
    assert_eq!(rows(&text, "tea"), [0, 2]);
    text.erase(&[0, 2].map(EntryId::new)).unwrap();
    assert_eq!(search(&text, "tea").total, 0);
    drop(text);
    assert_eq!(at(folder.path(), 4).1, OpenOutcome::Found);
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder.join("text")).unwrap();
    entries
        .map(|entry| entry.unwrap())
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read(entry.path()).unwrap())
        })
        .collect()
}

#[test]
fn an_erasure_rewrites_only_the_segments_that_hold_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    let (text, _) = at(folder.path(), 0);
    for document in ["green tea", "black tea", "white tea"] {
        feed(&text, [document, "tea"]);
        text.flush().unwrap();
    }
    let before = files(folder.path());
    text.erase(&[EntryId::new(2)]).unwrap();
    let after = files(folder.path());
    let kept = before
        .iter()
        .filter(|(name, bytes)| after.get(*name) == Some(bytes));
    let per_segment = before.keys().filter(|name| name.ends_with(".idx")).count();
    assert_eq!(per_segment, 3);
    let files_of_one = (before.len() - 1) / 3;
    assert_eq!(kept.count(), 2 * files_of_one);
    let mut found = rows(&text, "tea");
    found.sort_unstable();
    assert_eq!(found, [0, 1, 3, 4, 5]);
}

/// A kill inside an erasure left such a file, and no later opening succeeded.
#[test]
fn files_that_no_list_names_do_not_keep_a_view_from_opening_and_go() {
    let folder = tempfile::tempdir().unwrap();
    let (text, _) = at(folder.path(), 0);
    feed(&text, ["green tea", "tea"]);
    text.flush().unwrap();
    drop(text);
    let sound = files(folder.path());
    let segment = sound
        .keys()
        .find_map(|name| name.strip_suffix(".idx"))
        .unwrap();
    let left = [
        format!("{segment}.3.del"),
        format!("{}.idx", "0".repeat(32)),
        ".managed.json".to_owned(),
        "meta.json.new".to_owned(),
    ];
    for name in &left {
        fs::write(folder.path().join("text").join(name), "tea").unwrap();
    }
    fs::write(folder.path().join("text/notes"), "not ours").unwrap();
    let (text, opened) = at(folder.path(), 2);
    assert_eq!(opened, OpenOutcome::Found);
    text.erase(&[EntryId::new(0)]).unwrap();
    assert_eq!(rows(&text, "tea"), [1]);
    let names = files(folder.path());
    assert!(left.iter().all(|name| !names.contains_key(name)));
    assert!(names.contains_key("notes"));
}
