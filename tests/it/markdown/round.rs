//! Out and in again: nothing that a dialect can say is lost, and no byte changes.

use proptest::prelude::*;

use super::*;

#[test]
fn a_store_written_and_read_again_believes_the_same() {
    let store = sample();
    for dialect in DIALECTS {
        let folder = tempfile::tempdir().unwrap();
        let exported = export(&store, folder.path(), dialect);
        let again = memory();
        import(&again, folder.path());
        let mut before = said(&store);
        if dialect == "hermes" {
            let lost: Vec<_> = exported.loss.iter().collect();
            assert!(lost.contains(&("event", 3)), "{lost:?}");
            before = current(&store)
                .iter()
                .filter(|grain| grain.type_() == Type::Belief)
                .map(statement)
                .collect();
            before.sort();
        }
        let mut after = said(&again);
        after.retain(|it| !it.contains("\"links_to\""));
        assert_eq!(after, before, "{dialect}");
    }
}

#[test]
fn an_export_is_nothing_new_to_its_own_store() {
    for dialect in ["okf", "obsidian", "basic-memory", "claude-code"] {
        let store = sample();
        let folder = tempfile::tempdir().unwrap();
        export(&store, folder.path(), dialect);
        let before = said(&store);
        let summary = import(&store, folder.path());
        assert_eq!(counts(&summary)[1], 0, "{dialect}");
        assert_eq!(said(&store), before, "{dialect}");
    }
}

#[test]
fn the_same_store_is_the_same_bytes() {
    let store = sample();
    for dialect in DIALECTS {
        let [one, two] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        export(&store, one.path(), dialect);
        export(&store, two.path(), dialect);
        export(&store, two.path(), dialect);
        assert_eq!(files(one.path()), files(two.path()), "{dialect}");
    }
}

#[test]
fn a_written_tree_comes_back_to_the_byte() {
    let store = sample();
    for dialect in DIALECTS {
        let [one, two] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        export(&store, one.path(), dialect);
        let again = memory();
        import(&again, one.path());
        export(&again, two.path(), dialect);
        assert_eq!(files(one.path()), files(two.path()), "{dialect}");
    }
}

#[test]
fn notes_of_people_come_back_to_the_byte() {
    let vault = [
        (
            "Ana.md",
            "\u{feff}---\r\naliases: [A]\r\ncustom: {x: 1}\r\n---\r\n# Ana\r\n\r\n- likes [[tea]] #drinks\r\n- [ ] call\r\n\r\n",
        ),
        (
            "people/Ben.md",
            "Prose of *Ben*.\n\nMore, with `code`.\n\n## Facts\n* one\n* two\n  three\n",
        ),
        (
            "people/e\u{301}mile.md",
            "---\n&a [*a]\n---\ntext without end",
        ),
        (
            "Daily/2026-10-02.md",
            "# Friday\n- met Ana\n\n| a | b |\n|---|---|\n",
        ),
        ("empty.md", ""),
        ("heading.md", "# only\n"),
    ];
    let folder = tree(&vault);
    let store = memory();
    let summary = store
        .import(reading(folder.path(), Some("obsidian")))
        .unwrap();
    assert_eq!(summary.refusals(), 0, "{summary:?}");
    let out = tempfile::tempdir().unwrap();
    export(&store, out.path(), "obsidian");
    let written = files(out.path());
    for (path, text) in vault {
        let path = path.replace("e\u{301}", "\u{e9}");
        assert_eq!(written.get(&path).map(String::as_str), Some(text), "{path}");
    }
}

#[test]
fn the_sample_trees_come_back_to_the_byte() {
    for dialect in DIALECTS {
        let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("test-vectors/markdown");
        let store = memory();
        import(&store, &samples.join(dialect));
        assert!(said(&store).len() > 1, "{dialect}");
        let out = tempfile::tempdir().unwrap();
        export(&store, out.path(), dialect);
        let written = files(out.path());
        for (path, text) in files(&samples.join(dialect)) {
            assert_eq!(written.get(&path), Some(&text), "{dialect} {path}");
        }
    }
}

/// Lines, marks and words that a note may be made of.
fn body() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("- ".to_owned()),
        Just("* ".to_owned()),
        Just("\n".to_owned()),
        Just("\r\n".to_owned()),
        Just("  ".to_owned()),
        Just("# ".to_owned()),
        Just("## ".to_owned()),
        Just("```\n".to_owned()),
        Just("---\n".to_owned()),
        Just("§\n".to_owned()),
        Just("[[Ana]]".to_owned()),
        Just("works_at: ".to_owned()),
        Just("[x] ".to_owned()),
        "[a-z :é\"#`]{1,8}",
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn any_note_comes_back_to_the_byte(texts in prop::collection::vec(body(), 1..4), at in 0..7_usize) {
        let names: Vec<String> = (0..texts.len()).map(|number| format!("n{number}.md")).collect();
        let notes: Vec<(&str, &str)> =
            names.iter().map(String::as_str).zip(texts.iter().map(String::as_str)).collect();
        let folder = tree(&notes);
        let store = memory();
        let summary = store.import(reading(folder.path(), Some(DIALECTS[at]))).unwrap();
        prop_assert_eq!(summary.refusals(), 0);
        let again = store.import(reading(folder.path(), Some(DIALECTS[at]))).unwrap();
        prop_assert_eq!((again.inserted, again.updated), (0, 0));
        let out = tempfile::tempdir().unwrap();
        export(&store, out.path(), DIALECTS[at]);
        let written = files(out.path());
        for (path, text) in notes {
            prop_assert_eq!(written.get(path).map(String::as_str), Some(text));
        }
    }

    #[test]
    fn any_belief_is_read_as_it_was_written(
        subject in "[ -~é\n]{1,12}",
        relation in "[a-zA-Z :%\\[\\]-]{1,12}",
        object in "[ -~\n§#`\\[\\]é]{1,24}",
        at in 0..7_usize,
    ) {
        prop_assume!(!subject.trim().is_empty() && !relation.trim().is_empty());
        let store = memory();
        let draft = Draft::belief(subject, relation, object).confidence(1.0);
        prop_assume!(store.put(draft.created_at(Time::from_ms(1))).is_ok());
        let folder = tempfile::tempdir().unwrap();
        export(&store, folder.path(), DIALECTS[at]);
        let again = memory();
        let summary = again.import(reading(folder.path(), Some(DIALECTS[at]))).unwrap();
        prop_assert_eq!(summary.refusals(), 0);
        prop_assume!(!["codex", "openclaw"].contains(&DIALECTS[at]));
        let mut read = said(&again);
        read.retain(|it| !it.contains("\"links_to\""));
        prop_assert_eq!(read, said(&store));
    }
}
