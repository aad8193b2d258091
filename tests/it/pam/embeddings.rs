//! Embeddings files: kept as vectors, judged, written again, and never what keeps a memory out.

use std::fs;
use std::path::Path;

use grainstore::codec::Value;
use grainstore::grain::ForeignId;
use grainstore::interchange::{Format, ImportFile, ReadOptions, WriteOptions};
use grainstore::store::Embedding;
use grainstore::store::{Authorization, Summary};
use grainstore::{ContentAddress, Draft, Filter, Options, Search, Store, Time};

use super::schema::judged;
use crate::foreign::{json, sha256, text_of};
use crate::whole::pam;

fn memory() -> Store {
    Store::in_memory(Options::default()).unwrap()
}

fn memory_of(id: &str, content: &str, rest: &str) -> String {
    let hash = sha256(content.as_bytes());
    format!(
        r#"{{"id": "{id}", "type": "fact", "content": "{content}", "content_hash": "{hash}",
        "temporal": {{"created_at": "2026-01-01T00:00:00Z"}}, "status": "active", "tags": [],
        "provenance": {{"platform": "local"}}{rest}}}"#
    )
}

fn store_of(memories: &[String], members: &str) -> String {
    let memories = memories.join(",");
    format!(
        r#"{{"schema": "portable-ai-memory", "schema_version": "1.0", "owner": {{"id": "o"}},
        "memories": [{memories}]{members}}}"#
    )
}

fn vector_of(id: &str, memory: &str, vector: &str) -> String {
    let len = Value::from_json(vector).unwrap().as_array().unwrap().len();
    format!(
        r#"{{"id": "{id}", "memory_id": "{memory}", "model": "tiny", "dimensions": {len},
        "created_at": "2026-01-02T00:00:00Z", "vector": {vector},
        "storage": {{"type": "uri", "ref": "v:{id}"}}}}"#
    )
}

fn vectors_of(vectors: &[String]) -> String {
    format!(
        r#"{{"schema": "portable-ai-memory-embeddings", "schema_version": "1.0",
        "embeddings": [{}]}}"#,
        vectors.join(",")
    )
}

/// A folder with a store of two memories, and this embeddings file beside it.
fn folder(vectors: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let memories = [
        memory_of("a", "tea", r#", "embedding_ref": "va""#),
        memory_of("b", "milk", ""),
    ];
    fs::write(folder.path().join(pam::STORE), store_of(&memories, "")).unwrap();
    fs::write(folder.path().join(pam::EMBEDDINGS), vectors).unwrap();
    folder
}

fn good() -> String {
    vectors_of(&[
        vector_of("va", "a", "[0.0123, -0.0456]"),
        vector_of("vb", "b", "[1.0, 0.0]"),
    ])
}

fn import(store: &Store, path: &Path) -> Summary {
    let read = || ImportFile::open(path, None, &ReadOptions::default()).unwrap();
    let preview = store.admin().unwrap().preview_import(read()).unwrap();
    let summary = store.import(read()).unwrap();
    assert_eq!(format!("{preview:?}"), format!("{summary:?}"));
    assert!(summary.is_complete(), "{summary:?}");
    summary
}

fn resolve(store: &Store, id: &str) -> ContentAddress {
    store
        .resolve(&ForeignId::new("pam", "o", id))
        .unwrap()
        .unwrap()
}

fn errors(path: &Path) -> Vec<(String, String)> {
    let options = ReadOptions {
        is_strict: true,
        ..ReadOptions::default()
    };
    let reading = ImportFile::open(path, None, &options).unwrap();
    let errors = reading.errors.iter();
    let told = errors.map(|error| (error.code().to_string(), error.place().to_string()));
    told.collect()
}

fn export(store: &Store, path: &Path, with_embeddings: bool) -> grainstore::query::ExportReport {
    let options = WriteOptions {
        with_embeddings,
        now: Some(Time::from_ms(1_780_000_000_000)),
        ..WriteOptions::default()
    };
    let all = Filter::new().with_superseded();
    store
        .admin()
        .unwrap()
        .export_file(Format::Pam, &all, &options, path)
        .unwrap()
}

#[test]
fn vectors_come_in_with_their_memories_once_and_answer_questions() {
    let folder = folder(&good());
    let store = memory();
    let summary = import(&store, folder.path());
    assert_eq!((summary.inserted, summary.embedded), (3, 2));
    assert!(summary.loss.is_empty(), "{:?}", summary.loss);
    assert!(summary.findings.is_empty(), "{:?}", summary.findings);
    let near = store
        .find(&Search::near("tiny", &[0.9, 0.1]).limit(1))
        .unwrap();
    assert_eq!(near.results[0].address, resolve(&store, "b"));
    let again = import(&store, folder.path());
    assert_eq!((again.inserted, again.unchanged, again.embedded), (0, 3, 0));
    // Another vector of the same memory takes the place of the first.
    let other = vectors_of(&[
        vector_of("va", "a", "[1, 0]"),
        vector_of("vb", "b", "[0, 1]"),
    ]);
    fs::write(folder.path().join(pam::EMBEDDINGS), other).unwrap();
    assert_eq!(import(&store, folder.path()).embedded, 2);
    let near = store
        .find(&Search::near("tiny", &[0.9, 0.1]).limit(1))
        .unwrap();
    assert_eq!(near.results[0].address, resolve(&store, "a"));
    assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
}

#[test]
fn an_embeddings_file_goes_out_as_it_came_only_when_it_is_asked_for() {
    let source = folder(&good());
    let imported = || {
        let store = memory();
        import(&store, source.path());
        store
    };
    let read = |path: &Path| json(&fs::read_to_string(path).unwrap());
    for name in ["folder", "all.zip"] {
        let store = imported();
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join(name);
        if name == "folder" {
            fs::create_dir(&path).unwrap();
        }
        let exported = export(&store, &path, true);
        assert!(exported.loss.is_empty(), "{exported:?}");
        assert_eq!(errors(&path), []);
        if name == "folder" {
            let [before, after] = [source.path(), &path].map(|it| read(&it.join(pam::EMBEDDINGS)));
            assert_eq!(after, before);
        }
        // What went out comes in as nothing new.
        let again = import(&store, &path);
        let counts = (again.inserted, again.updated, again.embedded);
        assert_eq!(counts, (0, 0, 0), "{name}");
        let fresh = memory();
        assert_eq!(import(&fresh, &path).embedded, 2);
    }
    let store = imported();
    let home = tempfile::tempdir().unwrap();
    let exported = export(&store, home.path(), false);
    let loss: Vec<_> = exported.loss.iter().collect();
    assert_eq!((exported.files, loss), (1, vec![("embedding_ref", 1)]));
    assert!(!home.path().join(pam::EMBEDDINGS).exists());
    // One file has no place for them.
    let exported = export(&store, &home.path().join("one.pam.json"), true);
    assert_eq!(exported.loss.iter().collect::<Vec<_>>(), [("embedding", 2)]);
}

#[test]
fn a_vector_of_any_grain_goes_out_and_comes_back_with_it() {
    let store = memory();
    let tea = store.put(Draft::event("she likes tea")).unwrap();
    store
        .put_embeddings(&[Embedding::new(tea, "tiny", &[0.1, 0.7])])
        .unwrap();
    let home = tempfile::tempdir().unwrap();
    export(&store, home.path(), true);
    assert_eq!(errors(home.path()), []);
    let fresh = memory();
    assert_eq!(import(&fresh, home.path()).embedded, 1);
    assert_eq!(
        fresh.embedding(&tea, "tiny").unwrap(),
        store.embedding(&tea, "tiny").unwrap()
    );
    // The vector is of a grain: deleted with it, and never where it does not go.
    let kept = Draft::event("kept back");
    let kept = fresh.put(kept).unwrap();
    fresh
        .put_embeddings(&[Embedding::new(kept, "tiny", &[0.5, 0.5])])
        .unwrap();
    let deletion = Authorization {
        reason: "asked",
        authority: "the owner",
    };
    fresh.admin().unwrap().delete(&tea, deletion).unwrap();
    let home = tempfile::tempdir().unwrap();
    export(&fresh, home.path(), true);
    let file = fs::read_to_string(home.path().join(pam::EMBEDDINGS)).unwrap();
    assert_eq!(file.matches("memory_id").count(), 1);
}

#[test]
fn an_embeddings_file_alone_is_of_the_owner_that_is_named() {
    let source = folder(&good());
    let store = memory();
    fs::rename(source.path().join(pam::EMBEDDINGS), source.path().join("x")).unwrap();
    let summary = import(&store, source.path());
    assert_eq!(
        summary.loss.iter().collect::<Vec<_>>(),
        [("embedding_ref", 1)]
    );
    let path = source.path().join("x");
    assert_eq!(Format::detect(&path).unwrap(), Format::PamEmbeddings);
    let named = |scope: Option<&str>| {
        let options = ReadOptions {
            scope: scope.map(str::to_owned),
            ..ReadOptions::default()
        };
        let reading = ImportFile::open(&path, None, &options).unwrap();
        store.import(reading).unwrap()
    };
    let lost = named(None);
    assert_eq!((lost.embedded, lost.findings.len()), (0, 2), "{lost:?}");
    assert!(
        lost.findings[0].1.starts_with("PAM_EMBEDDING_REF"),
        "{lost:?}"
    );
    assert_eq!(lost.loss.iter().collect::<Vec<_>>(), [("embedding", 2)]);
    assert_eq!(named(Some("o")).embedded, 2);
    assert_eq!(named(Some("o")).embedded, 0);
}

#[test]
fn a_delta_brings_vectors_of_what_it_does_not_hold_and_older_memories_bring_none() {
    let source = folder(&good());
    let store = memory();
    import(&store, source.path());
    let delta = store_of(
        &[],
        r#", "export_type": "incremental", "since": "2026-01-01T00:00:00Z""#,
    );
    fs::write(source.path().join(pam::STORE), delta).unwrap();
    fs::write(
        source.path().join(pam::EMBEDDINGS),
        vectors_of(&[vector_of("va", "a", "[0.5, 0.5]")]),
    )
    .unwrap();
    assert_eq!(import(&store, source.path()).embedded, 1);
    // What the store knows better is not what this vector is of.
    let newer = memory_of("a", "green tea", "").replace("2026-01-01", "2026-02-01");
    fs::write(source.path().join(pam::STORE), store_of(&[newer], "")).unwrap();
    fs::remove_file(source.path().join(pam::EMBEDDINGS)).unwrap();
    assert_eq!(import(&store, source.path()).updated, 1);
    let changed = memory_of("a", "old tea", "");
    fs::write(source.path().join(pam::STORE), store_of(&[changed], "")).unwrap();
    let vectors = vectors_of(&[vector_of("va", "a", "[0.25, 0.5]")]);
    fs::write(source.path().join(pam::EMBEDDINGS), vectors).unwrap();
    let summary = import(&store, source.path());
    assert_eq!((summary.embedded, summary.unchanged), (0, 2), "{summary:?}");
    assert_eq!(
        store.embedding(&resolve(&store, "a"), "tiny").unwrap(),
        None
    );
}

/// An embeddings file, the code of what is wrong with it, and the place behind its name.
type Broken = (String, &'static str, &'static str);

fn broken() -> Vec<Broken> {
    let big = vector_of("va", "a", "[1e300, 0]");
    vec![
        (
            vectors_of(&[vector_of("va", "nobody", "[1, 0]")]),
            "PAM_EMBEDDING_REF",
            "/embeddings/0/memory_id",
        ),
        (
            good().replacen("\"dimensions\": 2", "\"dimensions\": 3", 1),
            "PAM_EMBEDDING_REF",
            "/embeddings/0/dimensions",
        ),
        (
            vectors_of(&[big]),
            "PAM_EMBEDDING",
            "/embeddings/0/vector/0",
        ),
        (
            vectors_of(&[vector_of("va", "a", "[0, 0]")]),
            "PAM_EMBEDDING",
            "/embeddings/0/vector",
        ),
        (
            good().replace("\"vb\"", "\"va\""),
            "PAM_DUPLICATE_ID",
            "/embeddings/1/id",
        ),
        (
            good().replace("\"memory_id\": \"b\"", "\"memory_id\": \"a\""),
            "PAM_DUPLICATE_ID",
            "/embeddings/1/memory_id",
        ),
        (
            good().replace("\"schema_version\": \"1.0\"", "\"schema_version\": \"1.1\""),
            "PAM_VERSION",
            "/schema_version",
        ),
        (
            good().replace("\"tiny\"", "7"),
            "PAM_SCHEMA",
            "/embeddings/0/model",
        ),
        ("{".to_owned(), "PAM_JSON", ""),
        ("[]".to_owned(), "PAM_SCHEMA", ""),
    ]
}

#[test]
fn each_rule_about_embeddings_is_told_and_keeps_no_memory_out() {
    for (file, code, place) in broken() {
        let folder = folder(&file);
        let errors = errors(folder.path());
        let at = format!("{}#{place}", pam::EMBEDDINGS);
        assert!(
            errors.contains(&(code.to_owned(), at.clone())),
            "{code} {at}: {errors:?}"
        );
        let summary = import(&memory(), folder.path());
        assert_eq!(summary.inserted, 3, "{code} {place}");
        let told = summary.findings.iter();
        let told: Vec<_> = told
            .map(|(place, message)| (place.to_string(), message))
            .collect();
        assert!(
            told.iter()
                .any(|(place, message)| *place == at && message.starts_with(code)),
            "{told:?}"
        );
    }
}

#[test]
fn references_to_embeddings_are_judged_and_what_is_not_kept_is_counted() {
    // A reference to nothing, and to what is of another memory.
    for (file, message) in [
        (
            vectors_of(&[vector_of("vb", "b", "[1, 0]")]),
            "no embedding has this id",
        ),
        (
            good()
                .replace("\"va\"", "\"x\"")
                .replace("\"vb\"", "\"va\""),
            "of another memory",
        ),
    ] {
        let folder = folder(&file);
        assert_eq!(
            errors(folder.path()),
            [(
                "PAM_EMBEDDING_REF".to_owned(),
                "/memories/0/embedding_ref".to_owned()
            )],
            "{message}"
        );
        let summary = import(&memory(), folder.path());
        assert!(summary.findings[0].1.contains(message), "{summary:?}");
    }
    // Alone it has no memories to be held to; numbers past single precision are counted.
    let text = good().replace("0.0123", "0.01234567890123");
    let import = pam::read_embeddings(text.as_bytes(), &ReadOptions::default()).unwrap();
    assert_eq!(import.vectors.len(), 2);
    let loss: Vec<_> = import.loss.iter().collect();
    assert_eq!(loss, [("embedding.vector past single precision", 1)]);
    let file = serde_json::from_str(&text_of(&json(&good()))).unwrap();
    assert_eq!(judged(&file, Format::PamEmbeddings), []);
    let elsewhere = good().replace(", -0.0456", "").replace("[0.0123]", "null");
    let read = pam::read_embeddings(elsewhere.as_bytes(), &ReadOptions::default()).unwrap();
    assert_eq!(
        read.loss.iter().collect::<Vec<_>>(),
        [("embedding.storage", 1)]
    );
}

#[test]
fn however_many_vectors_are_not_kept_so_many_are_told_and_all_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(pam::EMBEDDINGS);
    let vectors: Vec<_> = (0..10_050)
        .map(|n| vector_of(&format!("v{n}"), &format!("m{n}"), "[1]"))
        .collect();
    fs::write(&path, vectors_of(&vectors)).unwrap();
    let summary = import(&memory(), &path);
    assert_eq!(summary.findings.len(), 10_001);
    let (_, last) = summary.findings.last().unwrap();
    assert_eq!(last, "and 50 more that are not listed");
    let loss: Vec<_> = summary.loss.iter().collect();
    assert_eq!((summary.embedded, loss), (0, vec![("embedding", 10_050)]));
}
