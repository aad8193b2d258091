//! Any document of a format comes back, and nothing makes a reader panic.

use proptest::prelude::*;

use grainstore::interchange::{Entry, ReadOptions, Record};

use super::*;
use crate::foreign::sha256;
use crate::random::cases;

/// JSON without integers that I-JSON has no form for.
fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Nil),
        any::<bool>().prop_map(Value::Bool),
        (-(1_i64 << 53) + 1..1_i64 << 53).prop_map(Value::from),
        any::<f64>()
            .prop_filter("finite", |float| float.is_finite())
            .prop_map(Value::Float),
        ".*".prop_map(Value::Text),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        let map = proptest::collection::btree_map(".{0,8}", inner.clone(), 0..5);
        prop_oneof![
            proptest::collection::vec(inner, 0..5).prop_map(Value::Array),
            map.prop_map(|map| Value::Map(map.into_iter().collect())),
        ]
    })
}

fn times() -> impl Strategy<Value = String> {
    (0_i64..4_000_000_000_000, 0..4_usize).prop_map(|(ms, digits)| {
        let text = Time::from_ms(ms).to_string();
        match digits {
            0 => text.replacen(&text[19..23], "", 1),
            1 => text.replace('Z', "000001Z"),
            2 => text.replace('Z', "+00:00"),
            _ => text,
        }
    })
}

/// Whatever stands in a chunk, an OMI record or an envelope beside the members that count.
fn extras() -> impl Strategy<Value = Vec<(String, Value)>> {
    proptest::collection::vec(("x_.{0,6}", json_value()), 0..4)
}

/// What a store would export of the records.
pub(super) fn stored(records: Vec<Record>) -> Vec<Entry> {
    let entries = records.into_iter().map(|record| {
        let mut status = Status::default();
        status.apply(&record.status);
        (record.grain, status)
    });
    entries.collect()
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(500)))]

    #[test]
    fn any_bundle_goes_out_as_it_came(
        chunks in proptest::collection::btree_map("[!-9;-~]{1,12}", (".{1,40}", 0..8_usize, times(), extras()), 0..6),
        extra in extras(),
    ) {
        let kinds = ["fact", "preference", "decision", "identity", "pitfall", "procedure", "episodic", "goal"];
        let mut bundle = crate::aimem::sample();
        let chunks = chunks.into_iter().map(|(local, (content, kind, time, extra))| {
            let mut chunk: Map = extra.into_iter().collect();
            chunk.insert("id", format!("urn:aimem:test:{local}"));
            chunk.insert("content_hash", sha256(content.as_bytes()));
            chunk.insert("content", content);
            chunk.insert("memory_type", kinds[kind]);
            chunk.insert("created_at", time);
            Value::Map(chunk)
        });
        let chunks: Vec<_> = chunks.collect();
        bundle.insert("chunks", chunks);
        for name in ["edges", "chunk_entities"] {
            bundle.insert(name, Vec::<Value>::new());
        }
        for (name, value) in extra {
            bundle.insert(name, value);
        }
        crate::aimem::seal(&mut bundle);
        let import = aimem::read(text_of(&bundle).as_bytes(), Profile::Extended).unwrap();
        let entries = stored(import.records);
        let mut out = Vec::new();
        let written = aimem::write(&mut out, &entries, &all().1).unwrap();
        prop_assert!(written.loss.is_empty());
        prop_assert_eq!(&json(&text(out)), &bundle);
        let mut out = Vec::new();
        aimem::write_stream(&mut out, &entries, &all().1).unwrap();
        let stream = aimem::read_stream(&out, Profile::Extended).unwrap();
        prop_assert_eq!(stored(stream.records), entries);
    }

    #[test]
    fn any_omi_file_goes_out_as_it_came(
        records in proptest::collection::btree_map(".{1,12}", (".{0,40}", proptest::option::of(".{0,9}"), times(), extras(), json_value()), 0..6),
        extra in extras(),
    ) {
        let mut file = crate::omi::sample();
        let records = records.into_iter().map(|(id, (content, kind, time, extra, ext))| {
            let mut record: Map = extra.into_iter().collect();
            record.insert("id", id);
            record.insert("content", content);
            record.insert("created", time);
            record.insert("entities", ext.clone());
            record.insert("relations", vec![ext.clone()]);
            record.insert("ext", Map::from_iter([("com.example", ext)]));
            if let Some(kind) = kind {
                record.insert("type", kind);
            }
            Value::Map(record)
        });
        let records: Vec<_> = records.collect();
        file.insert("memories", records);
        for (name, value) in extra {
            file.insert(name, value);
        }
        let read = omi::read(text_of(&file).as_bytes(), &ReadOptions::default());
        let entries = stored(read.unwrap().records);
        let mut out = Vec::new();
        omi::write(&mut out, &entries, &all().1).unwrap();
        // What the schema refuses stands in the extension, and is read from there.
        let options = ReadOptions { omi_level: Some(omi::Level::L0), ..ReadOptions::default() };
        prop_assert!(omi::read(&out, &options).is_ok());
        let again = omi::read(&out, &ReadOptions::default()).unwrap();
        prop_assert_eq!(stored(again.records), entries.clone());
        let mut out = Vec::new();
        omi::write_lines(&mut out, &entries, &all().1).unwrap();
        prop_assert!(omi::read_lines(&out, &ReadOptions::default()).is_ok());
    }

    #[test]
    fn any_store_of_memories_goes_out_meaning_the_same(
        memories in proptest::collection::btree_map(".{1,12}", (".{1,40}", times(), json_value()), 0..6),
    ) {
        let memories = memories.into_iter().map(|(id, (content, time, extra))| {
            let mut memory = Map::new();
            memory.insert("id", id);
            memory.insert("type", "fact");
            memory.insert("content_hash", pam_hash(&content));
            memory.insert("content", content);
            memory.insert("temporal", Map::from_iter([("created_at", time)]));
            memory.insert("provenance", Map::from_iter([("platform", "local")]));
            memory.insert("metadata", Map::from_iter([("x", extra)]));
            Value::Map(memory)
        });
        let memories: Vec<_> = memories.filter(|memory| {
            // A Belief's object holds no byte-order mark, and is not empty.
            let content = memory.as_map().unwrap().get("content").unwrap();
            content.as_text().unwrap().chars().any(|c| c != '\u{feff}')
        }).collect();
        let mut store = json(r#"{"schema": "portable-ai-memory", "schema_version": "1.0",
            "owner": {"id": "o"}}"#);
        store.insert("memories", memories);
        let read = pam::read_bytes(text_of(&store).as_bytes(), &ReadOptions::default());
        let document = pam::Document::new(&stored(read.unwrap().records), &all().1, true);
        let out = document.unwrap().store;
        let again = pam::read_bytes(out.to_json().as_bytes(), &ReadOptions::default());
        prop_assert!(again.is_ok_and(|import| import.findings.is_empty()));
        let moments = |value: &Value| -> Vec<_> {
            by_id(value, "memories").into_iter().map(|(id, memory)| {
                let mut memory = memory.as_map().unwrap().clone();
                let temporal = memory.remove("temporal").unwrap();
                let time = temporal.as_map().unwrap().get("created_at").unwrap().as_text().unwrap().to_owned();
                (id, Time::parse(&time).unwrap(), memory)
            }).collect()
        };
        prop_assert_eq!(moments(&out), moments(&Value::Map(store)));
    }

    #[test]
    fn no_change_of_a_byte_makes_a_reader_panic(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        for text in [text_of(&crate::aimem::sample()), text_of(&crate::omi::sample())] {
            let mut bytes = text.into_bytes();
            let at = at.index(bytes.len());
            bytes[at] = byte;
            drop(aimem::read(&bytes, Profile::Extended));
            drop(aimem::read_stream(&bytes, Profile::Extended));
            drop(omi::read(&bytes, &ReadOptions::default()));
            drop(omi::read_lines(&bytes, &ReadOptions::default()));
        }
    }
}

pub(crate) fn pam_hash(content: &str) -> String {
    use unicode_normalization::UnicodeNormalization as _;
    let is_space = |c: char| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c);
    let lower: String = content
        .trim_matches(is_space)
        .to_lowercase()
        .nfc()
        .collect();
    let words: Vec<&str> = lower
        .split(is_space)
        .filter(|word| !word.is_empty())
        .collect();
    sha256(words.join(" ").as_bytes())
}
