//! How long a namespace may be (ruling I25), and what a longer one in an old ledger costs.

use std::time::{Duration, Instant};

use grainstore::codec::{Canonical, Encoding, Map, Profile};
use grainstore::grain::Namespace;
use grainstore::interchange::{Format, ImportFile, Place, ReadOptions, Record, RecordSet};
use grainstore::{Draft, Filter, Grain, Store, Time};

use crate::store::at;

fn note(namespace: &str) -> Draft {
    let draft = Draft::event("a note").namespace(namespace);
    draft.created_at(Time::from_ms(1))
}

/// A blob as a version without the limit wrote it.
fn old_blob(namespace: &str) -> Vec<u8> {
    let mut payload = Map::from_iter([("t", "event"), ("content", "a note"), ("ns", namespace)]);
    payload.insert("ca", 1);
    let payload = Canonical::new(payload, Profile::Extended).unwrap();
    let [high, low] = hash(namespace);
    let mut blob = vec![1, 0, 2, high, low, 0, 0, 0, 0];
    Encoding::MessagePack.encode_into(&mut blob, &payload);
    blob
}

fn hash(namespace: &str) -> [u8; 2] {
    grainstore::codec::Header::hash_namespace(Some(namespace))
}

#[test]
fn a_put_of_a_namespace_beyond_the_limits_is_refused() {
    let store = Store::in_memory(at(1).0).unwrap();
    let parts = |count: usize| vec!["p"; count].join(":");
    for allowed in ["n".repeat(512), parts(64), ":".repeat(63)] {
        store.put(note(&allowed)).unwrap();
    }
    for refused in ["n".repeat(513), parts(65), ":".repeat(500_000)] {
        let error = store.put(note(&refused)).unwrap_err();
        assert_eq!(error.code(), "ERR_RANGE", "{error}");
    }
    // NFC decides, as it decides what is stored (OMS 4.4): three bytes a letter become two.
    store.put(note(&"e\u{301}".repeat(171))).unwrap();
    let opaque = Draft::new(grainstore::grain::Type::Opaque(0xF0));
    let opaque = opaque.set("namespace", ":".repeat(64)).set("type", "x");
    let error = store.put(opaque).unwrap_err();
    assert_eq!(error.code(), "ERR_RANGE", "of a type that is not judged");
}

#[test]
fn an_import_refuses_the_record_of_a_namespace_beyond_the_limits_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.jsonl");
    let long = ":".repeat(64);
    let hex = data_encoding::HEXLOWER.encode(&old_blob(&long));
    let lines = [
        format!(r#"{{"type":"event","content":"a","created_at":1,"namespace":"{long}"}}"#),
        format!(r#"{{"blob":"{hex}"}}"#),
        r#"{"type":"event","content":"b","created_at":1,"namespace":"team"}"#.to_owned(),
    ];
    std::fs::write(&path, lines.join("\n")).unwrap();
    let file = ImportFile::open(&path, None, &ReadOptions::default()).unwrap();
    let codes: Vec<_> = file
        .errors
        .iter()
        .map(grainstore::interchange::Error::code)
        .collect();
    assert_eq!(codes, ["ERR_RANGE", "ERR_RANGE"], "{:?}", file.errors);
    let store = Store::in_memory(at(1).0).unwrap();
    let summary = store.import(file).unwrap();
    assert_eq!((summary.inserted, summary.is_complete()), (1, false));
}

#[test]
fn a_grain_that_a_ledger_holds_beyond_the_limits_is_read_and_costs_no_more_than_its_length() {
    let folder = tempfile::tempdir().unwrap();
    let long = format!("acme{}", ":".repeat(500_000));
    let grain = Grain::from_proven(old_blob(&long)).unwrap();
    let (address, began) = (grain.address(), Instant::now());
    let store = Store::open(folder.path(), at(1).0).unwrap();
    let mut file = ImportFile::new(Format::Jsonl);
    file.records = RecordSet::from(vec![Record::new(grain, Place::Line(1))]);
    assert_eq!(store.import(file).unwrap().inserted, 1);
    drop(store);

    let store = Store::open(folder.path(), at(1).0).unwrap();
    assert!(store.get(&address).unwrap().is_some());
    let inside = Filter::new().namespace("acme");
    assert_eq!(store.query(&inside, 10, None).unwrap().total, 1);
    let report = store.maintenance().unwrap().check().unwrap();
    let findings: Vec<_> = report.findings.iter().map(|it| it.id).collect();
    assert_eq!((findings, report.grains), (vec!["namespace-long"], 1));
    assert_eq!(Namespace::ancestors(&long).count(), 65);
    // Half a million ancestors of a quarter of a megabyte each took minutes.
    assert!(
        began.elapsed() < Duration::from_secs(20),
        "{:?}",
        began.elapsed()
    );
}
