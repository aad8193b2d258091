//! Imports that change what an import before brought: updates, conflicts, and nothing twice.

use grainstore::codec::{Map, Profile, Value};
use grainstore::grain::{Lifecycle, Verification};
use grainstore::interchange::{
    ForeignId, Format, ImportFile, Place, ReadOptions, Record, WriteOptions,
};
use grainstore::store::{Authorization, Summary};
use grainstore::{ContentAddress, Draft, Filter, Grain, Options, Store, Time};

use super::foreign::{edit, json, sha256, text_of};

fn memory() -> Store {
    Store::in_memory(Options::default()).unwrap()
}

fn reading(file: &Map) -> ImportFile {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    std::fs::write(&path, text_of(file)).unwrap();
    let options = ReadOptions {
        scope: Some("test".into()),
        ..ReadOptions::default()
    };
    let reading = ImportFile::open(&path, None, &options).unwrap();
    assert!(reading.errors.is_empty(), "{:?}", reading.errors);
    reading
}

/// Imports a file, and holds the preview of it to what comes of it.
fn import(store: &Store, file: &Map) -> Summary {
    let before = store.maintenance().unwrap().stats().unwrap().entries;
    let preview = store
        .admin()
        .unwrap()
        .preview_import(reading(file))
        .unwrap();
    assert_eq!(
        store.maintenance().unwrap().stats().unwrap().entries,
        before,
        "nothing is written"
    );
    let summary = store.import(reading(file)).unwrap();
    assert_eq!(format!("{preview:?}"), format!("{summary:?}"));
    summary
}

/// Inserted, updated, unchanged, conflicts.
fn counts(summary: &Summary) -> [u64; 4] {
    assert_eq!(summary.refusals(), 0, "{summary:?}");
    let conflicts = u64::try_from(summary.conflicts.len()).unwrap();
    [
        summary.inserted,
        summary.updated,
        summary.unchanged,
        conflicts,
    ]
}

fn resolve(store: &Store, name: [&str; 3]) -> ContentAddress {
    let [format, scope, id] = name;
    store
        .resolve(&ForeignId::new(format.to_owned(), scope, id))
        .unwrap()
        .unwrap()
}

fn export(store: &Store, format: Format) -> Map {
    let mut bytes = Vec::new();
    let filter = Filter::new().with_superseded();
    let options = WriteOptions::default();
    store
        .admin()
        .unwrap()
        .export(format, &filter, &options, &mut bytes)
        .unwrap();
    json(&String::from_utf8(bytes).unwrap())
}

fn memory_of(id: &str, content: &str, rest: &str) -> Value {
    let hash = sha256(content.as_bytes());
    Value::from_json(&format!(
        r#"{{"id": "{id}", "type": "fact", "content": "{content}", "content_hash": "{hash}",
        "temporal": {{"created_at": "2026-01-01T00:00:00Z"{rest}}},
        "provenance": {{"platform": "local"}}, "status": "active", "tags": []}}"#
    ))
    .unwrap()
}

fn pam(export_id: &str, members: &str, memories: Vec<Value>) -> Map {
    let mut store = json(&format!(
        r#"{{"schema": "portable-ai-memory", "schema_version": "1.0", "owner": {{"id": "o"}},
        "export_id": "{export_id}", "export_date": "2026-02-01T00:00:00Z"{members}}}"#
    ));
    store.insert("memories", memories);
    store
}

const DELTA: &str = r#", "export_type": "incremental", "base_export_id": "one""#;

fn relation() -> &'static str {
    r#", "relations": [{"id": "r", "from": "a", "to": "b", "type": "supports",
        "created_at": "2026-01-01T00:00:00Z"}]"#
}

fn full() -> Map {
    let memories = vec![memory_of("a", "tea", ""), memory_of("b", "milk", "")];
    pam("one", relation(), memories)
}

/// What the owner did meanwhile: `a` says something else, `b` is retracted, `c` is new.
fn delta() -> Map {
    let updated = r#", "updated_at": "2026-01-02T00:00:00Z""#;
    let mut retracted = memory_of("b", "milk", updated);
    if let Value::Map(memory) = &mut retracted {
        memory.insert("status", "retracted");
    }
    let memories = vec![
        memory_of("a", "green tea", updated),
        retracted,
        memory_of("c", "water", ""),
    ];
    pam("two", DELTA, memories)
}

#[test]
fn full_delta_and_full_again_change_what_changed_and_then_nothing() {
    let store = memory();
    // The envelope, two memories and their relation.
    assert_eq!(counts(&import(&store, &full())), [4, 0, 0, 0]);
    let old = ["a", "b"].map(|id| resolve(&store, ["pam", "o", id]));
    assert_eq!(counts(&import(&store, &delta())), [2, 2, 0, 0]);
    let new = ["a", "b"].map(|id| resolve(&store, ["pam", "o", id]));
    for (old, new) in old.iter().zip(&new) {
        assert_eq!(store.status(old).unwrap().superseded_by, Some(*new));
        let grain = store.get(new).unwrap().unwrap();
        assert!(grain.derived_from().any(|source| source == *old));
    }
    assert!(store.status(&new[0]).unwrap().is_current());
    let retracted = store.status(&new[1]).unwrap();
    assert_eq!(retracted.verification, Verification::Retracted);
    assert!(!retracted.is_current(), "kept, and out of use (PAM 16)");
    assert_eq!(counts(&import(&store, &full())), [0, 0, 4, 0]);
    assert_eq!(counts(&import(&store, &delta())), [0, 0, 4, 0]);
    // The export has one version of each.
    let out = export(&store, Format::Pam);
    let memories = out.get("memories").and_then(Value::as_array).unwrap();
    let texts: Vec<_> = memories
        .iter()
        .map(|it| {
            it.as_map()
                .unwrap()
                .get("content")
                .unwrap()
                .as_text()
                .unwrap()
        })
        .collect();
    assert_eq!(texts, ["green tea", "milk", "water"]);
}

#[test]
fn the_grains_of_an_update_do_not_depend_on_when_it_was_imported() {
    let addresses = || {
        let store = memory();
        for file in [full(), delta()] {
            import(&store, &file);
        }
        store.list(None, 100).unwrap().addresses
    };
    assert_eq!(addresses(), addresses());
}

#[test]
fn a_delta_whose_base_was_never_imported_is_told_and_what_is_older_changes_nothing() {
    let store = memory();
    let summary = import(&store, &delta());
    assert!(summary.findings[0].1.starts_with("PAM_UNKNOWN_BASE"));
    assert_eq!(counts(&summary), [4, 0, 0, 0]);
    let head = resolve(&store, ["pam", "o", "a"]);
    // The base comes late: its memories are older than what is here.
    let summary = import(&store, &full());
    assert_eq!(counts(&summary), [2, 0, 2, 0]);
    assert_eq!(summary.findings.len(), 2, "{:?}", summary.findings);
    assert_eq!(resolve(&store, ["pam", "o", "a"]), head);
    // The relation names what is here.
    let relation = resolve(&store, ["pam:relation", "o", "r"]);
    let relation = store.get(&relation).unwrap().unwrap();
    assert!(relation.related_to().any(|address| address == head));
}

#[test]
fn what_replaces_a_memory_in_a_delta_is_linked_whatever_it_is_called_here() {
    let store = memory();
    import(&store, &full());
    let gone = r#", "updated_at": "2026-01-03T00:00:00Z", "superseded_by": "n""#;
    let mut a = memory_of("a", "tea", gone);
    if let Value::Map(memory) = &mut a {
        memory.insert("status", "superseded");
    }
    let file = pam("three", DELTA, vec![a, memory_of("n", "coffee", "")]);
    assert_eq!(counts(&import(&store, &file)), [2, 1, 0, 0]);
    let [a, n] = ["a", "n"].map(|id| resolve(&store, ["pam", "o", id]));
    assert_eq!(store.status(&a).unwrap().superseded_by, Some(n));
    assert!(store.status(&n).unwrap().is_current());
    assert_eq!(counts(&import(&store, &file)), [0, 0, 3, 0]);
    let out = export(&store, Format::Pam);
    let memory = out.get("memories").unwrap().as_array().unwrap()[1].as_map();
    assert_eq!(
        memory.unwrap().get("status").unwrap().as_text(),
        Some("superseded")
    );
}

#[test]
fn what_replaces_a_memory_of_a_delta_may_have_come_with_its_base() {
    let store = memory();
    import(&store, &full());
    let by = |id: &str| {
        let gone = format!(r#", "updated_at": "2026-01-03T00:00:00Z", "superseded_by": "{id}""#);
        let mut a = memory_of("a", "tea", &gone);
        if let Value::Map(memory) = &mut a {
            memory.insert("status", "superseded");
        }
        a
    };
    import(&store, &pam("three", DELTA, vec![by("b")]));
    let [a, b] = ["a", "b"].map(|id| resolve(&store, ["pam", "o", id]));
    assert_eq!(store.status(&a).unwrap().superseded_by, Some(b));
    assert!(store.status(&b).unwrap().is_current());
    let out = export(&store, Format::Pam);
    let memories = out.get("memories").unwrap().as_array().unwrap().iter();
    let named: Vec<_> = memories
        .filter_map(|it| {
            it.as_map()?
                .get("temporal")?
                .as_map()?
                .get("superseded_by")?
                .as_text()
        })
        .collect();
    assert_eq!(named, ["b"]);
    // What nobody knows is told, and names nothing.
    let store = memory();
    let summary = import(&store, &pam("three", DELTA, vec![by("nobody")]));
    assert!(!summary.findings.is_empty(), "{summary:?}");
    let status = store.status(&resolve(&store, ["pam", "o", "a"])).unwrap();
    assert_eq!(
        (status.superseded_by, status.lifecycle),
        (None, Lifecycle::Superseded)
    );
}

#[test]
fn what_was_changed_here_and_there_is_a_conflict_until_somebody_chooses() {
    let store = memory();
    import(&store, &full());
    let mine = resolve(&store, ["pam", "o", "a"]);
    store.contradict(&mine, None).unwrap();
    let summary = import(&store, &delta());
    let conflict = &summary.conflicts[0];
    let theirs = conflict.versions[1];
    assert_eq!((conflict.versions[0], summary.conflicts.len()), (mine, 1));
    let listed = store.admin().unwrap().conflicts().unwrap();
    assert_eq!(listed[0].id, Some(ForeignId::new("pam", "o", "a")));
    assert_eq!(listed[0].versions, [theirs, mine]);
    store
        .admin()
        .unwrap()
        .resolve_conflict(&theirs, None)
        .unwrap();
    assert_eq!(store.admin().unwrap().conflicts().unwrap(), []);
    assert_eq!(resolve(&store, ["pam", "o", "a"]), theirs);
    assert_eq!(counts(&import(&store, &delta())), [0, 0, 4, 0]);
    let error = store
        .admin()
        .unwrap()
        .resolve_conflict(&theirs, None)
        .unwrap_err();
    assert_eq!(error.code(), "ERR_NOT_FOUND");
}

#[test]
fn two_omi_records_of_one_key_are_both_kept_and_both_flagged() {
    let store = memory();
    let mut file = super::omi::sample();
    import(&store, &file);
    edit(&mut file, "memories/3/content", Some("\"boil less water\""));
    let summary = import(&store, &file);
    let id = summary.conflicts[0].id.as_ref().unwrap();
    let [old, new] = summary.conflicts[0].versions[..] else {
        panic!("{summary:?}");
    };
    assert_eq!(id.id(), "4");
    assert!(store.status(&new).unwrap().is_current() && store.status(&old).unwrap().is_current());
    assert_eq!(
        store.admin().unwrap().conflicts().unwrap()[0].versions,
        [new, old]
    );
    // Neither file is news any more.
    assert_eq!(counts(&import(&store, &file))[3], 0);
    assert_eq!(counts(&import(&store, &super::omi::sample()))[3], 0);
    store
        .admin()
        .unwrap()
        .resolve_conflict(&old, Some("measured"))
        .unwrap();
    assert!(store.status(&new).unwrap().contradicted);
    assert!(store.status(&old).unwrap().is_current());
    assert_eq!(store.admin().unwrap().conflicts().unwrap(), []);
}

#[test]
fn a_chunk_that_is_newer_replaces_one_and_one_of_the_same_time_is_rejected() {
    let store = memory();
    let mut bundle = super::aimem::sample();
    assert_eq!(counts(&import(&store, &bundle)), [14, 0, 0, 0]);
    let chunk = |id: &str| resolve(&store, ["aimem", "test", id]);
    let (fact, preference) = (chunk("fact"), chunk("preference"));
    // AIMEM 2.9: the hash differs and created_at does not.
    edit(&mut bundle, "chunks/1/content", Some("\"tea\""));
    let hash = format!("\"{}\"", sha256(b"tea"));
    edit(&mut bundle, "chunks/1/content_hash", Some(&hash));
    // Newer by a digit that no millisecond holds.
    let newer = "\"2026-04-01T09:30:00.1234561Z\"";
    edit(&mut bundle, "chunks/0/created_at", Some(newer));
    edit(&mut bundle, "edges/0/weight", Some("0.25"));
    super::aimem::seal(&mut bundle);
    let summary = import(&store, &bundle);
    // The envelope is another one.
    assert_eq!(counts(&summary), [1, 2, 10, 1]);
    let conflict = &summary.conflicts[0];
    assert_eq!(conflict.versions, [preference]);
    assert_eq!(
        store.status(&fact).unwrap().superseded_by,
        Some(chunk("fact"))
    );
    let edge = Filter::new()
        .subject("urn:aimem:test:fact")
        .relation("aimem:edge:x-own");
    let edges = store.query(&edge, 10, None).unwrap();
    assert_eq!(edges.total, 1, "the edge before is superseded");
    let ends: Vec<_> = edges.results[0].grain.related_to().collect();
    assert_eq!(ends, [chunk("fact"), chunk("goal")]);
    assert_eq!(counts(&import(&store, &bundle)), [0, 0, 13, 1]);
    assert_eq!(
        counts(&import(&store, &super::aimem::sample())),
        [0, 0, 14, 0]
    );
}

#[test]
fn what_policy_protects_is_not_replaced_by_an_import_and_the_refusal_is_told() {
    let store = memory();
    import(&store, &full());
    let held = resolve(&store, ["pam", "o", "a"]);
    let mandate = Authorization {
        reason: "Doe v. Acme",
        authority: "legal",
    };
    store.admin().unwrap().place_hold(&held, mandate).unwrap();
    let summary = import(&store, &delta());
    let denied: Vec<_> = summary
        .denied
        .iter()
        .map(|(_, existing, _)| *existing)
        .collect();
    assert_eq!((denied, summary.is_complete()), (vec![held], false));
    assert_eq!((summary.updated, summary.refusals()), (1, 1));
    assert_eq!(resolve(&store, ["pam", "o", "a"]), held);
    assert!(store.status(&held).unwrap().is_current());
    // The rest went in, and what is lifted may go in as well.
    store.admin().unwrap().lift_hold(&held, mandate).unwrap();
    assert_eq!(counts(&import(&store, &delta())), [0, 1, 3, 0]);
    assert!(!store.status(&held).unwrap().is_current());
}

#[test]
fn a_grain_that_is_here_stays_what_others_mean_by_it_when_its_record_contradicts_a_name() {
    let store = memory();
    let put = |draft: Draft| {
        let grain = draft.finish(Profile::Extended).unwrap();
        store.put(grain.clone()).unwrap();
        grain
    };
    let event = |text: &str| Draft::event(text).created_at(Time::from_ms(1));
    let first = put(event("first"));
    let derived = put(event("derived").derived_from(first.address()));
    let named = |grain: &Grain, id: &str, line: u64| {
        let mut record = Record::new(grain.clone(), Place::Line(line));
        record.foreign_id = Some(ForeignId::new("pam", "somebody", id));
        record
    };
    let other = event("other").finish(Profile::Extended).unwrap();
    let import = |records: Vec<Record>| {
        let reading = ImportFile {
            records: records.into(),
            ..ImportFile::new(Format::Pam)
        };
        store.import(reading).unwrap()
    };
    import(vec![named(&other, "a", 1)]);
    let summary = import(vec![named(&first, "a", 1), named(&derived, "b", 2)]);
    assert_eq!((summary.conflicts.len(), summary.inserted), (1, 0));
    assert_eq!(store.maintenance().unwrap().stats().unwrap().grains, 3);
}

#[test]
fn a_preview_of_more_than_a_batch_counts_what_an_import_counts() {
    let line = |nth: usize| {
        let at = Time::from_ms(1_777_622_400_000 + i64::try_from(nth).unwrap());
        let grain = Draft::event(format!("turn {nth}")).created_at(at);
        grain.finish(Profile::Extended).unwrap().to_json() + "\n"
    };
    // All of them come twice, and the second time in another batch.
    let lines: String = (0..1_200).chain(0..1_200).map(line).collect();
    let graph: String = (0..1_200)
        .map(|nth| {
            let (name, note) = (format!("n{}", nth % 900), format!("seen {nth}"));
            format!(
                "{{\"type\":\"entity\",\"name\":\"{name}\",\"entityType\":\"thing\",\"observations\":[\"{note}\"]}}\n"
            )
        })
        .collect();
    for (text, counted) in [(lines, [1_200, 0, 1_200, 0]), (graph, [2_100, 0, 0, 0])] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file.jsonl");
        std::fs::write(&path, text).unwrap();
        let read = || ImportFile::open(&path, None, &ReadOptions::default()).unwrap();
        let store = memory();
        let preview = store.admin().unwrap().preview_import(read()).unwrap();
        let summary = store.import(read()).unwrap();
        assert_eq!(counts(&preview), counted);
        assert_eq!(counts(&summary), counted);
        let again = store.admin().unwrap().preview_import(read()).unwrap();
        let known = counted.iter().sum::<u64>();
        assert_eq!(counts(&again), [0, 0, known, 0]);
    }
}
