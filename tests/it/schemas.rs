//! What is written, against the schemas that the projects of the formats publish.

use std::path::Path;

use grainstore::crypto::{Algorithm, OsRandom, SigningKey};
use grainstore::interchange::{ExportKey, Format, ImportFile, ReadOptions, WriteOptions, pam};
use grainstore::{Filter, Options, Store};
use serde_json::Value;

use super::exports::mixed;
use super::foreign::corpus;

const STORE: &str = "pam/schemas/portable-ai-memory.schema.json";

fn of(path: &str) -> Store {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let store = Store::in_memory(Options::default()).unwrap();
    let reading = ImportFile::open(&path, None, &ReadOptions::default()).unwrap();
    store.import(reading).unwrap();
    store
}

fn export(store: &Store, format: Format, options: &WriteOptions) -> Value {
    let mut bytes = Vec::new();
    let all = Filter::new().with_superseded();
    store
        .admin()
        .unwrap()
        .export(format, &all, options, &mut bytes)
        .unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

fn assert_valid(schema: &str, document: &Value) {
    let schema = std::fs::read_to_string(corpus("data").join(schema)).unwrap();
    let options = jsonschema::options().should_validate_formats(true);
    let validator = options.build(&serde_json::from_str(&schema).unwrap());
    let errors: Vec<_> = validator
        .unwrap()
        .iter_errors(document)
        .map(|error| format!("{error} at {}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

#[test]
#[ignore = "needs corpora"]
fn every_memory_store_that_is_written_keeps_the_schema() {
    let plain = WriteOptions::default();
    let providers = [
        "chatgpt", "claude", "copilot", "gemini", "grok", "deepseek", "cursor",
    ];
    let vectors = providers.map(|name| format!("test-vectors/interchange/{name}"));
    let paths = vectors.iter().map(String::as_str);
    let own = [
        "examples/data/pam",
        "examples/data/grains.jsonl",
        "test-vectors/interchange/pam/garden",
    ];
    for path in paths.chain(own) {
        assert_valid(STORE, &export(&of(path), Format::Pam, &plain));
    }
    for algorithm in [Algorithm::Ed25519, Algorithm::P256] {
        let key = SigningKey::generate(algorithm, &OsRandom).unwrap();
        let signed = WriteOptions {
            sign: Some(ExportKey::new(key)),
            ..WriteOptions::default()
        };
        let document = export(&of("examples/data/pam"), Format::Pam, &signed);
        assert!(document.get("signature").is_some());
        assert_valid(STORE, &document);
    }
}

#[test]
#[ignore = "needs corpora"]
fn an_embeddings_file_that_is_written_keeps_the_schema() {
    let folder = tempfile::tempdir().unwrap();
    let options = WriteOptions {
        with_embeddings: true,
        ..WriteOptions::default()
    };
    let store = of("test-vectors/interchange/pam/garden");
    let exported =
        store
            .admin()
            .unwrap()
            .export_file(Format::Pam, &Filter::new(), &options, folder.path());
    exported.unwrap();
    let text = std::fs::read_to_string(folder.path().join(pam::EMBEDDINGS)).unwrap();
    let schema = "pam/schemas/portable-ai-memory-embeddings.schema.json";
    assert_valid(schema, &serde_json::from_str(&text).unwrap());
}

#[test]
#[ignore = "needs corpora"]
fn an_omi_document_that_is_written_keeps_the_schema() {
    let document = export(&mixed(), Format::Omi, &WriteOptions::default());
    assert_valid("omi/schema/omi-l1.schema.json", &document);
}
