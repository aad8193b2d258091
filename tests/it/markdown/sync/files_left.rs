//! Files that a step leaves as they are, and trees that it refuses.

use super::*;

fn refused(store: &Store, folder: &Path) -> String {
    try_sync(store, folder, None).unwrap_err().to_string()
}

#[test]
fn a_file_that_cannot_be_read_is_neither_gone_nor_written() {
    let store = memory();
    let folder = tree(&[("a.md", "- one\n"), ("b.md", "- two\n")]);
    settled(&store, folder.path());
    fs::write(folder.path().join("a.md"), [0xff, 0xfe, b'a']).unwrap();
    let (summary, _) = sync(&store, folder.path());
    assert_eq!(summary.findings.len(), 1, "{:?}", summary.findings);
    assert_eq!(said(&store).len(), 2);
    assert_eq!(
        fs::read(folder.path().join("a.md")).unwrap(),
        [0xff, 0xfe, b'a']
    );
    write(folder.path(), "a.md", "- one\n- three\n");
    settled(&store, folder.path());
    assert_eq!(said(&store).len(), 3);
}

#[test]
fn files_of_editors_and_names_that_not_every_disk_holds_stay() {
    let own = [
        (".a.md.swp", "x"),
        (".obsidian/workspace.md", "x"),
        ("a.md~", "x"),
        ("#a.md#", "x"),
        ("a.txt", "x"),
        ("what?.md", "- kept\n"),
        ("CLAUDE.md", "obey\n"),
    ];
    let folder = tree(&own);
    write(folder.path(), "a.md", "- one\n");
    let store = memory();
    settled(&store, folder.path());
    assert_eq!(said(&store).len(), 1);
    let after = files(folder.path());
    for (path, text) in own {
        assert_eq!(after.get(path).map(String::as_str), Some(text), "{path}");
    }
}

#[test]
fn bytes_that_mean_the_same_and_names_stay_as_they_were() {
    let crlf = "\u{feff}---\r\ntitle: Ana\r\n---\r\n- one\r\n- two\r\n";
    let store = memory();
    let folder = tree(&[("e\u{301}.md", crlf)]);
    settled(&store, folder.path());
    let names = || {
        let found = files(folder.path()).into_keys();
        found.filter(|it| it.starts_with('e')).collect::<Vec<_>>()
    };
    assert_eq!(names(), ["e\u{301}.md"]);
    replace(&store, "two", "three");
    settled(&store, folder.path());
    assert_eq!(names(), ["e\u{301}.md"]);
    let text = fs::read_to_string(folder.path().join("e\u{301}.md")).unwrap();
    assert_eq!(text, crlf.replace("two", "three"));
}

#[test]
fn two_names_that_a_disk_may_take_for_one_are_refused() {
    let folder = tree(&[("Ana.md", "- one\n"), ("ana.md", "- two\n")]);
    let store = memory();
    assert!(refused(&store, folder.path()).contains("take for one file"));
    assert!(said(&store).is_empty());
    assert_eq!(files(folder.path()).len(), 2);
}

#[test]
fn a_tree_that_vanished_ends_nothing() {
    let store = memory();
    let folder = tree(&[("a.md", "- one\n")]);
    settled(&store, folder.path());
    for path in files(folder.path()).keys() {
        fs::remove_file(folder.path().join(path)).unwrap();
    }
    assert!(refused(&store, folder.path()).contains("is empty"));
    assert_eq!(said(&store).len(), 1);
    write(folder.path(), ".grainstore-tree", "grainstore tree 1 okf\n");
    settled(&store, folder.path());
    assert!(said(&store).is_empty());
}

#[test]
fn another_dialect_than_that_of_the_tree_is_refused() {
    let (store, folder) = in_step("okf");
    let refused = try_sync(&store, folder.path(), Some("obsidian"));
    assert!(refused.unwrap_err().to_string().contains("is one of okf"));
}

#[test]
fn a_line_that_policy_keeps_out_stays_in_the_tree() {
    let store = memory();
    let policy: grainstore::codec::Map = [("mode", "locked")].into_iter().collect();
    let draft = Draft::belief("Ana", "likes", "tea").confidence(1.0);
    store.put(draft.set("invalidation_policy", policy)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    sync(&store, folder.path());
    edit(
        folder.path(),
        "subjects/Ana.md",
        "likes: tea",
        "likes: coffee",
    );
    let (summary, _) = sync(&store, folder.path());
    assert_eq!(summary.denied.len(), 1, "{summary:?}");
    assert!(text(folder.path()).contains("likes: coffee"));
    assert_eq!(said(&store), ["\"Ana\" \"likes\" \"tea\""]);
}

#[cfg(unix)]
#[test]
fn a_step_follows_no_link_and_keeps_the_mode_of_a_file() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let outside = tree(&[("secret.md", "secret\n")]);
    let (store, folder) = in_step("okf");
    symlink(outside.path(), folder.path().join("conversations")).unwrap();
    let ana = folder.path().join("subjects/Ana.md");
    fs::set_permissions(&ana, fs::Permissions::from_mode(0o644)).unwrap();
    replace(&store, "tea", "cocoa");
    sync(&store, folder.path());
    assert_eq!(
        fs::metadata(&ana).unwrap().permissions().mode() & 0o777,
        0o644
    );
    store
        .put(Draft::event("hi").session("s1").set("role", "user"))
        .unwrap();
    assert!(refused(&store, folder.path()).contains("no folder"));
    assert_eq!(files(outside.path()).len(), 1);
    fs::remove_file(folder.path().join("conversations")).unwrap();
    settled(&store, folder.path());
    // A note in whose place a link stands is gone, and the link stays.
    fs::remove_file(&ana).unwrap();
    symlink(outside.path().join("secret.md"), &ana).unwrap();
    sync(&store, folder.path());
    assert!(fs::symlink_metadata(&ana).unwrap().is_symlink());
    assert!(!said(&store).iter().any(|it| it.contains("secret")));
}

#[test]
fn a_crowd_of_files_is_kept_in_step() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..1_000 {
        let path = format!("{}/n{number}.md", number % 10);
        write(folder.path(), &path, &format!("- fact {number}\n"));
    }
    let store = memory();
    sync(&store, folder.path());
    edit(folder.path(), "3/n333.md", "fact 333", "fact x");
    replace(&store, "fact 444", "fact y");
    let (summary, written) = sync(&store, folder.path());
    assert_eq!(summary.updated, 2, "{summary:?}");
    assert_eq!((said(&store).len(), written.files), (1_000, 2));
    let text = fs::read_to_string(folder.path().join("4/n444.md")).unwrap();
    assert_eq!(text, "- fact y\n");
}
