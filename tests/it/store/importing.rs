//! What comes in from files, once and again, and what an archive says of what is here.

use grainstore::grain::{ForeignId, Grain, Time, Verification};
use grainstore::interchange::{Format, ImportFile, ReadOptions};
use grainstore::{Filter, Store};

use super::{at, memory, prefers};

use crate::sample::addresses_of;

fn reading(path: &std::path::Path) -> ImportFile {
    ImportFile::open(path, None, &ReadOptions::default()).unwrap()
}

#[test]
fn the_sample_data_imports_once_and_then_changes_nothing() {
    let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data");
    let store = memory();
    for name in ["grains.jsonl", "pam"] {
        let path = data.join(name);
        let first = store.import(reading(&path)).unwrap();
        assert!(
            first.is_complete() && first.inserted > 30,
            "{name}: {first:?}"
        );
        let stats = store.maintenance().unwrap().stats().unwrap();
        let again = store.import(reading(&path)).unwrap();
        assert_eq!(
            (again.inserted, again.unchanged),
            (0, first.inserted),
            "{name}"
        );
        assert_eq!(
            store.maintenance().unwrap().stats().unwrap().grains,
            stats.grains
        );
    }
    assert_eq!(
        store.maintenance().unwrap().stats().unwrap().by_type.len(),
        10,
        "all ten types"
    );
    assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
    let found = store
        .search("\"peanut allergy\"", &Filter::new(), 5)
        .unwrap();
    assert!(found.total >= 1);
}

#[test]
fn a_record_that_changed_since_its_import_replaces_what_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data/pam");
    let store = memory();
    store.import(reading(&data)).unwrap();
    let grains = store.maintenance().unwrap().stats().unwrap().grains;

    let text = std::fs::read_to_string(data.join("memory-store.json")).unwrap();
    let mut document: serde_json::Value = serde_json::from_str(&text).unwrap();
    document["memories"][3]["tags"] = serde_json::json!(["changed"]);
    document["conversations_index"] = serde_json::json!([]);
    let path = folder.path().join("memory-store.json");
    std::fs::write(&path, document.to_string()).unwrap();
    let options = ReadOptions {
        accept_bad_checksum: true,
        ..ReadOptions::default()
    };
    let reading = ImportFile::open(&path, Some(Format::Pam), &options).unwrap();
    assert!(reading.errors.is_empty(), "{:?}", reading.errors);
    let id = document["memories"][3]["id"].as_str().unwrap();
    let before = store
        .resolve(&ForeignId::new("pam", "mira-okafor", id))
        .unwrap()
        .unwrap();
    let summary = store.import(reading).unwrap();
    // That the messages are not there changes the other grains and not what their records say.
    assert_eq!((summary.updated, summary.is_complete()), (1, true));
    let after = store
        .resolve(&ForeignId::new("pam", "mira-okafor", id))
        .unwrap()
        .unwrap();
    assert_eq!(store.status(&before).unwrap().superseded_by, Some(after));
    let history = store.history(&after).unwrap().into_iter();
    let history: Vec<_> = history.map(|version| version.grain.address()).collect();
    assert_eq!(history, [before, after]);
    let more = summary.inserted + summary.updated;
    assert_eq!(
        store.maintenance().unwrap().stats().unwrap().grains,
        grains + more
    );
}

#[test]
fn foreign_names_and_justifications_of_any_spelling_never_keep_a_store_from_opening() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let document = folder.path().join("memory-store.json");
    let memory = |id: &str, content: &str| {
        let hash = data_encoding::HEXLOWER.encode(&<[u8; 32]>::from({
            use sha2::Digest;
            sha2::Sha256::digest(content)
        }));
        serde_json::json!({
            "id": id, "type": "fact", "content": content,
            "content_hash": format!("sha256:{hash}"),
            "temporal": {"created_at": "2026-01-01T00:00:00Z"},
            "provenance": {"platform": "test"},
        })
    };
    let ids = ["e\u{301}", "\u{e9}", "\u{feff}id", "a\0b", "x y/../z"];
    let memories = ids.iter().enumerate();
    let memories: Vec<_> = memories
        .map(|(n, id)| memory(id, &format!("fact {n}")))
        .collect();
    let store_file = serde_json::json!({
        "schema": "portable-ai-memory", "schema_version": "1.0",
        "owner": {"id": "\u{feff}owner"}, "memories": memories,
    });
    std::fs::write(&document, store_file.to_string()).unwrap();

    let store = Store::open(&path, at(1).0).unwrap();
    let first = store.import(reading(&document)).unwrap();
    assert!(first.is_complete(), "{first:?}");
    let again = store.import(reading(&document)).unwrap();
    assert_eq!((again.inserted, again.conflicts.len()), (0, 0));
    for id in ids {
        assert!(
            store
                .resolve(&ForeignId::new("pam", "\u{feff}owner", id))
                .unwrap()
                .is_some(),
            "{id:?}"
        );
    }
    let old = store.put(prefers("a")).unwrap();
    let refused = store.supersede(&old, prefers("b").derived_from(old), Some("\u{feff}"));
    assert_eq!(refused.unwrap_err().code(), "ERR_CORRUPT");
    store
        .supersede(&old, prefers("b").derived_from(old), Some("e\u{301}\0"))
        .unwrap();
    drop(store);
    let store = Store::open(&path, at(1).0).unwrap();
    assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
    let filter = Filter::new().object("b");
    assert_eq!(store.query(&filter, 1, None).unwrap().total, 1);
}

#[test]
fn export_import_export_of_ten_thousand_grains_is_byte_identical() {
    let folder = tempfile::tempdir().unwrap();
    let (options, clock) = at(0);
    let store = Store::in_memory(options).unwrap();
    let mut heads = Vec::new();
    for batch in 0..10_i64 {
        clock.set(batch * 1_000);
        let drafts = (0..999_i64).map(|n| {
            prefers(&format!("thing {batch}-{n}"))
                .set("subject", format!("subject {}", n % 50))
                .created_at(Time::from_ms((n * 7919) % 10_007 - 500))
        });
        let drafts: Vec<_> = drafts.map(|draft| draft.set("app_batch", batch)).collect();
        heads.push(addresses_of(&store.put_batch(drafts).unwrap())[500]);
    }
    for head in heads {
        store
            .supersede(&head, prefers("newer").derived_from(head), None)
            .unwrap();
    }
    assert_eq!(store.maintenance().unwrap().stats().unwrap().grains, 10_000);
    let all = Filter::new().with_superseded();
    for format in [Format::Mg, Format::Jsonl] {
        let mut first = Vec::new();
        store
            .admin()
            .unwrap()
            .export(format, &all, &Default::default(), &mut first)
            .unwrap();
        let path = folder.path().join(format.name());
        std::fs::write(&path, &first).unwrap();
        let copy = memory();
        let summary = copy.import(reading(&path)).unwrap();
        assert_eq!((summary.inserted, summary.refused.len()), (10_000, 0));
        let mut second = Vec::new();
        copy.admin()
            .unwrap()
            .export(format, &all, &Default::default(), &mut second)
            .unwrap();
        assert!(
            first == second,
            "{format}: {} and {} bytes",
            first.len(),
            second.len()
        );
        assert_eq!(
            copy.maintenance().unwrap().stats().unwrap().current,
            store.maintenance().unwrap().stats().unwrap().current
        );
    }
}

#[test]
fn an_archive_cannot_change_the_status_of_what_is_here() {
    // Ruling I18: what an archive says about a grain that is here already is advice.
    let folder = tempfile::tempdir().unwrap();
    let store = memory();
    let old = store
        .put(prefers("a").created_at(Time::from_ms(1)))
        .unwrap();
    let mut before = Vec::new();
    store
        .admin()
        .unwrap()
        .export(Format::Mg, &Filter::new(), &Default::default(), &mut before)
        .unwrap();
    store
        .supersede(&old, prefers("b").derived_from(old), None)
        .unwrap();

    let path = folder.path().join("before.mg");
    std::fs::write(&path, before).unwrap();
    let summary = store.import(reading(&path)).unwrap();
    assert_eq!((summary.inserted, summary.unchanged), (0, 1));
    assert!(
        !store.status(&old).unwrap().is_current(),
        "it stays superseded"
    );

    let hostile = folder.path().join("hostile.jsonl");
    let grain: Grain = store.get(&old).unwrap().unwrap();
    let status = format!(r#"{{"status":{{"of":"{old}","verification_status":"verified"}}}}"#);
    std::fs::write(&hostile, format!("{}\n{status}\n", grain.to_json())).unwrap();
    store.import(reading(&hostile)).unwrap();
    assert_eq!(
        store.status(&old).unwrap().verification,
        Verification::Unverified
    );
}
