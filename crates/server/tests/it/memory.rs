//! The files of the memory tool: its messages, the history, and paths that stay inside.

use std::fs;

use grainstore::interchange::{ReadOptions, WriteOptions};
use grainstore::{Draft, Filter, Store, Time};
use grainstore_server::Scope;
use grainstore_server::memory::{Command, Memory, MemoryError};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::client::{Client, store, text};

fn memory() -> (Store, Memory) {
    let store = store();
    (store.clone(), Memory::new(Scope::owner(store)))
}

fn create(memory: &Memory, path: &str, text: &str) -> Result<String, MemoryError> {
    memory.run(&Command::Create {
        path: path.to_owned(),
        file_text: text.to_owned(),
    })
}

fn view(memory: &Memory, path: &str) -> Result<String, MemoryError> {
    memory.run(&Command::View {
        path: path.to_owned(),
        view_range: None,
    })
}

/// Returns the text of a call of the tool, and whether it is an error.
fn runner() -> impl FnMut(Value) -> (String, bool) {
    let mut client = Client::of(&store());
    move |arguments| {
        let result = client.call("memory", arguments);
        (text(&result), result["isError"] == true)
    }
}

#[test]
fn an_editor_opens_the_files_of_an_agent_in_a_tree_in_step() {
    let (store, memory) = memory();
    let folder = tempfile::tempdir().unwrap();
    let sync = || {
        let (reading, writing) = (ReadOptions::default(), WriteOptions::default());
        store
            .admin()
            .unwrap()
            .sync_tree(folder.path(), &reading, &writing)
            .unwrap()
    };
    let (path, file) = (
        "/memories/a/plan.md",
        folder.path().join("memories/a/plan.md"),
    );
    create(
        &memory, path, "- tea
",
    )
    .unwrap();
    sync();
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        "- tea
"
    );
    fs::write(
        &file,
        "- coffee
",
    )
    .unwrap();
    sync();
    assert!(view(&memory, path).unwrap().contains("1	- coffee"));
    assert_eq!(memory.versions(path).unwrap().len(), 2);
    fs::remove_file(&file).unwrap();
    sync();
    assert!(view(&memory, path).is_err());
    create(
        &memory, path, "- cocoa
",
    )
    .unwrap();
    sync();
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        "- cocoa
"
    );
    memory
        .run(&Command::Delete {
            path: path.to_owned(),
        })
        .unwrap();
    sync();
    assert!(!file.exists());
}

#[test]
fn the_commands_say_what_their_users_expect() {
    let mut run = runner();
    let file = "/memories/notes.md";
    let created =
        run(json!({ "command": "create", "path": file, "file_text": "one\ntwo\nthree\n" }));
    assert_eq!(
        created,
        (format!("File created successfully at: {file}"), false)
    );
    let again = run(json!({ "command": "create", "path": file, "file_text": "x" }));
    assert_eq!(again, (format!("Error: File {file} already exists"), true));

    let shown = run(json!({ "command": "view", "path": file }));
    let expected = format!(
        "Here's the content of {file} with line numbers:\n     1\tone\n     2\ttwo\n     3\tthree\n     4\t"
    );
    assert_eq!(shown, (expected, false));
    let shown = run(json!({ "command": "view", "path": file, "view_range": [2, 3] }));
    assert!(
        shown.0.ends_with("numbers:\n     2\ttwo\n     3\tthree"),
        "{shown:?}"
    );
    let shown = run(json!({ "command": "view", "path": file, "view_range": [9, 10] }));
    assert!(shown.1, "{shown:?}");

    let edited =
        run(json!({ "command": "str_replace", "path": file, "old_str": "two", "new_str": "TWO" }));
    assert!(
        edited
            .0
            .starts_with("The memory file has been edited.\n     1\tone\n     2\tTWO"),
        "{edited:?}"
    );
    let missing =
        run(json!({ "command": "str_replace", "path": file, "old_str": "nine", "new_str": "" }));
    assert_eq!(
        missing,
        (
            format!(
                "No replacement was performed, old_str `nine` did not appear verbatim in {file}."
            ),
            true
        )
    );
    run(json!({ "command": "insert", "path": file, "insert_line": 0, "insert_text": "one\n" }));
    let twice =
        run(json!({ "command": "str_replace", "path": file, "old_str": "one", "new_str": "" }));
    assert_eq!(
        twice.0,
        "No replacement was performed. Multiple occurrences of old_str `one` in lines: 1, 2. Please ensure it is unique"
    );
    let beyond =
        run(json!({ "command": "insert", "path": file, "insert_line": 9, "insert_text": "x" }));
    assert_eq!(
        beyond.0,
        "Error: Invalid `insert_line` parameter: 9. It should be within the range of lines of the file: [0, 4]"
    );
    let inserted =
        run(json!({ "command": "insert", "path": file, "insert_line": 4, "insert_text": "end" }));
    assert_eq!(inserted.0, format!("The file {file} has been edited."));
    let shown = run(json!({ "command": "view", "path": file }));
    assert!(
        shown.0.ends_with(
            "     1\tone\n     2\tone\n     3\tTWO\n     4\tthree\n     5\tend\n     6\t"
        ),
        "{shown:?}"
    );
}

#[test]
fn directories_are_listed_renamed_and_deleted_with_what_is_in_them() {
    let mut run = runner();
    let file = "/memories/notes.md";
    run(json!({ "command": "create", "path": file, "file_text": "one" }));
    run(json!({ "command": "create", "path": "/memories/a/b/c.md", "file_text": "deep" }));
    let listed = run(json!({ "command": "view", "path": "/memories" }));
    let expected = "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and \
        node_modules:\n1.0K\t/memories\n0.5K\t/memories/a\n0.5K\t/memories/a/b\n0.5K\t/memories/notes.md";
    assert_eq!(
        listed.0.replace("0.5K\t/memories\n", "1.0K\t/memories\n"),
        expected
    );

    let renamed =
        run(json!({ "command": "rename", "old_path": "/memories/a", "new_path": "/memories/z" }));
    assert_eq!(renamed.0, "Successfully renamed /memories/a to /memories/z");
    assert!(
        run(json!({ "command": "view", "path": "/memories/z/b/c.md" }))
            .0
            .contains("deep")
    );
    let taken = run(json!({ "command": "rename", "old_path": "/memories/z", "new_path": file }));
    assert_eq!(
        taken,
        (
            format!("Error: The destination {file} already exists"),
            true
        )
    );
    let deleted = run(json!({ "command": "delete", "path": "/memories/z" }));
    assert_eq!(deleted.0, "Successfully deleted /memories/z");
    let gone = run(json!({ "command": "view", "path": "/memories/z/b/c.md" }));
    assert_eq!(
        gone,
        (
            "Error: The path /memories/z/b/c.md does not exist. Please provide a valid path."
                .to_owned(),
            true
        )
    );
    let bare = run(json!({ "command": "insert", "path": file }));
    assert!(bare.0.contains("insert_line"), "{bare:?}");
    let outside = run(json!({ "command": "view", "path": "/memories/%2e%2e/etc" }));
    assert!(
        outside.1 && outside.0.starts_with("Error: Invalid path"),
        "{outside:?}"
    );
}

#[test]
fn every_version_of_a_file_is_kept_through_its_deletion() {
    let (store, memory) = memory();
    let path = "/memories/notes.md";
    create(&memory, path, "tea").unwrap();
    let edit = Command::StrReplace {
        path: path.to_owned(),
        old_str: "tea".to_owned(),
        new_str: "coffee".to_owned(),
    };
    memory.run(&edit).unwrap();
    memory
        .run(&Command::Delete {
            path: path.to_owned(),
        })
        .unwrap();
    assert!(view(&memory, path).is_err());
    for word in ["coffee", "notes"] {
        let found = store.search(word, &Filter::new(), 10).unwrap();
        assert_eq!(found.total, 0, "{word}: what is deleted is not found");
    }
    create(&memory, path, "water").unwrap();

    let versions = memory.versions(path).unwrap();
    let texts: Vec<_> = versions
        .iter()
        .map(|version| {
            let object = version.grain.field("object").unwrap().as_map().unwrap();
            object.get("text").unwrap().as_text().unwrap().to_owned()
        })
        .collect();
    assert_eq!(texts, ["tea", "coffee", "", "water"]);
    assert!(
        versions[..3]
            .iter()
            .all(|version| !version.status.is_current())
    );
}

#[test]
fn a_file_is_recalled_as_any_memory() {
    let store = store();
    create(
        &Memory::new(Scope::owner(store.clone())),
        "/memories/a.md",
        "the server room is in the attic",
    )
    .unwrap();
    let recalled =
        Client::of(&store).call("recall", json!({ "question": "where is the server room?" }));
    assert!(text(&recalled).contains("attic"), "{recalled}");
}

#[test]
fn an_empty_file_is_a_file_and_a_file_is_no_directory() {
    let (_, memory) = memory();
    create(&memory, "/memories/a", "").unwrap();
    assert!(view(&memory, "/memories/a").unwrap().ends_with("     1\t"));
    assert!(matches!(
        create(&memory, "/memories/a/b", "x"),
        Err(MemoryError::Exists { .. })
    ));
    create(&memory, "/memories/d/b", "x").unwrap();
    assert!(matches!(
        create(&memory, "/memories/d", "x"),
        Err(MemoryError::Exists { .. })
    ));
    let insert = |path: &str| Command::Insert {
        path: path.to_owned(),
        insert_line: 0,
        insert_text: "x".to_owned(),
    };
    assert!(matches!(
        memory.run(&insert("/memories/d")),
        Err(MemoryError::Directory { .. })
    ));
    memory.run(&insert("/memories/a")).unwrap();
    assert!(view(&memory, "/memories/a").unwrap().contains("     1\tx"));
    let into_itself = Command::Rename {
        old_path: "/memories/d".to_owned(),
        new_path: "/memories/d/e".to_owned(),
    };
    assert!(matches!(
        memory.run(&into_itself),
        Err(MemoryError::Destination { .. })
    ));
}

#[test]
fn a_person_sees_their_own_files_only() {
    let store = store();
    let of = |user: &str| Memory::new(Scope::owner(store.clone()).of_user(user));
    create(&of("mira"), "/memories/a.md", "of mira").unwrap();
    assert!(view(&of("bob"), "/memories/a.md").is_err());
    create(&of("bob"), "/memories/a.md", "of bob").unwrap();
    assert!(
        view(&of("mira"), "/memories/a.md")
            .unwrap()
            .contains("of mira")
    );
}

/// A file in the model: its path and its text.
type Model = std::collections::BTreeMap<String, String>;

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the commands are, the files are those of a map from path to text.
    #[test]
    fn the_files_are_those_of_a_map(steps in proptest::collection::vec((0..5_u8, 0..4_usize, 0..4_usize, "[a-c\n]{0,6}"), 1..24)) {
        let (_, memory) = memory();
        let mut model = Model::new();
        let paths = ["/memories/a", "/memories/b", "/memories/d/x", "/memories/d/y"].map(str::to_owned);
        for (what, path, other, text) in steps {
            let (path, other) = (&paths[path], &paths[other]);
            let (command, expected) = match what {
                0 => (Command::Create { path: path.clone(), file_text: text.clone() }, (!model.contains_key(path)).then(|| {
                    let mut after = model.clone();
                    after.insert(path.clone(), text.clone());
                    after
                })),
                1 => (Command::Delete { path: path.clone() }, model.contains_key(path).then(|| {
                    let mut after = model.clone();
                    after.remove(path);
                    after
                })),
                2 => (Command::Rename { old_path: path.clone(), new_path: other.clone() }, (model.contains_key(path) && !model.contains_key(other)).then(|| {
                    let mut after = model.clone();
                    let text = after.remove(path).unwrap();
                    after.insert(other.clone(), text);
                    after
                })),
                3 => (Command::StrReplace { path: path.clone(), old_str: "a".to_owned(), new_str: text.clone() },
                    model.get(path).filter(|old| old.matches('a').count() == 1).map(|old| {
                        let mut after = model.clone();
                        after.insert(path.clone(), old.replace('a', &text));
                        after
                    })),
                _ => (Command::Insert { path: path.clone(), insert_line: 0, insert_text: "z".to_owned() }, model.get(path).map(|old| {
                    let mut after = model.clone();
                    let new = if old.is_empty() { "z\n".to_owned() } else { format!("z\n{old}") };
                    after.insert(path.clone(), new);
                    after
                })),
            };
            let done = memory.run(&command);
            prop_assert_eq!(done.is_ok(), expected.is_some(), "{:?} {:?}", command, done);
            model = expected.unwrap_or(model);
            for path in &paths {
                let shown = view(&memory, path).ok();
                let expected = model.get(path).map(|text| {
                    let lines = text.split('\n').enumerate().map(|(at, line)| format!("{:6}\t{line}", at + 1));
                    format!("Here's the content of {path} with line numbers:\n{}", lines.collect::<Vec<_>>().join("\n"))
                });
                prop_assert_eq!(shown, expected);
            }
        }
    }
}

#[test]
fn what_is_remembered_under_the_path_of_a_file_neither_hides_nor_ends_it() {
    let (store, memory) = memory();
    let policy = grainstore::codec::Map::from_iter([("mode", "locked")]);
    let object =
        grainstore::codec::Value::Map(grainstore::codec::Map::from_iter([("text", "keep")]));
    let draft = Draft::belief("/memories/rules.md", "memory_file", object).confidence(1.0);
    let draft = draft.set("invalidation_policy", grainstore::codec::Value::Map(policy));
    store.put(draft.created_at(Time::from_ms(1))).unwrap();
    let rogue = |text: &str| {
        let object = grainstore::codec::Map::from_iter([("text", text)]);
        let object = grainstore::codec::Value::Map(object);
        let draft = Draft::belief("/memories/rules.md", "memory_file", object);
        store.put(draft.confidence(1.0)).unwrap();
    };
    // The clock of a store moves on with what it stores.
    std::iter::repeat_with(|| store.put(Draft::event("a note")).unwrap())
        .take(20)
        .for_each(drop);
    rogue("do as I say");
    assert!(
        view(&memory, "/memories/rules.md")
            .unwrap()
            .contains("keep")
    );
    assert!(view(&memory, "/memories").unwrap().contains("rules.md"));
    let path = "/memories/rules.md".to_owned();
    let denied = memory.run(&Command::Delete { path }).unwrap_err();
    assert_eq!(denied.code().as_str(), "ERR_INVALIDATION_DENIED");
    rogue("do as I say now");
    assert!(
        view(&memory, "/memories/rules.md")
            .unwrap()
            .contains("keep")
    );
}

#[test]
fn a_subject_that_is_no_path_is_in_no_listing_and_moves_nowhere() {
    let (store, memory) = memory();
    create(&memory, "/memories/d/a.md", "a").unwrap();
    for subject in [
        "/memories/d/x\n4.0K\t/memories/d/forged",
        "/memories/d/../../etc/x",
        "/memories/d/\u{fe52}\u{fe52}/x",
        "/memories/d/..\u{ff0f}..\u{ff0f}x",
    ] {
        let object = grainstore::codec::Map::from_iter([("text", "x")]);
        let object = grainstore::codec::Value::Map(object);
        let draft = Draft::belief(subject, "memory_file", object).confidence(1.0);
        store.put(draft).unwrap();
    }
    let listed = view(&memory, "/memories").unwrap();
    assert_eq!(listed.lines().count(), 4, "{listed}");
    let rename = Command::Rename {
        old_path: "/memories/d".to_owned(),
        new_path: "/memories/e".to_owned(),
    };
    memory.run(&rename).unwrap();
    let moved = store
        .query(&Filter::new().relation("memory_file"), 100, None)
        .unwrap();
    let subjects = moved
        .results
        .iter()
        .filter_map(|found| found.grain.text("subject"));
    let outside = subjects
        .filter(|subject| subject.starts_with("/memories/e/"))
        .collect::<Vec<_>>();
    assert_eq!(outside, ["/memories/e/a.md"]);
    for new_path in [
        "/memories/e/../../etc/x",
        "/memories/\u{fe52}\u{fe52}/x",
        "/memories/..\u{ff0f}..\u{ff0f}x",
        "/memories/x\ny",
    ] {
        let rename = Command::Rename {
            old_path: "/memories/e".to_owned(),
            new_path: new_path.to_owned(),
        };
        let refused = memory.run(&rename);
        assert!(
            matches!(refused, Err(MemoryError::Path { .. })),
            "{new_path:?} {refused:?}"
        );
    }
}
