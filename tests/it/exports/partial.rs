//! Of a file with invalid records the valid ones can be stored.

use super::super::foreign::{codes, edit};
use super::*;

fn read(text: &str) -> ImportFile {
    ImportFile::of_bytes(text.as_bytes(), None, &ReadOptions::default()).unwrap()
}

fn contents_of(text: &str) -> (Vec<&'static str>, Vec<String>) {
    let reading = read(text);
    let codes = codes(&reading.errors);
    let store = memory();
    store.import(reading).unwrap();
    let found = store
        .query(&Filter::new().with_superseded(), 100, None)
        .unwrap();
    let texts = found.results.iter().map(|found| {
        let grain = &found.grain;
        let text = grain.text("object").or(grain.text("content"));
        text.unwrap_or_default().to_owned()
    });
    let mut texts: Vec<_> = texts.collect();
    texts.sort();
    (codes, texts)
}

#[test]
fn the_valid_memories_of_a_store_come_in_beside_an_invalid_one() {
    let memories = [("a", "one"), ("b", "two"), ("c", "three")];
    for (change, value, code) in [
        (
            "memories/1/content_hash",
            Some("\"sha256:0\""),
            "PAM_CONTENT_HASH",
        ),
        ("memories/1/type", Some("\"whim\""), "PAM_SCHEMA"),
        (
            "memories/1/temporal/created_at",
            Some("\"soon\""),
            "PAM_SCHEMA",
        ),
        ("memories/1/id", Some("\"a\""), "PAM_DUPLICATE_ID"),
        ("memories/1", Some("7"), "PAM_SCHEMA"),
        (
            "memories/1/metadata",
            Some("{\"n\": 9007199254740993}"),
            "PAM_JSON",
        ),
        (
            "memories/1/temporal/superseded_by",
            Some("\"z\""),
            "PAM_SUPERSEDED_REF",
        ),
    ] {
        let mut store = crate::pam::store::small(&memories);
        let relation = r#"[{"id": "r", "from": "a", "to": "b", "type": "supports",
            "created_at": "2026-01-01T00:00:00Z"}, {"id": "s", "from": "a", "to": "c",
            "type": "supports", "created_at": "2026-01-01T00:00:00Z"}]"#;
        edit(&mut store, "relations", Some(relation));
        edit(&mut store, change, value);
        let (codes, texts) = contents_of(&text_of(&store));
        assert!(codes.contains(&code), "{change}: {codes:?}");
        // The objects of relations are the names of memories.
        assert_eq!(texts, ["c", "one", "three"], "{change}: {codes:?}");
    }
    // What is wrong with the file as a whole refuses all of it.
    for change in ["owner", "schema"] {
        let mut store = crate::pam::store::small(&memories);
        edit(&mut store, change, None);
        let reading = read_as_pam(&text_of(&store));
        assert!(
            reading.records.is_empty() && !reading.errors.is_empty(),
            "{change}"
        );
    }
}

fn read_as_pam(text: &str) -> ImportFile {
    let options = ReadOptions::default();
    ImportFile::of_bytes(text.as_bytes(), Some(Format::Pam), &options).unwrap()
}

#[test]
fn the_valid_records_of_an_omi_file_come_in_beside_an_invalid_one() {
    let good = r#"{"id": "1", "content": "one", "created": "2026-01-01T00:00:00Z"}"#;
    let other = r#"{"id": "3", "content": "three", "created": "2026-01-01T00:00:00Z",
        "relations": [{"type": "references", "target": "1"}]}"#;
    let head = r#""format": "open-memory-interchange", "version": "0.1""#;
    for bad in [
        r#"{"id": "2", "created": "2026-01-01T00:00:00Z"}"#,
        r#"{"id": "2", "content": "two", "created": "soon"}"#,
        r#"{"id": "", "content": "two", "created": "2026-01-01T00:00:00Z"}"#,
        "7",
    ] {
        let document = format!("{{{head}, \"memories\": [{good}, {bad}, {other}]}}");
        let (codes, texts) = contents_of(&document);
        assert!(!codes.is_empty(), "{bad}");
        assert_eq!(texts, ["1", "one", "three"], "{bad}: {codes:?}");
        let other = other.replace('\n', " ");
        let lines = format!("{{{head}, \"serialization\": \"jsonl\"}}\n{good}\n{bad}\n{other}\n");
        let (codes, texts) = contents_of(&lines);
        assert!(!codes.is_empty(), "{bad}");
        assert_eq!(texts, ["1", "one", "three"], "{bad}: {codes:?}");
    }
}

#[test]
fn a_document_without_its_records_is_diagnosed_by_the_rule() {
    let bundle = "{\n\"format\": \"aimem-bundle\", \"version\": \"1\", \"producer\": \"p\",\n
        \"tenant_id\": \"a:b\", \"exported_at\": \"2026-01-01T00:00:00Z\", \"scope\": \"FULL\"}\n";
    let omi = "{\n\"format\": \"open-memory-interchange\", \"version\": \"0.1\"}\n";
    assert_eq!(codes(&read(bundle).errors), ["missing_field"]);
    assert_eq!(codes(&read(omi).errors), ["envelope.memories"]);
}
