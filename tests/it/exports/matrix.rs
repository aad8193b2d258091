//! Every format to every other and back: what comes back is what was there, less what is counted, and
//! nothing is added. The table of docs/interchange.md is made here.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::*;
use crate::random::{Random, cases};

const FORMATS: [Format; 5] = [
    Format::Mg,
    Format::Pam,
    Format::Aimem,
    Format::Omi,
    Format::AimemNdjson,
];

/// The contents that documents are made of, each as hard as text may be.
const CONTENTS: [&str; 6] = [
    "likes tea",
    "Zoe\u{308} \u{1f600}",
    "a\u{0}b\nc",
    "\u{feff}x",
    "phi:x",
    "\"quoted\\\"",
];

#[expect(
    clippy::too_many_lines,
    reason = "one record of each kind, format by format"
)]
fn generated(format: Format, seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    let mut text = || format!("{} {seed}", CONTENTS[random.below(CONTENTS.len())]);
    let contents: Vec<String> = (0..3).map(|at| format!("{} {at}", text())).collect();
    let time = |at: usize| format!("2026-03-0{}T00:00:0{}Z", at + 1, seed % 10);
    match format {
        Format::Pam => {
            let ids = ["a", "b", "c"];
            let memories: Vec<_> = ids
                .into_iter()
                .zip(contents.iter().map(String::as_str))
                .collect();
            let mut store = crate::pam::store::small(&memories);
            let edit = super::super::foreign::edit;
            edit(&mut store, "memories/0/summary", Some("\"a drink\""));
            edit(
                &mut store,
                "memories/1/confidence",
                Some("{\"current\": 0.5}"),
            );
            edit(&mut store, "memories/2/type", Some("\"skill\""));
            text_of(&store).into_bytes()
        }
        Format::Aimem | Format::AimemNdjson => {
            let mut bundle = crate::aimem::sample();
            let chunks = contents.iter().enumerate().map(|(at, content)| {
                let mut chunk = Map::new();
                chunk.insert("id", format!("urn:aimem:test:{at}"));
                chunk.insert("content", content.as_str());
                chunk.insert("memory_type", ["fact", "episodic", "goal"][at]);
                chunk.insert("created_at", time(at));
                Value::Map(chunk)
            });
            let chunks: Vec<_> = chunks.collect();
            bundle.insert("chunks", chunks);
            let edit = super::super::foreign::edit;
            edit(
                &mut bundle,
                "edges/0/source_id",
                Some("\"urn:aimem:test:0\""),
            );
            edit(
                &mut bundle,
                "edges/0/target_id",
                Some("\"urn:aimem:test:2\""),
            );
            edit(
                &mut bundle,
                "chunk_entities/0/chunk_id",
                Some("\"urn:aimem:test:0\""),
            );
            crate::aimem::seal(&mut bundle);
            match format {
                Format::Aimem => text_of(&bundle).into_bytes(),
                _ => crate::aimem::stream(&bundle).into_bytes(),
            }
        }
        Format::Omi => {
            let mut file = crate::omi::sample();
            let records = contents.iter().enumerate().map(|(at, content)| {
                let mut record = Map::new();
                record.insert("id", format!("m{at}"));
                record.insert("content", content.as_str());
                record.insert("created", time(at));
                record.insert("type", ["semantic", "episodic", "whim"][at]);
                Value::Map(record)
            });
            let records: Vec<_> = records.collect();
            file.insert("memories", records);
            let edit = super::super::foreign::edit;
            let relation = r#"[{"type": "supports", "target": "m1"}]"#;
            edit(&mut file, "memories/0/relations", Some(relation));
            text_of(&file).into_bytes()
        }
        _ => {
            let store = memory();
            for (at, content) in contents.iter().enumerate() {
                let draft = match at {
                    0 => Draft::belief("Ana", "likes", content.replace('\u{feff}', ""))
                        .confidence(0.5),
                    1 => Draft::event(content.replace('\u{feff}', "")),
                    _ => Draft::goal(content.replace('\u{feff}', "")),
                };
                store
                    .put(draft.created_at(Time::parse(&time(at)).unwrap()))
                    .unwrap();
            }
            let mut bytes = Vec::new();
            let admin = store.admin().unwrap();
            admin
                .export(Format::Mg, &all().0, &all().1, &mut bytes)
                .unwrap();
            bytes
        }
    }
}

fn documents(format: Format) -> Vec<Vec<u8>> {
    let files = valid(format).into_iter();
    let files = files.filter(|path| path.is_file());
    let files = files.map(|path| std::fs::read(path).unwrap());
    let made = (0..u64::from(cases(6))).map(|seed| generated(format, seed));
    files.chain(made).collect()
}

fn store_from(bytes: &[u8], format: Format) -> Store {
    let reading = ImportFile::of_bytes(bytes, Some(format), &ReadOptions::default()).unwrap();
    assert!(reading.errors.is_empty(), "{format}: {:?}", reading.errors);
    let store = memory();
    let summary = store.admin().unwrap().import(reading).unwrap();
    assert!(summary.is_complete(), "{format}: {summary:?}");
    store
}

fn written(store: &Store, format: Format) -> Option<(Vec<u8>, Loss)> {
    let mut bytes = Vec::new();
    let admin = store.admin().unwrap();
    let exported = admin.export(format, &all().0, &all().1, &mut bytes);
    match exported {
        Ok(exported) => Some((bytes, exported.loss)),
        // One file is of one owner and one producer; a caller chooses among several.
        Err(error) => {
            let code = error.code();
            let chosen = ["PAM_MIXED_OWNERS", "mixed_tenants", "mixed_producers"];
            assert!(chosen.iter().any(|known| code == *known), "{error}");
            None
        }
    }
}

/// The memories of a store, which questions find: their types, texts and times.
fn memories(store: &Store) -> Vec<(String, String, Time)> {
    let filter = Filter::new()
        .with_superseded()
        .with_expired()
        .with_unreviewed();
    let found = store.query(&filter, 1_000, None).unwrap();
    let said = found.results.iter().map(|found| {
        let grain = &found.grain;
        let texts = ["subject", "relation", "object", "content", "description"];
        let texts: Vec<_> = texts.iter().filter_map(|name| grain.text(name)).collect();
        let kind = grain.type_().name().unwrap_or_default().to_owned();
        (kind, texts.join("|"), grain.created_at())
    });
    let mut said: Vec<_> = said.collect();
    said.sort();
    said
}

#[test]
fn what_comes_back_through_another_format_is_what_was_there_less_what_is_counted() {
    let mut table = String::from("| from | through | documents | as they were | counted |\n");
    table.push_str("| --- | --- | --- | --- | --- |\n");
    for from in FORMATS {
        for through in FORMATS.into_iter().filter(|through| *through != from) {
            let (mut count, mut equal) = (0, 0);
            let mut lost: BTreeMap<String, u64> = BTreeMap::new();
            for document in documents(from) {
                let first = store_from(&document, from);
                let Some((bytes, mut loss)) = written(&first, through) else {
                    continue;
                };
                let second = store_from(&bytes, through);
                let Some((bytes, again)) = written(&second, from) else {
                    continue;
                };
                loss.merge(&again);
                let third = store_from(&bytes, from);
                let (before, after) = (memories(&first), memories(&third));
                let text = String::from_utf8_lossy(&bytes);
                assert!(after.len() <= before.len(), "{from} {through}\n{text}");
                count += 1;
                if after == before {
                    equal += 1;
                } else {
                    assert!(!loss.is_empty(), "{from} {through}\n{text}");
                }
                for (name, times) in loss.iter() {
                    *lost.entry(name.to_owned()).or_default() += times;
                }
            }
            let names: Vec<_> = lost.keys().map(|name| format!("`{name}`")).collect();
            let names = if names.is_empty() {
                "–".to_owned()
            } else {
                names.join(", ")
            };
            writeln!(
                table,
                "| {from} | {through} | {count} | {equal} | {names} |"
            )
            .unwrap();
        }
    }
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/interchange.md");
    let docs = std::fs::read_to_string(docs).unwrap();
    // A longer run has more documents.
    if cases(1) == 1 {
        assert!(
            docs.contains(&table),
            "docs/interchange.md lacks this table:\n{table}"
        );
    }
}
