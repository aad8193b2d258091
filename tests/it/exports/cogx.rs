//! Archives of Cognee (COGX): written as a directory and as one file, and read again.

use std::path::Path;

use grainstore::codec::Value;
use grainstore::interchange::{Format, ImportFile, ReadOptions, WriteOptions};
use grainstore::{Draft, ErrorCode, Filter, Store, Time};

use super::{all, memory, read_file};

fn sample() -> Store {
    let store = memory();
    let at = |ms: i64| Time::from_ms(1_780_000_000_000 + ms);
    let put = |draft: Draft, ms| store.put(draft.user("ana").created_at(at(ms))).unwrap();
    let fact = put(
        Draft::belief("Ana", "uses", "pnpm")
            .confidence(0.9)
            .tag("tooling"),
        0,
    );
    put(Draft::belief("Ana", "is_a", "person").confidence(1.0), 1);
    let words = "Prefers žito — daily";
    put(
        Draft::belief("pam:owner:ana", "pam:fact", words)
            .confidence(1.0)
            .valid_from(at(0)),
        2,
    );
    for (ms, role, said) in [
        (3, "user", "Where is Lager-7?"),
        (4, "assistant", "In Graz."),
    ] {
        put(Draft::event(said).set("role", role).session("s1"), ms);
    }
    put(Draft::event("Alone").set("role", "user").session("s2"), 5);
    put(Draft::event("A document"), 6);
    put(Draft::goal("Ship it"), 7);
    let newer = Draft::belief("Ana", "uses", "bun")
        .confidence(0.9)
        .valid_to(at(9))
        .user("ana");
    store
        .supersede(&fact, newer.derived_from(fact).created_at(at(8)), None)
        .unwrap();
    store
}

fn write(store: &Store, path: &Path) -> Vec<(String, u64)> {
    let (filter, options) = all();
    let admin = store.admin().unwrap();
    let exported = admin
        .export_file(Format::Cogx, &filter, &options, path)
        .unwrap();
    assert_eq!(exported.grains, 6);
    let loss = exported.loss.iter();
    loss.map(|(name, count)| (name.to_owned(), count)).collect()
}

/// What a reader of an archive finds in it.
fn said(path: &Path) -> Vec<String> {
    let store = memory();
    assert_eq!(Format::detect(path).unwrap(), Format::Cogx);
    read_file(&store, path);
    let found = super::found_in(&store).into_iter();
    let mut said: Vec<_> = found
        .map(|found| {
            let of = |name: &str| found.grain.text(name).unwrap_or_default().to_owned();
            let parts = [
                "user_id",
                "session_id",
                "role",
                "subject",
                "relation",
                "object",
            ];
            let time = found.grain.created_at().ms() - 1_780_000_000_000;
            let parts = parts.map(of).join("|");
            format!("{parts}|{}|{time}", of("content"))
        })
        .collect();
    said.sort();
    said
}

#[test]
fn an_archive_goes_out_as_a_directory_and_as_one_file_and_comes_back() {
    let store = sample();
    let folder = tempfile::tempdir().unwrap();
    let (tree, packed) = (
        folder.path().join("tree"),
        folder.path().join("m.cogx.tar.gz"),
    );
    std::fs::create_dir(&tree).unwrap();
    let loss = write(&store, &tree);
    assert_eq!(write(&store, &packed), loss);
    let expected = [("goal", 1), ("superseded", 1), ("valid_from", 1)];
    assert_eq!(loss, expected.map(|(name, count)| (name.to_owned(), count)));
    let expected = [
        "ana|s1|assistant||||In Graz.|4",
        "ana|s1|user||||Where is Lager-7?|3",
        "ana|s2|user||||Alone|5",
        "ana|||Ana|is_a|person||1",
        "ana|||Ana|uses|bun||8",
        "ana|||pam:owner:ana|pam:fact|Prefers žito — daily||2",
        "ana||||||A document|6",
    ];
    assert_eq!(said(&tree), expected);
    assert_eq!(said(&packed), expected);
}

#[test]
fn every_line_of_an_archive_has_what_cognee_requires() {
    let folder = tempfile::tempdir().unwrap();
    write(&sample(), folder.path());
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let required = [
        (
            "documents.jsonl",
            "document",
            ["content", "content", "content"],
        ),
        ("entities.jsonl", "entity", ["name", "entity_type", "name"]),
        ("episodes.jsonl", "episode", ["turns", "turns", "turns"]),
        (
            "facts.jsonl",
            "fact",
            ["subject_ref", "predicate", "object_ref"],
        ),
        (
            "memories.jsonl",
            "memory",
            ["content", "categories", "content"],
        ),
    ];
    let manifest = Value::from_json(&read("manifest.json")).unwrap();
    let manifest = manifest.as_map().unwrap();
    assert_eq!(manifest.get("cogx_version"), Some(&Value::from("0.1")));
    let counts = manifest.get("counts").and_then(Value::as_map).unwrap();
    for (file, kind, members) in required {
        let mut lines = 0;
        for line in read(file).lines() {
            let line = Value::from_json(line).unwrap();
            let map = line.as_map().unwrap();
            assert_eq!(map.get("kind"), Some(&Value::from(kind)));
            let common = ["external_id", "external_system", "scope", "created_at"];
            let all = common.into_iter().chain(members);
            assert!(
                all.into_iter().all(|name| map.contains(name)),
                "{}",
                line.to_json()
            );
            lines += 1;
        }
        assert_eq!(
            counts.get(kind).and_then(Value::as_i64),
            Some(lines),
            "{kind}"
        );
    }
}

#[test]
fn an_archive_that_is_damaged_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.cogx.tar.gz");
    write(&sample(), &path);
    let whole = std::fs::read(&path).unwrap();
    for cut in [3, whole.len() / 2, whole.len() - 9] {
        std::fs::write(&path, &whole[..cut]).unwrap();
        let reading = ImportFile::open(&path, Some(Format::Cogx), &ReadOptions::default());
        let code = match reading {
            Err(error) => error.code(),
            Ok(reading) => reading.errors.first().unwrap().code(),
        };
        assert_eq!(code, ErrorCode::ProviderZip, "{cut}");
    }
}

#[test]
fn a_directory_keeps_nothing_of_an_older_archive() {
    let folder = tempfile::tempdir().unwrap();
    write(&sample(), folder.path());
    let admin_store = memory();
    let admin = admin_store.admin().unwrap();
    let options = WriteOptions::default();
    let written = admin.export_file(Format::Cogx, &Filter::new(), &options, folder.path());
    assert_eq!(written.unwrap().grains, 0);
    let episodes = std::fs::read(folder.path().join("episodes.jsonl")).unwrap();
    assert!(episodes.is_empty());
}
