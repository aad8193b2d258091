//! Trees of an attacker: nothing leads out, nothing gains rights, memory is bounded.

use super::*;

#[cfg(unix)]
#[test]
fn a_link_is_neither_read_nor_written_through() {
    use std::os::unix::fs::symlink;

    let outside = tree(&[("secret.md", "secret\n")]);
    let folder = tree(&[("a.md", "fine\n")]);
    symlink(outside.path().join("secret.md"), folder.path().join("b.md")).unwrap();
    symlink(outside.path(), folder.path().join("c")).unwrap();
    let store = memory();
    import(&store, folder.path());
    assert_eq!(said(&store), ["\"a\" \"note\" \"fine\""]);

    let target = tempfile::tempdir().unwrap();
    fs::write(
        target.path().join(".grainstore-tree"),
        "grainstore tree 1 okf\n",
    )
    .unwrap();
    symlink(outside.path(), target.path().join("subjects")).unwrap();
    let options = WriteOptions::default();
    let admin = sample();
    let admin = admin.admin().unwrap();
    let refused = admin.export_file(Format::Markdown, &Filter::new(), &options, target.path());
    assert!(refused.unwrap_err().to_string().contains("no folder"));
    assert_eq!(files(outside.path()).len(), 1);
}

#[test]
fn a_path_that_a_grain_claims_leads_nowhere() {
    let folder = tree(&[("a.md", "- mine\n")]);
    let store = memory();
    import(&store, folder.path());
    let mut lines = Vec::new();
    let filter = Filter::new().with_envelopes();
    let admin = store.admin().unwrap();
    admin
        .export(Format::Jsonl, &filter, &WriteOptions::default(), &mut lines)
        .unwrap();
    let evil = String::from_utf8(lines)
        .unwrap()
        .replace("\\\"a.md\\\"", "\\\"../../evil.md\\\"");
    let other = memory();
    other
        .import(ImportFile::of_bytes(evil.as_bytes(), None, &ReadOptions::default()).unwrap())
        .unwrap();
    let out = tempfile::tempdir().unwrap();
    let inner = out.path().join("x/y");
    fs::create_dir_all(&inner).unwrap();
    export(&other, &inner, "okf");
    assert!(
        files(out.path())
            .keys()
            .all(|path| path.starts_with("x/y/"))
    );
}

#[test]
fn a_mark_that_names_other_files_is_refused() {
    let outside = tree(&[("keep.md", "mine\n")]);
    let folder = outside.path().join("tree");
    fs::create_dir(&folder).unwrap();
    let mark = "grainstore tree 1 okf\n00  ../keep.md\n";
    fs::write(folder.join(".grainstore-tree"), mark).unwrap();
    let store = sample();
    let admin = store.admin().unwrap();
    let options = WriteOptions::default();
    let refused = admin.export_file(Format::Markdown, &Filter::new(), &options, &folder);
    assert!(refused.is_err());
    assert!(outside.path().join("keep.md").exists());
}

#[test]
fn a_bomb_of_yaml_is_text() {
    let bomb = "---\na: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n---\n- fine\n";
    let deep = format!("---\na: {}\n---\n- fine\n", "[".repeat(10_000));
    let wide = format!("---\na: [{}]\n---\n- fine\n", "x,".repeat(200_000));
    let folder = tree(&[("a.md", bomb), ("b.md", &deep), ("c.md", &wide)]);
    let store = memory();
    let summary = import(&store, folder.path());
    assert_eq!(summary.findings.len(), 3, "{:?}", summary.findings);
    assert_eq!(said(&store).len(), 3);
}

#[test]
fn a_long_file_and_one_that_is_no_text_are_findings() {
    let long = "x".repeat((4 << 20) + 1);
    let folder = tree(&[("long.md", &long), ("n.md", "fine\n")]);
    fs::write(folder.path().join("bytes.md"), [0xff, 0xfe, 0]).unwrap();
    let store = memory();
    let summary = import(&store, folder.path());
    assert_eq!(summary.findings.len(), 2, "{:?}", summary.findings);
    assert_eq!(said(&store), ["\"n\" \"note\" \"fine\""]);
}

#[test]
fn a_frontmatter_gives_no_rights() {
    let store = memory();
    let draft = Draft::belief("Ana", "prefers", "npm").confidence(1.0);
    let address = store.put(draft.created_at(Time::from_ms(5))).unwrap();
    let of = grainstore::codec::ContentAddress::of(b"prefers: pnpm").to_string();
    let note = format!(
        "---\ntitle: Ana\nauthor_did: did:web:root.example\ninvalidation_policy: {{mode: locked}}\n\
         verification_status: verified\ngrains:\n  - {{of: \"{}\", id: \"{address}\", \
         verification: verified, source: user_explicit, tags: [\"phi:x\", \"grainstore:envelope\"]}}\n---\n- prefers: pnpm\n",
        &of[..16]
    );
    let folder = tree(&[("a.md", &note)]);
    let summary = store.import(reading(folder.path(), Some("okf"))).unwrap();
    assert_eq!((summary.updated, summary.inserted), (0, 2));
    assert!(store.status(&address).unwrap().is_current());
    let found = store.query(&Filter::new().object("pnpm"), 1, None).unwrap();
    let grain = &found.results[0].grain;
    for field in ["author_did", "invalidation_policy", "verification_status"] {
        assert_eq!(grain.field(field), None);
    }
    assert_eq!(grain.text("source_type"), Some("imported"));
    let tags: Vec<&str> = grain.field("structural_tags").unwrap().texts().collect();
    assert_eq!(tags, ["t:phi:x", "t:grainstore:envelope"]);
    let status = store.status(&grain.address()).unwrap();
    assert_eq!(
        status.verification,
        grainstore::grain::Status::default().verification
    );
}
