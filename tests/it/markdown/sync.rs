//! A tree and stores in step: edits of either side flow, nothing that came in is lost, and an
//! interrupted step is completed.

use super::*;

mod files_left;
mod two_stores;

const OFFICE: grainstore::store::Authorization<'static> = grainstore::store::Authorization {
    reason: "asked",
    authority: "office",
};

type Stepped = Result<(Summary, ExportReport), grainstore::Error>;

fn try_sync(store: &Store, folder: &Path, dialect: Option<&str>) -> Stepped {
    let reading = ReadOptions {
        dialect: dialect.map(str::to_owned),
        scope: Some("tree".to_owned()),
        ..ReadOptions::default()
    };
    let writing = WriteOptions::default();
    store.admin()?.sync_tree(folder, &reading, &writing)
}

fn sync(store: &Store, folder: &Path) -> (Summary, ExportReport) {
    try_sync(store, folder, None).unwrap()
}

/// Brings both in step, and holds the next step to change nothing.
fn settled(store: &Store, folder: &Path) -> Summary {
    let (summary, _) = sync(store, folder);
    let (again, written) = sync(store, folder);
    assert_eq!(counts(&again)[..2], [0, 0], "{again:?}");
    assert_eq!(written.files, 0, "{:?}", files(folder));
    summary
}

fn edit(folder: &Path, path: &str, from: &str, to: &str) {
    let text = fs::read_to_string(folder.join(path)).unwrap();
    assert!(text.contains(from), "{text}");
    write(folder, path, &text.replace(from, to));
}

fn find(store: &Store, object: &str) -> Grain {
    let found = store.query(&Filter::new().object(object), 9, None).unwrap();
    assert_eq!(found.results.len(), 1, "{object} {:?}", said(store));
    found.results[0].grain.clone()
}

/// Says something else in the place of a grain, as any program does: without what it had of a tree.
fn replace(store: &Store, object: &str, by: &str) {
    let old = find(store, object);
    let new = Draft::belief(
        old.text("subject").unwrap(),
        old.text("relation").unwrap(),
        by,
    )
    .confidence(1.0)
    .derived_from(old.address());
    store.supersede(&old.address(), new, None).unwrap();
}

fn text(folder: &Path) -> String {
    files(folder).into_values().collect()
}

fn in_step(dialect: &str) -> (Store, TempDir) {
    let store = memory();
    for (object, at) in [("npm", 1), ("tea", 2), ("Graz", 3)] {
        let draft = Draft::belief("Ana", "likes", object).confidence(1.0);
        store.put(draft.created_at(Time::from_ms(at))).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    try_sync(&store, folder.path(), Some(dialect)).unwrap();
    (store, folder)
}

/// The file of what is believed about Ana.
fn note(folder: &TempDir, dialect: &str) -> String {
    if ["codex", "openclaw", "hermes"].contains(&dialect) {
        return "MEMORY.md".to_owned();
    }
    let mut found = files(folder.path()).into_keys();
    found.find(|it| it.ends_with("Ana.md")).unwrap()
}

#[test]
fn a_tree_in_step_is_written_once() {
    for dialect in DIALECTS {
        let store = sample();
        let folder = tempfile::tempdir().unwrap();
        let before = said(&store);
        try_sync(&store, folder.path(), Some(dialect)).unwrap();
        settled(&store, folder.path());
        let mut after = said(&store);
        after.retain(|it| before.contains(it) || !it.contains("\"links_to\""));
        assert_eq!(after, before, "{dialect}");
    }
}

#[test]
fn an_edit_of_either_side_reaches_the_other() {
    for dialect in DIALECTS {
        let (store, folder) = in_step(dialect);
        let note = note(&folder, dialect);
        replace(&store, "npm", "pnpm");
        edit(folder.path(), &note, "tea", "coffee");
        let summary = settled(&store, folder.path());
        assert!(summary.conflicts.is_empty(), "{dialect} {summary:?}");
        let expected = ["Graz", "coffee", "pnpm"].map(|it| format!("\"Ana\" \"likes\" \"{it}\""));
        assert_eq!(said(&store), expected, "{dialect}");
        let text = fs::read_to_string(folder.path().join(&note)).unwrap();
        let places = ["pnpm", "coffee", "Graz"].map(|it| {
            text.find(&format!("likes: {it}"))
                .or(text.find(&format!("[likes] {it}")))
                .unwrap()
        });
        assert!(places.is_sorted(), "{dialect} {text}");
        // Once more, of what each has from the other.
        replace(&store, "coffee", "cocoa");
        edit(folder.path(), &note, "pnpm", "yarn");
        let summary = settled(&store, folder.path());
        assert!(summary.conflicts.is_empty(), "{dialect} {summary:?}");
        let expected = ["Graz", "cocoa", "yarn"].map(|it| format!("\"Ana\" \"likes\" \"{it}\""));
        assert_eq!(said(&store), expected, "{dialect}");
    }
}

#[test]
fn what_ends_on_one_side_leaves_the_other_and_its_history() {
    for dialect in ["okf", "openclaw"] {
        let (store, folder) = in_step(dialect);
        let note = ["subjects/Ana.md", "MEMORY.md"];
        let note = note
            .into_iter()
            .find(|it| folder.path().join(it).exists())
            .unwrap();
        store
            .contradict(&find(&store, "npm").address(), None)
            .unwrap();
        let tea = find(&store, "tea").address();
        edit(folder.path(), note, "- likes: tea\n", "");
        settled(&store, folder.path());
        assert_eq!(said(&store), ["\"Ana\" \"likes\" \"Graz\""], "{dialect}");
        assert!(!text(folder.path()).contains("npm"), "{dialect}");
        let ended = store.status(&tea).unwrap().superseded_by.unwrap();
        let ended = store.get(&ended).unwrap().unwrap();
        assert!(ended.field("valid_to").is_some(), "{dialect}");
    }
}

#[test]
fn an_edit_on_both_sides_is_a_conflict_that_keeps_both() {
    for dialect in DIALECTS {
        let (store, folder) = in_step(dialect);
        let note = &note(&folder, dialect);
        replace(&store, "tea", "cocoa");
        edit(folder.path(), note, "tea", "coffee");
        let summary = settled(&store, folder.path());
        assert_eq!(summary.conflicts.len(), 1, "{dialect} {summary:?}");
        let both = [find(&store, "cocoa"), find(&store, "coffee")].map(|it| it.address());
        let admin = || store.admin().unwrap();
        let listed = admin().conflicts().unwrap();
        assert_eq!(listed.len(), 1, "{dialect} {listed:?}");
        assert!(
            both.iter().all(|it| listed[0].versions.contains(it)),
            "{dialect} {listed:?}"
        );
        let text = fs::read_to_string(folder.path().join(note)).unwrap();
        assert!(
            text.contains("cocoa") && text.contains("coffee"),
            "{dialect} {text}"
        );

        edit(folder.path(), note, "coffee", "mocha");
        settled(&store, folder.path());
        assert_eq!(find(&store, "cocoa").address(), both[0], "{dialect}");
        let by = store.status(&both[1]).unwrap().superseded_by;
        assert_eq!(by, Some(find(&store, "mocha").address()), "{dialect}");
    }
}

#[test]
fn an_erased_text_leaves_the_tree_and_comes_back_from_no_older_copy() {
    for dialect in DIALECTS {
        let (store, folder) = in_step(dialect);
        let older = files(folder.path());
        let npm = find(&store, "npm").address();
        store.admin().unwrap().delete(&npm, OFFICE).unwrap();
        sync(&store, folder.path());
        assert!(!text(folder.path()).contains("npm"), "{dialect}");
        for (path, text) in &older {
            write(folder.path(), path, text);
        }
        let (summary, _) = sync(&store, folder.path());
        assert_eq!(summary.erased.len(), 1, "{dialect} {summary:?}");
        assert!(!text(folder.path()).contains("npm"), "{dialect}");
        assert_eq!(said(&store).len(), 2, "{dialect}");
        settled(&store, folder.path());
    }
}

#[test]
fn a_text_that_an_item_was_edited_to_stays_erased_and_its_next_edit_comes_in() {
    for dialect in DIALECTS {
        let (store, folder) = in_step(dialect);
        let tea = find(&store, "tea").address();
        replace(&store, "npm", "pnpm");
        replace(&store, "tea", "cocoa");
        settled(&store, folder.path());
        let older = files(folder.path());
        let admin = || store.admin().unwrap();
        admin()
            .delete(&find(&store, "pnpm").address(), OFFICE)
            .unwrap();
        admin().delete(&tea, OFFICE).unwrap();
        settled(&store, folder.path());
        for (path, text) in &older {
            write(folder.path(), path, text);
        }
        sync(&store, folder.path());
        let note = note(&folder, dialect);
        assert!(!text(folder.path()).contains("pnpm"), "{dialect}");
        edit(folder.path(), &note, "cocoa", "mocha");
        sync(&store, folder.path());
        assert!(text(folder.path()).contains("mocha"), "{dialect}");
        let expected = ["Graz", "mocha"].map(|it| format!("\"Ana\" \"likes\" \"{it}\""));
        assert_eq!(said(&store), expected, "{dialect}");
        settled(&store, folder.path());
    }
}

#[test]
fn a_list_of_ones_own_keeps_its_lines_and_gains_those_of_new_notes() {
    let own = "# Mine\n\n- [Tools](tools.md) — my own words\n- [Old](old.md) — left\n\n## Later\n\nProse.\n";
    let note = |name: &str| {
        format!("---\nname: {name}\ndescription: d\nmetadata:\n  type: user\n---\nUse {name}.\n")
    };
    let folder = tree(&[
        ("MEMORY.md", own),
        ("tools.md", &note("Tools")),
        ("old.md", &note("Old")),
    ]);
    let store = memory();
    store
        .put(Draft::belief("Ana", "likes", "tea").confidence(1.0))
        .unwrap();
    settled(&store, folder.path());
    let list = || fs::read_to_string(folder.path().join("MEMORY.md")).unwrap();
    assert_eq!(list(), format!("{own}- [Ana](Ana.md) — likes: tea\n"));
    fs::remove_file(folder.path().join("old.md")).unwrap();
    write(folder.path(), "new.md", &note("New"));
    settled(&store, folder.path());
    assert!(
        list().contains("my own words") && list().contains("- [New](new.md)"),
        "{}",
        list()
    );
    // A line of a list is the text of its writer: it leaves with a note that leaves here.
    let page = store.query(&Filter::new().subject("New"), 9, None).unwrap();
    assert_eq!(page.results.len(), 1);
}

#[test]
fn a_step_that_was_interrupted_is_completed() {
    for dialect in DIALECTS {
        let (store, folder) = in_step(dialect);
        for subject in ["Ben", "Eve", "Zoe"] {
            store
                .put(Draft::belief(subject, "likes", "tea").confidence(1.0))
                .unwrap();
        }
        replace(&store, "npm", "pnpm");
        let blocked = match dialect {
            "okf" => "subjects/Eve.md.partial",
            "basic-memory" => "notes/Eve.md.partial",
            "obsidian" | "claude-code" => "Eve.md.partial",
            _ => "MEMORY.md.partial",
        };
        fs::create_dir_all(folder.path().join(blocked)).unwrap();
        assert!(try_sync(&store, folder.path(), None).is_err(), "{dialect}");
        fs::remove_dir(folder.path().join(blocked)).unwrap();
        let before = said(&store);
        settled(&store, folder.path());
        assert_eq!(said(&store), before, "{dialect}");
        assert_eq!(before.len(), 6, "{dialect}");
    }
}

/// A file of the memory tool.
fn memory_file(path: &str, text: &str) -> Draft {
    let object: grainstore::codec::Map = [("text", text)].into_iter().collect();
    Draft::belief(path, "memory_file", grainstore::codec::Value::Map(object)).confidence(1.0)
}

/// The texts of the files of the memory tool.
fn memory_texts(store: &Store) -> Vec<String> {
    let filter = Filter::new().relation("memory_file");
    let found = store.query(&filter, 9, None).unwrap();
    let grains = found.results.into_iter().map(|it| it.grain);
    let text = |grain: &Grain| {
        let object = grain.field("object")?.as_map()?;
        object.get("text")?.as_text().map(str::to_owned)
    };
    let mut all: Vec<String> = grains.filter_map(|it| text(&it)).collect();
    all.sort();
    all
}

const NOTE: &str = "---\nx: [\n---\n# Notes\n\n- tea\n- [[Ana]]";

#[test]
fn a_file_of_the_memory_tool_is_the_same_file_of_the_tree() {
    for dialect in DIALECTS {
        let store = memory();
        let first = memory_file("/memories/a/notes.md", NOTE);
        let first = store.put(first).unwrap();
        store.put(memory_file("/memories/data.xml", "")).unwrap();
        let folder = tempfile::tempdir().unwrap();
        try_sync(&store, folder.path(), Some(dialect)).unwrap();
        settled(&store, folder.path());
        let written = files(folder.path());
        assert_eq!(written["memories/a/notes.md"], NOTE, "{dialect}");
        assert_eq!(written["memories/data.xml"], "", "{dialect}");

        edit(folder.path(), "memories/a/notes.md", "tea", "coffee");
        write(folder.path(), "memories/new.txt", "new\n");
        settled(&store, folder.path());
        let coffee = NOTE.replace("tea", "coffee");
        assert_eq!(memory_texts(&store), ["", &*coffee, "new\n"], "{dialect}");

        let second = store.status(&first).unwrap().superseded_by.unwrap();
        let third = memory_file("/memories/a/notes.md", "milk\n").derived_from(second);
        store.supersede(&second, third, None).unwrap();
        fs::remove_file(folder.path().join("memories/data.xml")).unwrap();
        settled(&store, folder.path());
        let written = files(folder.path());
        assert_eq!(written["memories/a/notes.md"], "milk\n", "{dialect}");
        assert!(!written.contains_key("memories/data.xml"), "{dialect}");
        assert_eq!(memory_texts(&store), ["milk\n", "new\n"], "{dialect}");
    }
}
