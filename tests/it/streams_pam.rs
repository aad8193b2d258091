//! PAM stores and exports of providers are read record by record; that is the same as reading them
//! at once, wherever they are and in whatever order they stand.

use std::io::Write;
use std::path::Path;

use grainstore::codec::{Map, Value};
use grainstore::interchange::{Format, ImportFile, ReadOptions};
use grainstore::{Options, Store};
use proptest::prelude::*;

use super::foreign::text_of;
use super::streams::{Said, said};
use crate::whole::pam;

/// A memory, and the number of the one that replaces it.
fn memory(number: usize, by: Option<usize>) -> Value {
    let content = format!("memory {number}");
    let (status, superseded_by) = match by {
        Some(by) => ("superseded", format!("\"m{by}\"")),
        None => ("active", "null".to_owned()),
    };
    let hash = sha256(content.as_bytes());
    let text = format!(
        r#"{{"id": "m{number}", "type": "fact", "content": "{content}", "content_hash": "{hash}",
            "status": "{status}", "provenance": {{"platform": "wren"}}, "temporal":
            {{"created_at": "2026-01-15T10:30:00Z", "superseded_by": {superseded_by}}}}}"#
    );
    Value::from_json(&text).unwrap()
}

fn relation(number: usize, from: usize, to: usize) -> Value {
    let text = format!(
        r#"{{"id": "r{number}", "from": "m{from}", "to": "m{to}", "type": "supports",
            "created_at": "2026-01-15T10:30:00Z"}}"#
    );
    Value::from_json(&text).unwrap()
}

fn sha256(bytes: &[u8]) -> String {
    format!("sha256:{}", grainstore::ContentAddress::of(bytes))
}

/// A store that is sealed.
fn store(memories: Vec<Value>, relations: Vec<Value>) -> Map {
    let mut sorted = memories.clone();
    sorted.sort_by_key(|memory| id(memory).to_owned());
    let text = format!(
        r#"{{"schema": "portable-ai-memory", "schema_version": "1.0", "owner": {{"id": "mira"}},
            "integrity": {{"canonicalization": "RFC8785", "total_memories": {},
            "checksum": "{}"}}}}"#,
        memories.len(),
        sha256(&Value::Array(sorted).to_jcs()),
    );
    let Value::Map(mut store) = Value::from_json(&text).unwrap() else {
        unreachable!()
    };
    store.insert("memories", memories);
    store.insert("relations", relations);
    store
}

fn id(memory: &Value) -> &str {
    memory
        .as_map()
        .unwrap()
        .get("id")
        .unwrap()
        .as_text()
        .unwrap()
}

/// Reads a text as a file, as the same in a folder, as bytes and out of a ZIP; returns what it said.
fn hold(text: &str, name: &str, format: Format) -> Said {
    let folder = tempfile::tempdir().unwrap();
    let below = folder.path().join("export");
    std::fs::create_dir(&below).unwrap();
    std::fs::write(below.join(name), text).unwrap();
    let zip = folder.path().join("export.zip");
    let mut packed = zip::ZipWriter::new(std::fs::File::create(&zip).unwrap());
    let options = zip::write::SimpleFileOptions::default();
    packed.start_file(format!("deep/{name}"), options).unwrap();
    packed.write_all(text.as_bytes()).unwrap();
    packed.finish().unwrap();
    let options = ReadOptions::default();
    let at = |path: &Path| said(ImportFile::open(path, Some(format), &options).unwrap());
    let of_bytes = said(ImportFile::of_bytes(text.as_bytes(), Some(format), &options).unwrap());
    let of_file = at(&below.join(name));
    assert_eq!(at(&zip).0, of_file.0);
    assert_eq!(at(&below).0, of_file.0);
    if format == Format::Pam {
        assert_eq!(of_file, of_bytes);
        assert_eq!(of_file, at(&below));
    } else {
        assert_eq!(of_file.0, of_bytes.0);
    }
    of_file
}

/// The places of the memories, in the order in which they come.
fn places(said: &Said) -> Vec<usize> {
    let places = said.0.iter().filter_map(|line| {
        let (_, rest) = line.split_once("/memories/")?;
        rest.split(' ').next()?.parse().ok()
    });
    places.collect()
}

#[test]
fn a_memory_store_is_the_same_wherever_it_is_and_however_it_is_spaced() {
    let memories: Vec<Value> = (0..1_300)
        .map(|n| memory(n, (n % 7 == 0).then_some((n + 650) % 1_300)))
        .collect();
    let relations: Vec<Value> = (0..1_300).map(|n| relation(n, n, 1_299 - n)).collect();
    let store = store(memories, relations);
    let whole = hold(&text_of(&store), pam::STORE, Format::Pam);
    assert_eq!(
        (whole.0.len(), &*whole.1),
        (1 + 2 * 1_300, &[][..]),
        "{:?}",
        whole.1
    );
    // Memory 700 is replaced by memory 50, which stands before it in the file and comes after it.
    let places = places(&whole);
    let at = |number: usize| places.iter().position(|place| *place == number).unwrap();
    assert!(at(700) < at(50) && at(0) < at(650) && at(2) < at(3));
    // The memories after the relations, and space between everything.
    let mut members: Vec<_> = store.iter().collect();
    members.reverse();
    let members = members.into_iter().map(|(name, value)| {
        let text = value.to_json().replace(",{", " ,\r\n\t{ ");
        format!("\n\"{name}\" : {text} ")
    });
    let spaced = format!("{{{}}}\n", members.collect::<Vec<_>>().join(","));
    assert_eq!(hold(&spaced, pam::STORE, Format::Pam), whole);
    for (from, to, code) in [
        ("\"memory 700\"", "\"memory\"", "PAM_CONTENT_HASH"),
        ("\"id\":\"m700\"", "\"id\":\"m701\"", "PAM_DUPLICATE_ID"),
        ("\"to\":\"m700\"", "\"to\":\"m7000\"", "PAM_RELATION_REF"),
        ("\"m650\"", "\"m1\"", "PAM_"),
        ("}]", "},]", "PAM_JSON"),
        ("}]", "}]]", "PAM_JSON"),
        ("\"memories\"", "\"memories\":[],\"memories\"", "PAM_JSON"),
    ] {
        let wrong = text_of(&store).replacen(from, to, 1);
        assert_ne!(wrong, text_of(&store));
        let (records, errors, _) = hold(&wrong, pam::STORE, Format::Pam);
        assert!(errors[0].starts_with(code), "{from}: {errors:?}");
        // One wrong relation is an error beside the other records; the rest refuse the file.
        let left = match code {
            "PAM_RELATION_REF" => whole.0.len() - 1,
            _ => 0,
        };
        assert_eq!(records.len(), left, "{from}: {errors:?}");
    }
}

/// The conversations of an export of ChatGPT.
fn talks(count: usize) -> Vec<String> {
    let talk = |n: usize| {
        format!(
            r#"{{"id": "c{n}", "create_time": {}, "mapping": {{
            "a": {{"id": "a", "message": {{"author": {{"role": "user"}},
                "content": {{"content_type": "text", "parts": ["said {n}"]}}}}}},
            "b": {{"id": "b", "parent": "a", "message": {{"author": {{"role": "assistant"}},
                "content": {{"content_type": "text", "parts": ["answered"]}}}}}}}}}}"#,
            n + 1
        )
    };
    (0..count).map(talk).collect()
}

#[test]
fn an_export_is_the_same_wherever_it_is() {
    let format = Format::Provider(grainstore::interchange::provider::Provider::Chatgpt);
    let mut talks = talks(1_300);
    let text = format!("[{}]", talks.join(","));
    let whole = hold(&text, "conversations.json", format);
    assert_eq!(
        (whole.0.len(), whole.1.len(), whole.2.len()),
        (3 * 1_300, 0, 0)
    );
    // One that comes twice, one without a time, one that is none.
    talks[700] = talks[699].clone();
    talks[900] = talks[900].replace("create_time", "no_time");
    talks[1_100] = "7".to_owned();
    let text = format!("[{}]", talks.join(" ,\n"));
    let odd = hold(&text, "conversations.json", format);
    assert_eq!(
        (odd.0.len(), odd.1.len(), odd.2.len()),
        (3 * 1_297, 0, 3),
        "{:?}",
        odd.2
    );
    let broken = hold(&text[..text.len() / 2], "conversations.json", format);
    assert_eq!((broken.0.len(), broken.1.len()), (0, 1));
}

#[test]
fn a_store_or_an_export_that_changed_since_it_was_judged_is_told() {
    let sealed = text_of(&store(
        (0..1_300).map(|n| memory(n, None)).collect(),
        Vec::new(),
    ));
    let export = format!("[{}]", talks(1_300).join(","));
    for (text, other) in [
        (&sealed, sealed[..sealed.len() / 2].to_owned()),
        (&sealed, sealed.replacen("\"wren\"", "\"teal\"", 1)),
        (&export, export[..export.len() / 2].to_owned()),
        (&export, export.replacen("said 3", "said 4", 1)),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, text).unwrap();
        let reading = ImportFile::open(&path, None, &ReadOptions::default()).unwrap();
        assert!(reading.errors.is_empty(), "{:?}", reading.errors);
        std::fs::write(&path, other).unwrap();
        let store = Store::in_memory(Options::default()).unwrap();
        let error = store.import(reading).unwrap_err();
        assert_eq!(error.code(), "ERR_IO", "{error}");
    }
}

#[test]
fn a_conversation_that_did_not_come_along_breaks_no_rule() {
    let entry = r#"[{"id": "c", "platform": "wren", "storage": {"type": "file", "ref": "c.json"},
        "temporal": {"created_at": "2026-01-15T10:30:00Z"}}]"#;
    let mut store = store(vec![memory(0, None)], Vec::new());
    store.insert("conversations_index", Value::from_json(entry).unwrap());
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(pam::STORE), text_of(&store)).unwrap();
    let options = ReadOptions {
        is_strict: true,
        ..ReadOptions::default()
    };
    let reading = ImportFile::open(folder.path(), None, &options).unwrap();
    let (records, errors, findings) = said(reading);
    assert_eq!((records.len(), errors), (3, Vec::new()));
    assert!(
        findings.len() == 1 && findings[0].1.starts_with("ERR_IO"),
        "{findings:?}"
    );
}

#[test]
fn findings_past_the_first_ten_thousand_are_counted() {
    let memories = (0..10_003).map(|n| {
        let Value::Map(mut memory) = memory(n, None) else {
            unreachable!()
        };
        memory.insert("odd", n as u64);
        Value::Map(memory)
    });
    let store = store(memories.collect(), Vec::new());
    let reading = ImportFile::of_bytes(text_of(&store).as_bytes(), None, &ReadOptions::default());
    let reading = reading.unwrap();
    assert_eq!(
        (reading.records.len(), reading.findings.len()),
        (10_004, 10_001)
    );
    let (_, last) = reading.findings.last().unwrap();
    assert_eq!(last, "and 3 more that are not listed");
}

#[test]
fn vectors_come_in_batch_by_batch_and_twice_is_once() {
    let folder = tempfile::tempdir().unwrap();
    let memories = (0..600).map(|n| memory(n, None)).collect();
    std::fs::write(
        folder.path().join(pam::STORE),
        text_of(&store(memories, Vec::new())),
    )
    .unwrap();
    let vector = |n: usize| {
        format!(
            r#"{{"id": "v{n}", "memory_id": "m{n}", "model": "tiny", "dimensions": 2,
                "created_at": "2026-01-15T10:30:00Z", "vector": [{n}, 1]}}"#
        )
    };
    let vectors: Vec<_> = (0..600).map(vector).collect();
    let file = format!(
        r#"{{"embeddings": [{}], "schema_version": "1.0", "schema": "portable-ai-memory-embeddings"}}"#,
        vectors.join(",")
    );
    std::fs::write(folder.path().join(pam::EMBEDDINGS), &file).unwrap();
    let store = Store::in_memory(Options::default()).unwrap();
    let import = || {
        let reading = ImportFile::open(folder.path(), None, &ReadOptions::default()).unwrap();
        assert_eq!(reading.vectors.len(), 600);
        store.import(reading).unwrap()
    };
    assert_eq!(import().embedded, 600);
    assert_eq!(import().embedded, 0);
    let changed = file.replace("[300, 1]", "[301, 2]");
    std::fs::write(folder.path().join(pam::EMBEDDINGS), changed).unwrap();
    assert_eq!(import().embedded, 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Of each memory what its grain is and what replaces it.
    #[test]
    fn the_order_of_memories_and_members_changes_no_grain(
        chain in prop::collection::vec(any::<bool>(), 1..40),
        order in Just((0..40_usize).collect::<Vec<_>>()).prop_shuffle(),
        members in Just((0..6_usize).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let len = chain.len();
        // Each replaces at most one: the grain of one that replaces several names them in order.
        let by = |n: usize| (chain[n] && n + 1 < len).then_some(n + 1);
        let memories: Vec<_> = (0..len).map(|n| memory(n, by(n))).collect();
        let relations = vec![relation(0, 0, len - 1)];
        let sorted = text_of(&store(memories.clone(), relations.clone()));
        let shuffled = order.iter().filter_map(|n| memories.get(*n).cloned()).collect();
        let shuffled = store(shuffled, relations);
        let shuffled: Vec<_> = shuffled.iter().collect();
        let shuffled = members.iter().filter_map(|n| shuffled.get(*n));
        let shuffled: Vec<_> = shuffled.map(|(name, it)| format!("\"{name}\":{}", it.to_json())).collect();
        let known = |text: &str| {
            let import = pam::read_bytes(text.as_bytes(), &ReadOptions::default()).unwrap();
            let known = import.records.iter().map(|record| {
                let id = record.foreign_id.as_ref().map(|id| id.id().to_owned());
                (id, record.grain.address(), record.status)
            });
            let mut known: Vec<_> = known.collect();
            known.sort_by(|a, b| a.0.cmp(&b.0));
            known
        };
        prop_assert_eq!(known(&sorted), known(&format!("{{{}}}", shuffled.join(","))));
    }
}
