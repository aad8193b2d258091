//! A vault of 300 notes as people keep them (test-vectors/markdown/vault): nothing of it is lost, and no byte
//! changes.

use super::*;

fn vault() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("test-vectors/markdown/vault")
}

/// The notes of a folder, by path: files of editors, and those of other programs, are none.
fn notes(folder: &Path) -> BTreeMap<String, String> {
    let mut notes = files(folder);
    notes.retain(|path, _| path.ends_with(".md") && !path.starts_with('.'));
    notes
}

fn composed(path: &str) -> String {
    path.replace("e\u{301}", "\u{e9}")
        .replace("e\u{300}", "\u{e8}")
}

#[test]
fn a_vault_comes_back_to_the_byte() {
    let before = notes(&vault());
    assert_eq!(before.len(), 300);
    let store = memory();
    let summary = store.import(reading(&vault(), Some("obsidian"))).unwrap();
    assert_eq!(summary.refusals(), 0, "{summary:?}");
    let out = tempfile::tempdir().unwrap();
    export(&store, out.path(), "obsidian");
    let after = files(out.path());
    for (path, text) in &before {
        assert_eq!(after.get(&composed(path)), Some(text), "{path}");
    }
    let again = store.import(reading(&vault(), Some("obsidian"))).unwrap();
    assert_eq!(counts(&again)[..2], [0, 0], "{again:?}");
}

#[test]
fn every_word_of_a_vault_is_found_again() {
    let store = memory();
    store.import(reading(&vault(), Some("obsidian"))).unwrap();
    // Text that is no item is in the State of its file.
    let mut kept = String::new();
    let mut after = None;
    let filter = Filter::new().with_envelopes();
    loop {
        let page = store.query(&filter, 500, after).unwrap();
        for found in page.results {
            let json = found.grain.to_json();
            kept.push_str(
                &json
                    .replace("\\\\", "\\")
                    .replace("\\n", "\n")
                    .replace("\\\"", "\""),
            );
        }
        after = page.next_cursor;
        if after.is_none() {
            break;
        }
    }
    for (path, text) in notes(&vault()) {
        let mut words = text.split(|c: char| !c.is_alphanumeric());
        let lost = words.find(|word| !word.is_empty() && !kept.contains(*word));
        assert_eq!(lost, None, "{path}");
    }
}

#[test]
fn a_vault_is_kept_in_step_without_a_change_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let all = files(&vault());
    for (path, text) in &all {
        write(folder.path(), path, text);
    }
    let store = memory();
    let options = ReadOptions {
        dialect: Some("obsidian".to_owned()),
        ..ReadOptions::default()
    };
    let sync = || {
        let admin = store.admin().unwrap();
        admin
            .sync_tree(folder.path(), &options, &WriteOptions::default())
            .unwrap()
    };
    let (summary, _) = sync();
    assert_eq!(summary.refusals(), 0, "{summary:?}");
    let stepped = files(folder.path());
    for (path, text) in &all {
        assert_eq!(stepped.get(path), Some(text), "{path}");
    }
    let (again, written) = sync();
    assert_eq!(
        (counts(&again)[..2].to_vec(), written.files),
        (vec![0, 0], 0),
        "{again:?}"
    );
}
