//! AIMEM bundles: the corpus of the reference, every rule, and what comes of records.

use grainstore::codec::{Map, Profile, Value};
use grainstore::grain::Type;
use grainstore::interchange::{Format, ImportFile, ReadOptions};
use grainstore::{Options, Store};

use super::foreign::{codes, corpus, edit, files, json, sha256, text_of};
use crate::whole::{Import, aimem};

/// What the files of the corpus that are wrong come to.
const INVALID: [(&str, &str); 14] = [
    ("bad_chunk_urn.json", "invalid_urn"),
    ("bad_content_hash.json", "hash_mismatch"),
    ("bad_memory_type.json", "invalid_memory_type"),
    ("bad_producer_uppercase.json", "invalid_producer"),
    ("bad_scope.json", "invalid_scope"),
    ("checksum_mismatch.json", "checksum_mismatch"),
    ("duplicate_chunk_id.json", "duplicate_chunk_id"),
    ("edge_target_unknown.json", "edge_target_unknown"),
    ("edge_weight_too_high.json", "edge_weight_out_of_range"),
    (
        "embedding_without_envelope.json",
        "embedding_envelope_missing",
    ),
    ("missing_format.json", "bad_format"),
    ("since_missing.json", "since_missing"),
    ("wrong_format.json", "bad_format"),
    ("wrong_version.json", "unsupported_version"),
];

fn read(bundle: &Map) -> Result<Import, Vec<grainstore::interchange::Error>> {
    aimem::read(text_of(bundle).as_bytes(), Profile::Extended)
}

/// Gives a bundle the checksum it should have.
pub(super) fn seal(bundle: &mut Map) {
    bundle.remove("checksum");
    let checksum = sha256(&Value::Map(bundle.clone()).to_jcs());
    bundle.insert("checksum", checksum);
}

/// A bundle with a chunk of every kind, an edge, an entity and a mention.
pub(super) fn sample() -> Map {
    let chunk = |local: &str, kind: &str, content: &str| {
        let mut chunk = Map::new();
        chunk.insert("id", format!("urn:aimem:test:{local}"));
        chunk.insert("content", content);
        chunk.insert("content_hash", sha256(content.as_bytes()));
        chunk.insert("memory_type", kind);
        chunk.insert("created_at", "2026-04-01T09:30:00.123456Z");
        Value::Map(chunk)
    };
    let kinds = [
        "fact",
        "preference",
        "decision",
        "identity",
        "pitfall",
        "procedure",
        "episodic",
        "goal",
    ];
    let mut chunks: Vec<_> = kinds.iter().map(|kind| chunk(kind, kind, kind)).collect();
    chunks.push(chunk("odd", "goal", "\u{feff}"));
    chunks.push(chunk(
        "e\u{301}".get(..1).unwrap(),
        "episodic",
        "Zoe\u{308} 😀\u{feff}",
    ));
    let mut bundle = json(
        r#"{"format": "aimem-bundle", "version": "1", "producer": "test",
        "tenant_id": "11111111-1111-1111-1111-111111111111",
        "exported_at": "2026-06-12T10:00:00Z", "scope": "FULL", "x_vendor": [null, 1.0],
        "edges": [{"source_id": "urn:aimem:test:fact", "target_id": "urn:aimem:test:goal",
            "edge_type": "x-own", "weight": 1, "created_at": "2026-04-15T08:00:00+00:00"}],
        "entities": [{"id": "urn:aimem:test:postgres", "name": "PostgreSQL", "kind": "technology",
            "created_at": "2026-04-01T09:30:00Z", "note": null}],
        "chunk_entities": [{"chunk_id": "urn:aimem:test:fact",
            "entity_id": "urn:aimem:test:postgres"}]}"#,
    );
    bundle.insert("chunks", chunks);
    edit(&mut bundle, "chunks/0/zone", Some("\"critical\""));
    edit(
        &mut bundle,
        "chunks/0/tags",
        Some("[\"db\", \"phi:mrn\", \"\u{feff}\"]"),
    );
    edit(&mut bundle, "chunks/0/is_pinned", Some("true"));
    edit(&mut bundle, "chunks/0/embedding", Some("null"));
    seal(&mut bundle);
    bundle
}

#[test]
#[ignore = "needs corpora"]
fn the_corpus_of_the_reference_comes_to_what_its_names_say() {
    let folder = corpus("data/aimem/corpus");
    let mut invalid = Vec::new();
    for (name, bytes) in files(&folder.join("invalid")) {
        let errors = aimem::read(&bytes, Profile::Extended).unwrap_err();
        invalid.push((name, errors[0].code().as_str()));
        let found = Format::detect(&folder.join("invalid").join(&invalid.last().unwrap().0));
        assert!(matches!(found, Ok(Format::Aimem)) || errors[0].code() == "bad_format");
    }
    let invalid: Vec<_> = invalid
        .iter()
        .map(|(name, code)| (name.as_str(), *code))
        .collect();
    assert_eq!(invalid, INVALID);
    let mut count = 0;
    for kind in ["valid", "edge"] {
        for (name, bytes) in files(&folder.join(kind)) {
            let import = aimem::read(&bytes, Profile::Extended);
            let import = import.unwrap_or_else(|errors| unreachable!("{name}: {errors:?}"));
            assert_eq!(
                rebuilt(&import),
                json(std::str::from_utf8(&bytes).unwrap()),
                "{name}"
            );
            count += 1;
        }
    }
    assert_eq!(count, 14);
}

/// Puts the records back into the arrays of their envelope.
fn rebuilt(import: &Import) -> Map {
    let mut records = import.records.iter();
    let Some(Value::Map(mut bundle)) = aimem::residual(&records.next().unwrap().grain) else {
        unreachable!("an envelope is an object");
    };
    for record in records {
        let place = record.place.to_string();
        let name = place.split('/').nth(1).unwrap();
        if let Some(Value::Array(items)) = bundle.get_mut(name) {
            items.push(aimem::residual(&record.grain).unwrap());
        }
    }
    bundle
}

#[test]
fn every_record_comes_back_as_it_was() {
    let bundle = sample();
    let import = read(&bundle).unwrap();
    assert_eq!(rebuilt(&import), bundle);
    assert_eq!(import.records.len(), 1 + 10 + 1 + 1 + 1);
    assert!(import.findings.is_empty(), "{:?}", import.findings);
}

#[test]
fn a_memory_type_decides_the_grain_and_tags_raise_no_sensitivity() {
    let import = read(&sample()).unwrap();
    let grain = |local: &str| {
        let is_it = |id: &grainstore::interchange::ForeignId| {
            (id.format(), id.scope(), id.id()) == ("aimem", "test", local)
        };
        let mut records = import.records.iter();
        let record = records.find(|record| record.foreign_id.as_ref().is_some_and(is_it));
        &record.unwrap().grain
    };
    for (local, relation) in [
        ("fact", "aimem:fact"),
        ("preference", "mg:prefers"),
        ("decision", "aimem:decision"),
        ("identity", "aimem:identity"),
        ("pitfall", "mg:avoids"),
        ("procedure", "mg:requires_steps"),
        ("odd", "aimem:goal"),
    ] {
        assert_eq!(grain(local).text("relation"), Some(relation), "{local}");
    }
    assert_eq!(grain("episodic").type_(), Type::Event);
    assert_eq!(grain("goal").type_(), Type::Goal);
    let fact = grain("fact");
    assert_eq!(fact.text("recall_priority"), Some("hot"));
    let tags: Vec<_> = fact.field("structural_tags").unwrap().texts().collect();
    assert_eq!(tags, ["db", "t:phi:mrn"]);
    assert_eq!(
        fact.header().sensitivity(),
        grainstore::codec::Sensitivity::Public
    );
}

#[test]
fn what_is_of_the_dna_class_or_pinned_is_protected() {
    let import = read(&sample()).unwrap();
    let protected: Vec<_> = import
        .records
        .iter()
        .filter(|record| grainstore::policy::is_lasting(&record.grain))
        .map(|record| record.foreign_id.as_ref().unwrap().id())
        .collect();
    let dna = [
        "fact",
        "preference",
        "decision",
        "identity",
        "pitfall",
        "procedure",
    ];
    assert_eq!(protected, dna, "the fact is pinned");
}

/// One change to the sample, and the code it comes to; a path alone removes its member.
#[rustfmt::skip]
const FAULTS: [(&str, Option<&str>, &str); 46] = [
    ("format", Some("\"vendor\""), "bad_format"),
    ("version", Some("1"), "unsupported_version"),
    ("version", Some("\"2\""), "unsupported_version"),
    ("version", None, "unsupported_version"),
    ("producer", None, "missing_field"),
    ("producer", Some("\"a_b\""), "invalid_producer"),
    ("producer", Some("\"\""), "invalid_producer"),
    ("tenant_id", None, "missing_field"),
    ("tenant_id", Some("\"me\""), "invalid_tenant_id"),
    ("tenant_id", Some("\"11111111-1111-1111-1111-11111111111g\""), "invalid_tenant_id"),
    ("exported_at", None, "missing_field"),
    ("exported_at", Some("\"2026-06-12T10:00:00+01:00\""), "invalid_timestamp"),
    ("exported_at", Some("\"2026-06-12\""), "invalid_timestamp"),
    ("scope", None, "missing_field"),
    ("scope", Some("\"SINCE\""), "since_missing"),
    ("scope", Some("\"full\""), "invalid_scope"),
    // Without the array it is read as the first line of a stream, which has no other arrays either.
    ("chunks", None, "invalid_field"),
    ("chunks", Some("{}"), "invalid_field"),
    ("edges", Some("1"), "invalid_field"),
    ("embedding_dim", Some("0"), "invalid_field"),
    ("embedding_model", Some("\"\""), "invalid_field"),
    ("chunks/0", Some("[]"), "not_object"),
    ("chunks/0/id", None, "missing_field"),
    ("chunks/0/id", Some("\"urn:aimem:test:a:b\""), "invalid_urn"),
    ("chunks/1/content", Some("\"\""), "empty_content"),
    ("chunks/1/content", None, "missing_field"),
    ("chunks/1/content_hash", Some("\"sha256:0\""), "bad_hash_format"),
    ("chunks/1/content", Some("\"other\""), "hash_mismatch"),
    ("chunks/0/memory_type", None, "missing_field"),
    ("chunks/0/zone", Some("\"vip\""), "invalid_zone"),
    ("chunks/0/is_pinned", Some("\"yes\""), "invalid_field"),
    ("chunks/0/created_at", Some("\"2026-04-01T09:30:00\""), "invalid_timestamp"),
    ("chunks/0/tags", Some("\"abc\""), "invalid_tag"),
    ("chunks/0/tags", Some("[\"\"]"), "invalid_tag"),
    ("chunks/0/embedding", Some("\"AAAA\""), "embedding_envelope_missing"),
    ("edges/0/source_id", Some("\"urn:aimem:test:none\""), "edge_source_unknown"),
    ("edges/0/target_id", Some("\"urn:aimem:test:none\""), "edge_target_unknown"),
    ("edges/0/edge_type", Some("\"own\""), "invalid_edge_type"),
    ("edges/0/weight", Some("-0.1"), "edge_weight_out_of_range"),
    ("edges/0/weight", Some("\"1\""), "invalid_field"),
    ("entities/0/name", Some("\"\""), "empty_entity_name"),
    ("entities/0/kind", Some("\"animal\""), "invalid_entity_kind"),
    ("chunk_entities/0/chunk_id", Some("\"urn:aimem:test:none\""), "ce_chunk_unknown"),
    ("chunk_entities/0/entity_id", Some("\"urn:aimem:test:none\""), "ce_entity_unknown"),
    ("x_vendor", Some("[9007199254740992]"), "invalid_field"),
    ("chunks/1/id", Some("\"urn:aimem:test:fact\""), "duplicate_chunk_id"),
];

#[test]
fn every_rule_of_the_format_has_its_code() {
    for (path, json, code) in FAULTS {
        let mut bundle = sample();
        edit(&mut bundle, path, json);
        seal(&mut bundle);
        let errors = read(&bundle).expect_err(path);
        assert_eq!(errors[0].code(), code, "{path} {json:?}: {errors:?}");
    }
    let mut bundle = sample();
    edit(&mut bundle, "checksum", None);
    assert_eq!(codes(&read(&bundle).unwrap_err()), ["missing_checksum"]);
    edit(&mut bundle, "checksum", Some("\"md5:0\""));
    assert_eq!(codes(&read(&bundle).unwrap_err()), ["missing_checksum"]);
}

#[test]
fn the_envelope_is_judged_before_the_checksum_and_the_checksum_before_the_records() {
    let mut bundle = sample();
    edit(&mut bundle, "chunks/0/memory_type", Some("\"none\""));
    assert_eq!(codes(&read(&bundle).unwrap_err()), ["checksum_mismatch"]);
    edit(&mut bundle, "checksum", Some("1"));
    assert_eq!(codes(&read(&bundle).unwrap_err()), ["missing_checksum"]);
    edit(&mut bundle, "version", Some("\"2\""));
    assert_eq!(codes(&read(&bundle).unwrap_err()), ["unsupported_version"]);
}

#[test]
fn a_vector_has_the_length_and_the_model_of_the_envelope() {
    let mut bundle = sample();
    edit(&mut bundle, "embedding_dim", Some("4"));
    edit(&mut bundle, "embedding_model", Some("\"m\""));
    for (vector, code) in [
        ("\"zczMPc3MTD6amZm+zczMPg==\"", None),
        ("\"zczMPQ==\"", Some("embedding_dim_mismatch")),
        ("\"zczMPc3MTD6amZm-zczMPg==\"", Some("embedding_encoding")),
        ("\"zczMPc3MTD6amZm+zczMPg\"", Some("embedding_encoding")),
        ("[1, 2, 3, 4]", Some("embedding_encoding")),
    ] {
        edit(&mut bundle, "chunks/0/embedding", Some(vector));
        seal(&mut bundle);
        let read = read(&bundle);
        assert_eq!(
            read.as_ref().err().map(|errors| errors[0].code().as_str()),
            code,
            "{vector}"
        );
        if let Ok(import) = read {
            assert_eq!(rebuilt(&import), bundle);
        }
    }
}

#[test]
fn content_is_as_long_as_the_format_allows_and_no_longer() {
    for (len, fits) in [(65_536, true), (65_537, false)] {
        let content = "😀".repeat(len);
        let mut bundle = sample();
        edit(&mut bundle, "chunks/0/content_hash", None);
        edit(
            &mut bundle,
            "chunks/0/content",
            Some(&Value::from(content).to_json()),
        );
        seal(&mut bundle);
        match read(&bundle) {
            Ok(import) => assert!(fits && rebuilt(&import) == bundle),
            Err(errors) => assert!(
                !fits && codes(&errors) == ["content_too_long"],
                "{len}: {:?}",
                codes(&errors)
            ),
        }
    }
}

#[test]
fn arrays_but_the_chunks_may_be_absent_and_what_is_odd_is_told() {
    let mut bundle = sample();
    for name in ["edges", "entities", "chunk_entities"] {
        edit(&mut bundle, name, None);
    }
    edit(&mut bundle, "scope", Some("\"DNA_ONLY\""));
    edit(&mut bundle, "chunks/1/id", Some("\"urn:aimem:other:1\""));
    seal(&mut bundle);
    let import = read(&bundle).unwrap();
    let findings: Vec<_> = import
        .findings
        .iter()
        .map(|(place, message)| format!("{place} {message}"))
        .collect();
    assert_eq!(
        findings,
        [
            "/chunks/1 the URN is of another producer",
            "/chunks/6 is neither DNA-class nor pinned",
            "/chunks/7 is neither DNA-class nor pinned",
            "/chunks/8 is neither DNA-class nor pinned",
            "/chunks/9 is neither DNA-class nor pinned",
        ]
    );
    edit(&mut bundle, "scope", Some("\"SINCE\""));
    edit(&mut bundle, "since", Some("\"2026-05-01T00:00:00+02:00\""));
    seal(&mut bundle);
    assert_eq!(read(&bundle).unwrap().findings.len(), 11);
}

/// Spreads a bundle over lines.
pub(crate) fn stream(bundle: &Map) -> String {
    let mut envelope = bundle.clone();
    let mut lines = Vec::new();
    for (name, kind) in [
        ("chunks", "chunk"),
        ("edges", "edge"),
        ("entities", "entity"),
        ("chunk_entities", "chunk_entity"),
    ] {
        for item in envelope.remove(name).unwrap().as_array().unwrap() {
            let mut record = item.as_map().unwrap().clone();
            record.insert("_kind", kind);
            lines.push(text_of(&record));
        }
    }
    lines.insert(0, text_of(&envelope));
    lines.join("\n")
}

#[test]
fn a_stream_holds_what_its_bundle_holds() {
    let bundle = sample();
    let text = stream(&bundle);
    let whole = read(&bundle).unwrap();
    for text in [text.clone(), text.clone() + "\n"] {
        let streamed = aimem::read_stream(text.as_bytes(), Profile::Extended).unwrap();
        let addresses = |import: &Import| -> Vec<_> {
            import
                .records
                .iter()
                .map(|record| record.grain.address())
                .collect()
        };
        assert_eq!(addresses(&streamed), addresses(&whole));
        assert_eq!(streamed.records[2].place.to_string(), "line 3");
    }
    for (from, to, code) in [
        ("\"_kind\":\"edge\"", "\"_kind\":\"link\"", "invalid_kind"),
        ("\"_kind\":\"edge\",", "", "invalid_kind"),
        ("\"weight\":1", "\"weight\":0.5", "checksum_mismatch"),
        ("\n{", "\n\n{", "not_object"),
        (
            "\"version\":\"1\"",
            "\"version\":\"2\"",
            "unsupported_version",
        ),
        ("\"scope\":", "\"chunks\":[],\"scope\":", "invalid_field"),
        ("{\"checksum\"", "[{\"checksum\"", "not_object"),
    ] {
        assert!(text.contains(from), "{from}");
        let changed = text.replace(from, to);
        let errors = aimem::read_stream(changed.as_bytes(), Profile::Extended).unwrap_err();
        assert_eq!(errors[0].code(), code, "{from}");
    }
}

#[test]
fn a_bundle_imports_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::in_memory(Options::default()).unwrap();
    let path = folder.path().join("bundle");
    let bundle = sample();
    let import = |bundle: &Map| {
        std::fs::write(&path, text_of(bundle)).unwrap();
        let reading = ImportFile::open(&path, None, &ReadOptions::default()).unwrap();
        assert_eq!(reading.format, Format::Aimem);
        assert!(reading.errors.is_empty(), "{:?}", reading.errors);
        store.import(reading).unwrap()
    };
    assert_eq!(import(&bundle).inserted, 14);
    let again = import(&bundle);
    assert_eq!(
        (again.inserted, again.unchanged, again.conflicts.len()),
        (0, 14, 0)
    );
}
