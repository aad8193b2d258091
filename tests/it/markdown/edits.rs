//! A tree that was edited: what changed supersedes, what is gone ends, what moved is the same.

use super::*;

const OFFICE: grainstore::store::Authorization<'static> = grainstore::store::Authorization {
    reason: "asked",
    authority: "office",
};

const NOTE: &str =
    "---\ntitle: Ana\n---\n\n- prefers: npm\n- lives in Graz\n- works_at: [[Acme]]\n";

fn imported() -> (Store, TempDir) {
    let store = memory();
    let folder = tree(&[
        ("people/ana.md", NOTE),
        ("other.md", "# Other\n\n- stays\n"),
    ]);
    let summary = import(&store, folder.path());
    assert_eq!(counts(&summary), [6, 0, 0, 0]);
    (store, folder)
}

#[test]
fn an_import_that_repeats_changes_nothing() {
    let (store, folder) = imported();
    assert_eq!(counts(&import(&store, folder.path())), [0, 0, 6, 0]);
}

#[test]
fn an_edited_line_supersedes_what_it_was() {
    let (store, folder) = imported();
    let before = store
        .query(&Filter::new().relation("prefers"), 1, None)
        .unwrap();
    let before = before.results[0].grain.address();
    write(folder.path(), "people/ana.md", &NOTE.replace("npm", "pnpm"));
    // The line, and the State of its file, which has the mark of the line.
    assert_eq!(counts(&import(&store, folder.path())), [0, 2, 4, 0]);
    let after = store
        .query(&Filter::new().relation("prefers"), 9, None)
        .unwrap();
    assert_eq!(after.results.len(), 1);
    assert_eq!(after.results[0].grain.text("object"), Some("pnpm"));
    let by = store.status(&before).unwrap().superseded_by;
    assert_eq!(by, Some(after.results[0].grain.address()));
}

#[test]
fn a_removed_line_ends_and_may_come_back() {
    let (store, folder) = imported();
    let address = |store: &Store| {
        let found = store
            .query(&Filter::new().relation("prefers"), 9, None)
            .unwrap();
        found.results.first().map(|found| found.grain.address())
    };
    let gone = address(&store).unwrap();
    write(
        folder.path(),
        "people/ana.md",
        &NOTE.replace("- prefers: npm\n", ""),
    );
    import(&store, folder.path());
    assert_eq!(address(&store), None);
    let end = store.status(&gone).unwrap().superseded_by.unwrap();
    let end = store.get(&end).unwrap().unwrap();
    assert!(end.field("valid_to").is_some());
    assert_eq!(end.text("object"), Some("npm"));
    assert_eq!(counts(&import(&store, folder.path())), [0, 0, 5, 0]);
    write(folder.path(), "people/ana.md", NOTE);
    import(&store, folder.path());
    assert!(address(&store).is_some());
    assert_eq!(counts(&import(&store, folder.path())), [0, 0, 6, 0]);
}

#[test]
fn a_moved_file_is_no_change_of_what_it_says() {
    let (store, folder) = imported();
    let before: Vec<_> = current(&store).iter().map(Grain::address).collect();
    fs::remove_file(folder.path().join("people/ana.md")).unwrap();
    write(folder.path(), "team/a.md", NOTE);
    // The State of the file has another path.
    assert_eq!(counts(&import(&store, folder.path())), [0, 1, 5, 0]);
    let after: Vec<_> = current(&store).iter().map(Grain::address).collect();
    assert_eq!(after, before);
}

#[test]
fn a_removed_file_ends_all_that_it_said() {
    let (store, folder) = imported();
    fs::remove_file(folder.path().join("people/ana.md")).unwrap();
    import(&store, folder.path());
    assert_eq!(said(&store), ["\"Other\" \"note\" \"stays\""]);
    write(folder.path(), "people/ana.md", NOTE);
    import(&store, folder.path());
    assert_eq!(said(&store).len(), 4);
}

#[test]
fn an_edit_here_and_there_is_a_conflict_that_keeps_both() {
    let (store, folder) = imported();
    let found = store
        .query(&Filter::new().relation("prefers"), 1, None)
        .unwrap();
    let old = &found.results[0].grain;
    let new = Draft::next_version(old)
        .set("object", "yarn")
        .derived_from(old.address());
    store.supersede(&old.address(), new, None).unwrap();
    write(folder.path(), "people/ana.md", &NOTE.replace("npm", "pnpm"));
    let summary = import(&store, folder.path());
    assert_eq!(counts(&summary)[3], 1, "{summary:?}");
    let found = store
        .query(&Filter::new().relation("prefers"), 9, None)
        .unwrap();
    assert_eq!(found.results.len(), 2);
}

#[test]
fn an_erased_line_comes_back_from_no_copy_of_the_tree() {
    let (store, folder) = imported();
    let found = store
        .query(&Filter::new().relation("prefers"), 1, None)
        .unwrap();
    let address = found.results[0].grain.address();
    let admin = store.admin().unwrap();
    admin.delete(&address, OFFICE).unwrap();
    let summary = store.import(reading(folder.path(), None)).unwrap();
    assert_eq!(summary.erased.len(), 1, "{summary:?}");
    let out = tempfile::tempdir().unwrap();
    export(&store, out.path(), "okf");
    assert!(!files(out.path()).values().any(|text| text.contains("npm")));
}

#[test]
fn an_owners_tree_that_was_edited_changes_what_it_was_exported_from() {
    let store = memory();
    for object in ["npm", "tea"] {
        let draft = Draft::belief("Ana", "prefers", object).confidence(1.0);
        store.put(draft.created_at(Time::from_ms(5))).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    export(&store, folder.path(), "okf");
    let path = folder.path().join("subjects/Ana.md");
    let text = fs::read_to_string(&path).unwrap().replace("npm", "pnpm");
    fs::write(&path, text).unwrap();
    let mut strangers = reading(folder.path(), None);
    assert_eq!(
        store
            .admin()
            .unwrap()
            .preview_import(strangers)
            .unwrap()
            .updated,
        0
    );
    strangers = reading(folder.path(), None);
    strangers.is_own = true;
    assert_eq!(store.import(strangers).unwrap().updated, 1);
    assert_eq!(
        said(&store),
        [
            "\"Ana\" \"prefers\" \"pnpm\"",
            "\"Ana\" \"prefers\" \"tea\""
        ]
    );
}

#[test]
fn a_file_that_was_edited_is_not_written_over() {
    let store = sample();
    let folder = tempfile::tempdir().unwrap();
    export(&store, folder.path(), "okf");
    fs::write(folder.path().join("subjects/Ana.md"), "mine\n").unwrap();
    let admin = || store.admin().unwrap();
    let mut options = WriteOptions::default();
    let refused = admin().export_file(Format::Markdown, &Filter::new(), &options, folder.path());
    assert!(refused.unwrap_err().to_string().contains("was edited"));
    options.replace_edited = true;
    admin()
        .export_file(Format::Markdown, &Filter::new(), &options, folder.path())
        .unwrap();
    let foreign = tree(&[("mine.md", "mine\n")]);
    let refused = admin().export_file(Format::Markdown, &Filter::new(), &options, foreign.path());
    assert!(refused.unwrap_err().to_string().contains("is not empty"));
}
