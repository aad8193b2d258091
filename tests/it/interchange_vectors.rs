//! The files of `test-vectors/interchange`, a few of each format, read and written again.
//!
//! They were made for this project. What the projects of the formats publish is read by the tests
//! that are ignored with "needs corpora".

use std::path::{Path, PathBuf};

use grainstore::codec::{Map, Value};
use grainstore::interchange::{self, Format, ImportFile, ReadOptions, Record, WriteOptions};
use grainstore::{ErrorCode, Filter, Options, Store};

use super::foreign::json;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("test-vectors/interchange")
}

/// The paths that are listed, and what is expected of each.
fn expected() -> Vec<(String, Map)> {
    let list = json(&std::fs::read_to_string(folder().join("expect.json")).unwrap());
    let entries = list.iter();
    let entry =
        |(path, expected): (&str, &Value)| (path.to_owned(), expected.as_map().unwrap().clone());
    entries.map(entry).collect()
}

fn read(path: &str) -> ImportFile {
    ImportFile::open(&folder().join(path), None, &ReadOptions::default()).unwrap()
}

/// The files of a format of other tools, without those that are wrong.
pub(super) fn valid(format: Format) -> Vec<PathBuf> {
    let named = |expected: &Map| {
        let found = expected.get("format").and_then(Value::as_text);
        found == Some(format.name()) && expected.get("error").is_none()
    };
    let listed = expected().into_iter();
    let listed = listed.filter(|(_, expected)| named(expected));
    listed.map(|(path, _)| folder().join(path)).collect()
}

#[test]
fn every_file_comes_to_the_grains_or_the_error_that_is_expected() {
    let faults = expected().into_iter().flat_map(|(path, expected)| {
        let faults = faults_of(&path, &expected).into_iter();
        faults.map(move |fault| format!("{path}: {fault}"))
    });
    let faults: Vec<_> = faults.collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Returns how the reading of a file, and its import, differ from what is expected.
fn faults_of(path: &str, expected: &Map) -> Vec<String> {
    let mut faults = Vec::new();
    let mut compare = |what: &str, found: String, wanted: String| {
        if found != wanted {
            faults.push(format!("{what} {found}, expected {wanted}"));
        }
    };
    let text = |name| expected.get(name).and_then(Value::as_text);
    let found = Format::detect(&folder().join(path));
    let found = found.map_or_else(|error| error.to_string(), |it| it.name().to_owned());
    compare(
        "format",
        found,
        text("format").unwrap_or_default().to_owned(),
    );
    let Ok(mut reading) = ImportFile::open(&folder().join(path), None, &ReadOptions::default())
    else {
        return faults;
    };
    let lost = expected.get("loss").cloned();
    let loss: Map = reading.loss.iter().collect();
    let none = || Value::from(Map::new());
    compare(
        "loss",
        Value::Map(loss).to_json(),
        lost.unwrap_or_else(none).to_json(),
    );
    for (said, found) in records_of(&mut reading, expected) {
        compare("record", found, said);
    }
    let codes = super::foreign::codes(&reading.errors);
    let errors: Vec<_> = text("error").into_iter().collect();
    compare("errors", format!("{codes:?}"), format!("{errors:?}"));
    if !errors.is_empty() || !reading.errors.is_empty() {
        return faults;
    }
    let store = Store::in_memory(Options::default()).unwrap();
    let summary = store.import(reading).unwrap();
    compare(
        "complete",
        summary.is_complete().to_string(),
        true.to_string(),
    );
    let number = |name| expected.get(name).map_or_else(String::new, Value::to_json);
    compare("grains", summary.inserted.to_string(), number("grains"));
    compare(
        "findings",
        summary.findings.len().to_string(),
        number("findings"),
    );
    let again = store.import(read(path)).unwrap();
    let counts = (again.inserted, again.unchanged);
    compare(
        "again",
        format!("{counts:?}"),
        format!("{:?}", (0, summary.inserted)),
    );
    faults
}

/// Returns the records that a file must have, each beside what was found of it.
fn records_of(reading: &mut ImportFile, expected: &Map) -> Vec<(String, String)> {
    let wanted = expected.get("has").and_then(Value::as_array);
    let wanted = wanted.unwrap_or_default().iter();
    let look_for = |wanted: &Map| {
        let mut is_found = false;
        let look = |record: &Record| {
            let fields = record.grain.fields();
            let mut members = wanted.iter();
            is_found |= members.all(|(name, value)| fields.get(name) == Some(value));
            Ok::<(), interchange::Error>(())
        };
        reading.records.look(look).unwrap();
        let said = Value::Map(wanted.clone()).to_json();
        let found = if is_found {
            said.clone()
        } else {
            "none".to_owned()
        };
        (said, found)
    };
    wanted.filter_map(Value::as_map).map(look_for).collect()
}

#[test]
fn every_source_has_a_small_a_rich_and_a_broken_sample() {
    let all = expected();
    // These are databases: the command has samples of them.
    let databases = ["claude-mem", "openai-agents"];
    let others = Format::all().skip_while(|format| *format != Format::McpMemory);
    let mut faults = Vec::new();
    for format in others.filter(|format| !databases.contains(&format.name())) {
        let of_format = |expected: &Map| {
            let name = expected.get("format").and_then(Value::as_text);
            name == Some(format.name())
        };
        let samples: Vec<_> = all.iter().filter(|it| of_format(&it.1)).collect();
        let says = |kinds: &[&str], of: &dyn Fn(&Map) -> bool| {
            let mut found = samples
                .iter()
                .filter(|(path, _)| kinds.contains(&kind_of(path)));
            found.any(|(_, expected)| of(expected))
        };
        let has = |names: &'static [&'static str]| {
            move |expected: &Map| {
                let records = expected.get("has").and_then(Value::as_array);
                let mut records = records.unwrap_or_default().iter().filter_map(Value::as_map);
                records.any(|record| names.iter().any(|name| record.contains(name)))
            }
        };
        let fails = |expected: &Map| {
            let count = expected.get("findings").and_then(Value::as_i64);
            ["error", "loss"].iter().any(|name| expected.contains(name)) || count > Some(0)
        };
        let valid = ["small", "rich"];
        for (what, is_there) in [
            ("small", says(&["small"], &|_| true)),
            (
                "rich",
                says(&["rich"], &has(&["object", "content", "content_blocks"])),
            ),
            ("broken", says(&["broken"], &fails)),
            (
                "a text",
                says(&valid, &has(&["object", "content", "content_blocks"])),
            ),
            (
                "a time",
                TIMELESS.contains(&format.name()) || says(&valid, &has(&["created_at"])),
            ),
            (
                "a person",
                says(&valid, &has(&["user_id", "subject", "role"])),
            ),
            (
                "a relation",
                says(
                    &valid,
                    &has(&["relation", "parent_message_id", "session_id"]),
                ),
            ),
        ] {
            if !is_there {
                faults.push(format!("{format} has no sample: {what}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    for name in ["pam", "aimem", "aimem-ndjson", "omi", "omi-jsonl"] {
        assert!(!valid(Format::named(name).unwrap()).is_empty(), "{name}");
    }
}

/// The sources whose files say no times.
const TIMELESS: [&str; 2] = ["mcp-memory", "chatbot-ui"];

/// Returns which of the three samples of a source a file is, by its path.
fn kind_of(path: &str) -> &'static str {
    match path {
        path if path.contains("small") => "small",
        path if path.contains("broken") => "broken",
        _ => "rich",
    }
}

#[test]
fn a_format_that_is_only_read_is_not_written() {
    let store = Store::in_memory(Options::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for name in ["chatgpt", "pam-conversation", "letta", "codex"] {
        let (format, path) = (Format::named(name).unwrap(), folder.path().join(name));
        let options = WriteOptions::default();
        let admin = store.admin().unwrap();
        let refused = admin.export_file(format, &Filter::new(), &options, &path);
        assert_eq!(
            refused.unwrap_err().code(),
            ErrorCode::Unsupported,
            "{name}"
        );
        assert!(!path.exists(), "{name}");
    }
}

#[test]
fn no_file_is_left_unread() {
    let listed: Vec<_> = expected()
        .into_iter()
        .map(|(path, _)| folder().join(path))
        .collect();
    let mut pending = vec![folder()];
    while let Some(path) = pending.pop() {
        if listed.contains(&path) || path.ends_with("expect.json") {
            continue;
        }
        assert!(path.is_dir(), "{} is not in expect.json", path.display());
        let entries = std::fs::read_dir(path).unwrap();
        pending.extend(entries.map(|entry| entry.unwrap().path()));
    }
}

#[test]
fn a_memory_store_with_conversations_and_vectors_goes_out_and_comes_back() {
    let store = Store::in_memory(Options::default()).unwrap();
    let summary = store.import(read("pam/garden")).unwrap();
    assert_eq!(summary.embedded, 1);
    let folder = tempfile::tempdir().unwrap();
    let options = WriteOptions {
        with_embeddings: true,
        ..WriteOptions::default()
    };
    let exported =
        store
            .admin()
            .unwrap()
            .export_file(Format::Pam, &Filter::new(), &options, folder.path());
    assert_eq!(
        exported.unwrap().loss.iter().collect::<Vec<_>>(),
        [("not exportable", 1)]
    );
    let reading = ImportFile::open(folder.path(), None, &ReadOptions::default()).unwrap();
    let again = store.import(reading).unwrap();
    assert!(again.is_complete(), "{again:?}");
    assert_eq!((again.inserted, again.embedded), (0, 0), "{again:?}");
}

#[test]
fn no_file_that_is_cut_makes_a_reader_panic() {
    for (path, expected) in expected() {
        let name = expected.get("format").and_then(Value::as_text).unwrap();
        let format = Format::named(name);
        let Ok(bytes) = std::fs::read(folder().join(&path)) else {
            // A directory.
            continue;
        };
        for part in 0..CUTS {
            let cut = &bytes[..bytes.len() * part / CUTS];
            let reading = ImportFile::of_bytes(cut, format, &ReadOptions::default());
            if let Ok(reading) = reading {
                assert!(reading.records.into_vec().is_ok(), "{path} {part}");
            }
            drop(ImportFile::of_bytes(cut, None, &ReadOptions::default()));
        }
    }
}

const CUTS: usize = 24;
