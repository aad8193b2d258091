//! OMI-AI: the fixtures, every rule at its level, and what comes of records.

use std::path::Path;

use grainstore::codec::{Map, Value};
use grainstore::grain::Type;
use grainstore::interchange::omi::Level;
use grainstore::interchange::{Error, Format, ImportFile, ReadOptions};
use grainstore::{Options, Store};

use super::foreign::{codes, corpus, edit, files, json, text_of};
use crate::whole::{Import, omi};

fn read(bytes: &[u8], name: &str, level: Option<Level>) -> Result<Import, Vec<Error>> {
    let options = ReadOptions {
        omi_level: level,
        ..ReadOptions::default()
    };
    if name.ends_with("jsonl") {
        omi::read_lines(bytes, &options)
    } else {
        omi::read(bytes, &options)
    }
}

fn read_map(map: &Map, level: Option<Level>) -> Result<Import, Vec<Error>> {
    read(text_of(map).as_bytes(), "json", level)
}

#[test]
#[ignore = "needs corpora"]
fn the_named_fixtures_come_to_what_is_expected_of_them() {
    let folder = corpus("data/omi/fixtures");
    let expected = json(&std::fs::read_to_string(folder.join("expect.json")).unwrap());
    assert_eq!(expected.len(), 21);
    for (name, expected) in expected.iter() {
        let bytes = std::fs::read(folder.join(name)).unwrap();
        let expected = expected.as_map().unwrap();
        for (level, member) in [(Level::L0, "l0"), (Level::L1, "l1")] {
            let is_valid = expected.get(member).and_then(Value::as_bool).unwrap();
            match read(&bytes, name, Some(level)) {
                Ok(import) => {
                    assert!(is_valid, "{name} {member}");
                    rebuilds(&import, name, &bytes);
                }
                Err(errors) => {
                    assert!(!is_valid, "{name} {member}: {errors:?}");
                    let rules: Vec<_> = match expected.get("l1_rules") {
                        Some(rules) => rules.texts().collect(),
                        None => vec![expected.get("rule").and_then(Value::as_text).unwrap()],
                    };
                    assert!(
                        codes(&errors).iter().all(|code| rules.contains(code)),
                        "{errors:?}"
                    );
                }
            }
        }
        let is_prose = expected
            .get("l0_prose")
            .or(expected.get("l0"))
            .unwrap()
            .as_bool();
        assert_eq!(
            read(&bytes, name, None).is_ok(),
            is_prose.unwrap(),
            "{name}"
        );
        let found = Format::detect(&folder.join(name)).unwrap();
        assert_eq!(
            found.name().ends_with("jsonl"),
            name.ends_with("jsonl"),
            "{name}"
        );
    }
}

#[test]
#[ignore = "needs corpora"]
fn the_examples_of_the_text_are_read() {
    let folder = corpus("data/omi/examples");
    for (name, bytes) in files(&folder) {
        let import = read(&bytes, &name, Some(Level::L0)).unwrap();
        rebuilds(&import, &name, &bytes);
    }
}

/// Checks that the grains give back the file they came from.
fn rebuilds(import: &Import, name: &str, bytes: &[u8]) {
    let mut values: Vec<_> = import
        .records
        .iter()
        .filter_map(|record| omi::residual(&record.grain))
        .collect();
    let text = std::str::from_utf8(bytes).unwrap();
    let is_lines = Path::new(name).extension().is_some_and(|it| it == "jsonl");
    let expected: Vec<_> = if is_lines {
        text.lines()
            .map(|line| Value::from_json(line).unwrap())
            .collect()
    } else {
        let Some(Value::Array(memories)) = json(text).remove("memories") else {
            unreachable!("{name}")
        };
        let mut envelope = json(text);
        envelope.insert("memories", Vec::<Value>::new());
        std::iter::once(Value::Map(envelope))
            .chain(memories)
            .collect()
    };
    if let (Some(Value::Map(found)), false) = (values.first_mut(), is_lines) {
        found.insert("memories", Vec::<Value>::new());
    }
    assert_eq!(values, expected, "{name}");
}

pub(super) fn sample() -> Map {
    json(
        r#"{"format": "open-memory-interchange", "version": "0.7", "x_hint": null,
        "subject": {"id": "user-123", "type": "person", "x": 1.0},
        "id_namespace": "urn:omi:test:", "generated_at": "2026-06-06T09:00:00Z",
        "generator": "test/1", "ext": {"com.example": {"a": null}},
        "memories": [
            {"id": "1", "content": "prefers short notes", "type": "semantic",
             "created": "2026-01-15T10:30:00.5+02:00", "updated": "2026-01-16T10:30:00Z",
             "confidence": 1, "lang": "en-GB", "tags": ["a", "phi:b"],
             "source": {"platform": "chat", "method": "asserted", "ref": "x"},
             "valid_from": "2026-01-15", "valid_to": null,
             "entities": [{"id": "e", "z": 0}],
             "relations": [{"type": "supersedes", "target": "2", "label": "l"},
                 {"type": "references", "target": "https://example.com/"}]},
            {"id": "2", "content": "met Zoe\u0308 \ufeff", "type": "episodic",
             "created": "2026-01-01T00:00:00Z", "valid_from": "2026-01-01T00:00:00Z",
             "subject": {"id": "g", "type": "group"}, "ext": {"sync": {"deleted": true}}},
            {"id": "urn:isbn:3", "content": "", "type": "a type: free", "x_rank": 12345678901234567890,
             "created": "1960-01-01T00:00:00Z"},
            {"id": "4", "content": "boil water", "type": "procedural",
             "created": "2026-01-01T00:00:00Z"}
        ]}"#,
    )
}

#[test]
fn records_come_back_as_they_were_and_grains_say_what_they_can() {
    let sample = sample();
    let import = read_map(&sample, Some(Level::L1)).unwrap();
    rebuilds(&import, "json", text_of(&sample).as_bytes());
    assert_eq!(import.records.len(), 1 + 4 + 2);
    let grain = |at: usize| &import.records[at].grain;
    let first = grain(1);
    assert_eq!(first.text("subject"), Some("user-123"));
    assert_eq!(first.text("relation"), Some("omi:semantic"));
    assert_eq!(first.text("user_id"), Some("user-123"));
    assert_eq!(first.text("source_type"), Some("user_explicit"));
    assert_eq!(
        first.field("valid_from"),
        None,
        "a date is not its midnight"
    );
    let context = first.field("context").unwrap().as_map().unwrap();
    let said = context.get("omi:valid_from").and_then(Value::as_text);
    assert_eq!(said, Some("2026-01-15"));
    assert_eq!(grain(2).type_(), Type::Event);
    assert!(grain(2).field("valid_from").is_some());
    assert_eq!(grain(2).text("user_id"), None, "a group is no person");
    assert_eq!(grain(3).text("relation"), Some("omi"));
    assert_eq!(grain(4).text("relation"), Some("mg:requires_steps"));
    let hint = grain(5);
    assert_eq!(hint.text("relation"), Some("omi:rel:supersedes"));
    assert_eq!(
        hint.field("related_to").unwrap().as_array().unwrap().len(),
        2
    );
    assert_eq!(
        grain(6)
            .field("related_to")
            .unwrap()
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert!(import.records.iter().all(|record| record.status.is_empty()));
    let keys: Vec<_> = import.records[1..5]
        .iter()
        .map(|record| record.foreign_id.as_ref().unwrap())
        .map(|id| (id.scope(), id.id()))
        .collect();
    let namespace = "namespace:urn:omi:test:";
    assert_eq!(
        keys,
        [
            (namespace, "1"),
            (namespace, "2"),
            ("", "urn:isbn:3"),
            (namespace, "4")
        ]
    );
}

#[test]
fn ids_without_a_namespace_belong_to_their_file_or_to_a_scope_that_is_named() {
    let mut file = sample();
    edit(&mut file, "id_namespace", None);
    let scope = |import: &Import| {
        let id = import.records[1].foreign_id.as_ref();
        id.unwrap().scope().to_owned()
    };
    let first = scope(&read_map(&file, None).unwrap());
    assert!(first.starts_with("file:"));
    edit(&mut file, "generator", Some("\"other\""));
    assert_ne!(scope(&read_map(&file, None).unwrap()), first);
    let options = ReadOptions {
        scope: Some("mine".into()),
        ..ReadOptions::default()
    };
    let import = omi::read(text_of(&file).as_bytes(), &options).unwrap();
    assert_eq!(scope(&import), "file:mine");
}

/// A path, what is put there, and the rules that this breaks.
type Fault = (
    &'static str,
    Option<&'static str>,
    Option<&'static str>,
    Option<&'static str>,
);

/// One change to the sample, and the rule it breaks at L0 (or at L1, where L0 has none).
#[rustfmt::skip]
const FAULTS: [Fault; 44] = [
    ("format", Some("\"omi\""), Some("envelope.format"), None),
    ("version", Some("\"1.0\""), Some("envelope.version"), None),
    ("version", Some("\"0.1.0\""), Some("envelope.version"), None),
    ("version", Some("0.1"), Some("envelope.version"), None),
    // It is read as the serialization that it names.
    ("serialization", Some("\"jsonl\""), Some("jsonl.envelope.memories"), None),
    ("serialization", Some("null"), Some("envelope.serialization"), None),
    // Without records it is read as the first line of a stream.
    ("memories", None, Some("jsonl.envelope.serialization"), None),
    ("memories", Some("{}"), Some("envelope.memories"), None),
    ("memories/0", Some("[]"), Some("record"), None),
    ("generated_at", Some("\"2026-06-06\""), Some("envelope.generated_at"), None),
    ("generator", Some("1"), Some("envelope.generator"), None),
    ("id_namespace", Some("\"\""), Some("envelope.id_namespace"), None),
    ("ext", Some("[]"), Some("envelope.ext"), None),
    ("subject", Some("\"me\""), Some("subject"), None),
    ("subject/id", Some("\"\""), Some("subject.id"), None),
    ("memories/0/subject", Some("{}"), Some("subject.id"), None),
    ("memories/0/id", Some("\"\""), Some("record.id"), None),
    ("memories/0/id", Some("1"), Some("record.id"), None),
    ("memories/0/content", None, Some("record.content"), None),
    ("memories/0/content", Some("null"), Some("record.content"), None),
    ("memories/0/created", None, Some("record.created"), None),
    ("memories/0/created", Some("\"2026-01-15T10:30:00\""), Some("record.created"), None),
    ("memories/0/created", Some("\"2026-01-15t10:30:00Z\""), Some("record.created"), None),
    ("memories/0/created", Some("\"2026-02-30T10:30:00Z\""), Some("record.created"), None),
    ("memories/0/updated", Some("null"), Some("record.updated"), None),
    ("memories/0/valid_from", Some("null"), Some("record.valid_from"), None),
    ("memories/0/valid_from", Some("\"2026-02-30\""), Some("record.valid_from"), None),
    ("memories/0/valid_to", Some("\"soon\""), Some("record.valid_to"), None),
    ("memories/0/type", Some("1"), Some("record.type"), None),
    ("memories/0/type", None, None, Some("record.type")),
    ("memories/0/confidence", Some("1.01"), Some("record.confidence"), None),
    ("memories/0/confidence", Some("\"1\""), Some("record.confidence"), None),
    ("memories/0/lang", Some("\"e\""), Some("record.lang"), None),
    ("memories/0/lang", Some("\"en_GB\""), Some("record.lang"), None),
    ("memories/0/tags", Some("\"a\""), Some("record.tags"), None),
    ("memories/0/tags", Some("[1]"), Some("record.tags"), None),
    ("memories/0/source", Some("\"a\""), Some("record.source"), None),
    ("memories/0/source", Some("{\"ref\": 1}"), Some("record.source"), None),
    ("memories/0/entities", Some("[{}]"), Some("record.entities"), None),
    ("memories/0/relations", Some("[{\"type\": \"a\"}]"), Some("record.relations"), None),
    ("memories/0/relations", Some("[{\"type\": \"\", \"target\": \"a\"}]"), Some("record.relations"), None),
    ("memories/0/ext", Some("null"), Some("record.ext"), None),
    ("memories/0/id", Some("\"2\""), None, Some("record.id.unique")),
    ("subject", None, None, Some("record.effective-subject")),
];

#[test]
fn every_rule_has_its_name_and_its_level() {
    for (path, change, l0, l1) in FAULTS {
        let mut file = sample();
        edit(&mut file, path, change);
        let rule = |level| {
            read_map(&file, Some(level))
                .err()
                .map(|errors| errors[0].code().as_str())
        };
        assert_eq!(rule(Level::L0), l0, "{path} {change:?}");
        assert_eq!(rule(Level::L1), l1.or(l0), "{path} {change:?}");
    }
}

#[test]
fn an_import_takes_what_only_the_schema_refuses_and_says_so() {
    let mut file = sample();
    for (path, change) in [
        ("memories/0/confidence", "7"),
        ("memories/0/lang", "5"),
        ("memories/0/tags", "{}"),
        ("memories/0/relations", "[{\"type\": 1}, 2]"),
        ("memories/0/entities", "0"),
        ("memories/1/subject", "[]"),
    ] {
        edit(&mut file, path, Some(change));
    }
    let import = read_map(&file, None).unwrap();
    // Of the relations an empty type, a missing target, and an element that is no object.
    assert_eq!(import.findings.len(), 8, "{:?}", import.findings);
    rebuilds(&import, "json", text_of(&file).as_bytes());
}

#[test]
fn a_stream_is_an_envelope_and_a_record_a_line() {
    let envelope =
        r#"{"format":"open-memory-interchange","version":"0.1","serialization":"jsonl"}"#;
    let record =
        "{\"id\":\"1\",\"content\":\"a\u{2028}\u{85}b\",\"created\":\"2026-01-01T00:00:00Z\"}";
    let rules = |text: &str| match omi::read_lines(text.as_bytes(), &ReadOptions::default()) {
        Ok(import) => vec![if import.records.len() == 2 {
            "two"
        } else {
            "one"
        }],
        Err(errors) => codes(&errors),
    };
    assert_eq!(rules(envelope), ["one"]);
    assert_eq!(rules(&format!("{envelope}\n")), ["one"]);
    assert_eq!(rules(&format!("{envelope}\r\n{record}\r\n")), ["two"]);
    for (text, expected) in [
        (format!("{envelope}\n\n"), "jsonl.blank-line"),
        (format!("{envelope}\n \t\n{record}"), "jsonl.blank-line"),
        (format!("{envelope}\n[{record}]"), "jsonl.line-object"),
        (format!("{envelope}\n{record}{record}"), "json.syntax"),
        (format!("{record}\n{envelope}"), "envelope.format"),
        (format!("[]\n{record}"), "jsonl.envelope"),
        (format!("\n{envelope}"), "json.syntax"),
        (format!("\u{feff}{envelope}"), "encoding.bom"),
        (
            format!("{envelope}\n{{\"id\":\"1\",\"id\":\"1\"}}"),
            "json.duplicate-key",
        ),
        (String::new(), "json.syntax"),
    ] {
        assert_eq!(rules(&text)[0], expected, "{text}");
    }
    let broken = omi::read(b"{\"a\":\"\xff\"}", &ReadOptions::default());
    assert_eq!(codes(&broken.unwrap_err()), ["encoding.utf8"]);
}

#[test]
fn a_file_imports_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory");
    let store = Store::in_memory(Options::default()).unwrap();
    let import = |file: &Map| {
        std::fs::write(&path, text_of(file)).unwrap();
        let reading = ImportFile::open(&path, None, &ReadOptions::default()).unwrap();
        assert_eq!(reading.format, Format::Omi);
        store.import(reading).unwrap()
    };
    let file = sample();
    assert_eq!(import(&file).inserted, 7);
    let again = import(&file);
    assert_eq!(
        (again.inserted, again.unchanged, again.conflicts.len()),
        (0, 7, 0)
    );
}

#[test]
fn an_export_advertises_no_profile_and_keeps_those_of_others() {
    // OMI 10.4: a tool that writes a reserved name implements its specification, and there is none.
    let record = r#"{"format":"open-memory-interchange","version":"0.1","memories":[{"id":"urn:x:1",
        "content":"tea","created":"2026-01-01T00:00:00Z","subject":{"id":"a","type":"person"},
        "ext":{"retrieval":{"embedding":{"model":"m","ref":"vec://1"}}}}]}"#;
    let reading = ImportFile::of_bytes(record.as_bytes(), Some(Format::Omi), &Default::default());
    let store = Store::in_memory(Options::default()).unwrap();
    store.import(reading.unwrap()).unwrap();
    let own = grainstore::Draft::event("likes ferns").created_at(grainstore::Time::from_ms(1));
    let own = store.put(own).unwrap();
    let vector = grainstore::store::Embedding::new(own, "tiny", &[0.5, 1.0]);
    store.put_embeddings(&[vector]).unwrap();
    let options = grainstore::interchange::WriteOptions {
        with_embeddings: true,
        ..Default::default()
    };
    let mut text = Vec::new();
    let admin = store.admin().unwrap();
    let filter = grainstore::Filter::new();
    let exported = admin.export(Format::Omi, &filter, &options, &mut text);
    let exported = exported.unwrap();
    let counted: Vec<_> = exported.loss.iter().collect();
    assert_eq!(counted, [("embedding", 1)]);
    let document = json(std::str::from_utf8(&text).unwrap());
    let memories = document.get("memories").unwrap().as_array().unwrap();
    let mut profiles: Vec<_> = { memories.iter() }
        .map(|memory| {
            memory
                .as_map()
                .unwrap()
                .get("ext")
                .unwrap()
                .as_map()
                .unwrap()
        })
        .flat_map(|ext| ext.iter().map(|(name, _)| name.to_owned()))
        .collect();
    profiles.sort();
    assert_eq!(profiles, ["io.github.grainstore.grainstore", "retrieval"]);
    assert!(document.get("ext").is_none());
}
