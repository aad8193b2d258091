//! A file is judged and read again record by record; that is the same as reading it at once.

use grainstore::codec::{Map, Value};
use grainstore::interchange::{Error, Format, ImportFile, Place, ReadOptions, Record};
use grainstore::{Options, Store};

use super::foreign::text_of;

/// Everything that a reading comes to.
pub(super) type Said = (Vec<String>, Vec<String>, Vec<(Place, String)>);

pub(super) fn said(reading: ImportFile) -> Said {
    let records = reading.records.into_vec().unwrap();
    let record = |it: &Record| {
        let (address, id, place) = (it.grain.address(), &it.foreign_id, &it.place);
        format!("{address} {id:?} {place} {:?} {:?}", it.status, it.warnings)
    };
    let error = |error: &Error| format!("{} {error}", error.code());
    (
        records.iter().map(record).collect(),
        reading.errors.iter().map(error).collect(),
        reading.findings,
    )
}

/// Reads a file and its bytes; returns how many records there are.
fn hold(text: &str, format: Format) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    std::fs::write(&path, text).unwrap();
    let options = ReadOptions::default();
    let of_file = ImportFile::open(&path, Some(format), &options).unwrap();
    let len = of_file.records.len();
    let of_file = said(of_file);
    let of_bytes = ImportFile::of_bytes(text.as_bytes(), Some(format), &options).unwrap();
    assert_eq!(of_file, said(of_bytes));
    assert_eq!(of_file.0.len() as u64, len);
    // One invalid record refuses a bundle, and no record of another file.
    let is_bundle = matches!(format, Format::Aimem | Format::AimemNdjson);
    assert!(of_file.0.is_empty() || of_file.1.is_empty() || !is_bundle);
    of_file.0.len()
}

/// A bundle of more chunks than one batch, with edges between them.
fn bundle(chunks: usize) -> Map {
    let mut bundle = super::aimem::sample();
    let values: Vec<_> = (0..chunks)
        .map(|n| {
            let id = format!("urn:aimem:test:{n}");
            let text = format!("memory {n}");
            let text = [
                ("id", id.as_str()),
                ("content", &text),
                ("memory_type", "fact"),
                ("created_at", "2026-04-01T09:30:00Z"),
            ];
            Value::Map(text.into_iter().collect())
        })
        .collect();
    let edges: Vec<_> = (1..chunks)
        .map(|n| {
            let (source, target) = (
                format!("urn:aimem:test:{n}"),
                format!("urn:aimem:test:{}", n / 2),
            );
            let text = [
                ("source_id", source.as_str()),
                ("target_id", &target),
                ("edge_type", "semantic"),
                ("created_at", "2026-04-01T09:30:00Z"),
            ];
            let mut edge: Map = text.into_iter().collect();
            edge.insert("weight", 0.5);
            Value::Map(edge)
        })
        .collect();
    bundle.insert("chunks", values);
    bundle.insert("edges", edges);
    bundle.insert("entities", Vec::<Value>::new());
    bundle.insert("chunk_entities", Vec::<Value>::new());
    super::aimem::seal(&mut bundle);
    bundle
}

#[test]
fn a_bundle_is_the_same_however_it_is_read() {
    let sample = super::aimem::sample();
    let large = bundle(1_300);
    assert_eq!(hold(&text_of(&sample), Format::Aimem), 14);
    assert_eq!(hold(&text_of(&large), Format::Aimem), 1 + 1_300 + 1_299);
    // Members in another order, and space between everything.
    let mut members: Vec<_> = large.iter().collect();
    members.reverse();
    let members = members.into_iter().map(|(name, value)| {
        let text = value.to_json().replace(",{", " ,\r\n\t{ ");
        format!("\n\"{name}\" : {text} ")
    });
    let spaced = format!("{{{}}}\n", members.collect::<Vec<_>>().join(","));
    assert_eq!(hold(&spaced, Format::Aimem), 1 + 1_300 + 1_299);
    for (from, to) in [
        ("\"memory 700\"", "\"memory\""),
        ("\"urn:aimem:test:700\",", "\"urn:aimem:test:701\","),
        ("\"semantic\"", "1"),
        ("}]", "},]"),
    ] {
        let wrong = text_of(&large).replacen(from, to, 1);
        assert_ne!(wrong, text_of(&large));
        assert_eq!(hold(&wrong, Format::Aimem), 0, "{from}");
    }
}

#[test]
fn a_stream_is_the_same_in_whatever_order_its_lines_come() {
    let large = bundle(1_300);
    let mut lines: Vec<_> = super::aimem::stream(&large)
        .lines()
        .map(str::to_owned)
        .collect();
    assert_eq!(
        hold(&lines.join("\n"), Format::AimemNdjson),
        1 + 1_300 + 1_299
    );
    // An edge may stand before the chunks it names: each kind keeps its own order.
    let (chunks, edges) = lines
        .split_off(1)
        .into_iter()
        .partition::<Vec<_>, _>(|line| line.contains("\"_kind\":\"chunk\""));
    let mut edges = edges.into_iter();
    for chunk in chunks {
        lines.extend(edges.next());
        lines.push(chunk);
    }
    assert_eq!(
        hold(&lines.join("\n"), Format::AimemNdjson),
        1 + 1_300 + 1_299
    );
    lines[900] = "{".into();
    lines[1_900] = "{\"_kind\":\"chunk\"}".into();
    assert_eq!(hold(&lines.join("\n"), Format::AimemNdjson), 0);
    lines[900] = "{\"_kind\":\"chunk\"}".into();
    assert_eq!(hold(&lines.join("\n"), Format::AimemNdjson), 0);
}

#[test]
fn an_omi_file_is_the_same_however_it_is_read() {
    let mut file = super::omi::sample();
    let memories: Vec<_> = (0..1_300)
        .map(|n| {
            let target = (n + 7) % 1_300;
            let record = format!(
                r#"{{"id": "{n}", "content": "memory {n}", "created": "2026-01-15T10:30:00Z",
                    "relations": [{{"type": "about", "target": "{target}"}}]}}"#
            );
            Value::from_json(&record).unwrap()
        })
        .collect();
    file.insert("memories", memories.clone());
    assert_eq!(hold(&text_of(&file), Format::Omi), 1 + 2 * 1_300);
    let wrong = text_of(&file).replace("\"memory 700\"", "7");
    // The memory and its relation; the others stand beside the error.
    assert_eq!(hold(&wrong, Format::Omi), 1 + 2 * 1_300 - 2);
    file.remove("memories");
    file.insert("serialization", "jsonl");
    let mut lines = vec![text_of(&file)];
    lines.extend(memories.iter().map(Value::to_json));
    assert_eq!(hold(&lines.join("\n"), Format::OmiJsonl), 1 + 2 * 1_300);
    lines[700] = String::new();
    assert_eq!(hold(&lines.join("\n"), Format::OmiJsonl), 1 + 2 * 1_300 - 2);
}

#[test]
fn lines_that_are_no_grains_are_left_out_of_the_second_reading_too() {
    let lines: Vec<_> = (0..50)
        .map(|n| match n % 10 {
            3 => "{\"type\": \"event\"}".to_owned(),
            _ => format!("{{\"type\": \"event\", \"content\": \"{n}\", \"created_at\": 1}}"),
        })
        .collect();
    assert_eq!(hold(&lines.join("\n"), Format::Jsonl), 45);
}

#[test]
fn a_file_that_changed_since_it_was_judged_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let text = text_of(&bundle(1_300));
    std::fs::write(&path, &text).unwrap();
    let reading = ImportFile::open(&path, None, &ReadOptions::default()).unwrap();
    assert!(reading.errors.is_empty());
    std::fs::write(&path, &text[..text.len() / 2]).unwrap();
    let store = Store::in_memory(Options::default()).unwrap();
    let error = store.import(reading).unwrap_err();
    assert_eq!(error.code(), "ERR_IO", "{error}");
}
