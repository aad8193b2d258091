//! Every format to every other and back: what comes back is what was there, less what is counted, and
//! nothing is added. The table of docs/interchange.md is made here.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use grainstore::Grain;
use grainstore::interchange::{Entry, Error, mg};

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

/// The documents of a generated file, and the files of a pair: 2,000 documents.
const DOCUMENTS: usize = 50;
const FILES: u32 = 40;

/// Generates a file of documents, each a memory of its own kind and time.
fn generated(format: Format, seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    let contents = (0..DOCUMENTS).map(|at| {
        let content = CONTENTS[random.below(CONTENTS.len())];
        format!("{content} {seed} {at}")
    });
    let contents: Vec<String> = contents.collect();
    match format {
        Format::Pam => pam_store(&contents),
        Format::Aimem => text_of(&bundle(&contents)).into_bytes(),
        Format::AimemNdjson => crate::aimem::stream(&bundle(&contents)).into_bytes(),
        Format::Omi => omi_file(&contents),
        _ => archive(&contents),
    }
}

fn time(at: usize) -> String {
    format!("2026-03-{:02}T00:00:{:02}Z", 1 + at % 28, at % 60)
}

fn pam_store(contents: &[String]) -> Vec<u8> {
    let ids: Vec<_> = (0..contents.len()).map(|at| format!("m{at}")).collect();
    let memories = ids.iter().zip(contents);
    let memories: Vec<_> = memories
        .map(|(id, content)| (id.as_str(), content.as_str()))
        .collect();
    let mut store = crate::pam::store::small(&memories);
    let edit = super::super::foreign::edit;
    for at in (0..contents.len()).step_by(5) {
        let mut edit = |at: usize, name: &str, value: &str| {
            edit(&mut store, &format!("memories/{at}/{name}"), Some(value));
        };
        edit(at, "summary", "\"a drink\"");
        edit(at + 1, "confidence", "{\"current\": 0.5}");
        edit(at + 2, "type", "\"skill\"");
    }
    text_of(&store).into_bytes()
}

fn bundle(contents: &[String]) -> Map {
    let mut bundle = crate::aimem::sample();
    let kinds = ["fact", "episodic", "goal", "preference", "identity"];
    let chunks = contents.iter().enumerate().map(|(at, content)| {
        let mut chunk = Map::new();
        chunk.insert("id", format!("urn:aimem:test:{at}"));
        chunk.insert("content", content.as_str());
        chunk.insert("memory_type", kinds[at % kinds.len()]);
        chunk.insert("created_at", time(at));
        Value::Map(chunk)
    });
    let chunks: Vec<_> = chunks.collect();
    bundle.insert("chunks", chunks);
    let edit = super::super::foreign::edit;
    for (place, id) in [
        ("edges/0/source_id", "\"urn:aimem:test:0\""),
        ("edges/0/target_id", "\"urn:aimem:test:2\""),
        ("chunk_entities/0/chunk_id", "\"urn:aimem:test:0\""),
    ] {
        edit(&mut bundle, place, Some(id));
    }
    crate::aimem::seal(&mut bundle);
    bundle
}

fn omi_file(contents: &[String]) -> Vec<u8> {
    let mut file = crate::omi::sample();
    let kinds = ["semantic", "episodic", "whim"];
    let records = contents.iter().enumerate().map(|(at, content)| {
        let mut record = Map::new();
        record.insert("id", format!("m{at}"));
        record.insert("content", content.as_str());
        record.insert("created", time(at));
        record.insert("type", kinds[at % kinds.len()]);
        Value::Map(record)
    });
    let records: Vec<_> = records.collect();
    file.insert("memories", records);
    let edit = super::super::foreign::edit;
    let relation = r#"[{"type": "supports", "target": "m1"}]"#;
    edit(&mut file, "memories/0/relations", Some(relation));
    text_of(&file).into_bytes()
}

fn archive(contents: &[String]) -> Vec<u8> {
    let drafts = contents.iter().enumerate().map(|(at, content)| {
        let content = content.replace('\u{feff}', "");
        let draft = match at % 4 {
            0 => Draft::belief("Ana", "likes", content).confidence(0.5),
            1 => Draft::event(content).session("s"),
            2 => Draft::observation("probe", content),
            _ => Draft::goal(content),
        };
        let draft = draft.created_at(Time::parse(&time(at)).unwrap());
        (draft.finish(Profile::Extended).unwrap(), Status::default())
    });
    written(&drafts.collect(), Format::Mg).unwrap().0
}

/// What a store would export of a file.
fn entries_of(bytes: &[u8], format: Format) -> Vec<Entry> {
    let reading = ImportFile::of_bytes(bytes, Some(format), &ReadOptions::default()).unwrap();
    assert!(reading.errors.is_empty(), "{format}: {:?}", reading.errors);
    any::stored(reading.records.into_vec().unwrap())
}

/// Writes grains without a store.
fn written(entries: &Vec<Entry>, format: Format) -> Option<(Vec<u8>, Loss)> {
    let (mut bytes, options) = (Vec::new(), all().1);
    let report = match format {
        Format::Pam => pam::write(&mut bytes, entries, &options),
        Format::Aimem => aimem::write(&mut bytes, entries, &options),
        Format::AimemNdjson => aimem::write_stream(&mut bytes, entries, &options),
        Format::Omi => omi::write(&mut bytes, entries, &options),
        _ => {
            let known: BTreeMap<_, _> = entries
                .iter()
                .map(|(grain, _)| (grain.address(), grain))
                .collect();
            let plan = entries.iter();
            let plan = plan.map(|(grain, status)| mg::Entry::of(grain, status));
            let fetch = |address| Ok::<_, Error>(known[&address].clone());
            let summary = mg::write(&mut bytes, plan.collect(), &options, fetch).unwrap();
            return Some((bytes, summary.loss));
        }
    };
    let report = report.map_err(|error| assert_several(&error.code().to_string()));
    Some((bytes, report.ok()?.loss))
}

/// One file is of one owner and one producer; a caller chooses among several.
fn assert_several(code: &str) {
    let several = ["PAM_MIXED_OWNERS", "mixed_tenants", "mixed_producers"];
    assert!(several.contains(&code), "{code}");
}

fn store_from(bytes: &[u8], format: Format) -> Store {
    let reading = ImportFile::of_bytes(bytes, Some(format), &ReadOptions::default()).unwrap();
    assert!(reading.errors.is_empty(), "{format}: {:?}", reading.errors);
    let store = memory();
    let summary = store.import(reading).unwrap();
    assert!(summary.is_complete(), "{format}: {summary:?}");
    store
}

fn exported(store: &Store, format: Format) -> Option<(Vec<u8>, Loss)> {
    let mut bytes = Vec::new();
    let admin = store.admin().unwrap();
    let exported = admin.export(format, &all().0, &all().1, &mut bytes);
    let exported = exported.map_err(|error| assert_several(&error.code().to_string()));
    Some((bytes, exported.ok()?.loss))
}

/// A memory: its type, its texts and its time.
type Memory = (String, String, Time);

fn memory_in(grain: &Grain) -> Memory {
    let texts = ["subject", "relation", "object", "content", "description"];
    let texts: Vec<_> = texts.iter().filter_map(|name| grain.text(name)).collect();
    let kind = grain.type_().name().unwrap_or_default().to_owned();
    (kind, texts.join("|"), grain.created_at())
}

/// The memories of a store, which questions find.
fn memories(store: &Store) -> Vec<Memory> {
    let found = found_in(store).into_iter();
    let mut said: Vec<_> = found.map(|found| memory_in(&found.grain)).collect();
    said.sort();
    said
}

/// The same of grains without a store.
fn memories_in(entries: &[Entry]) -> Vec<Memory> {
    let is_envelope = |grain: &Grain| {
        let tags = grain.field("structural_tags").into_iter();
        tags.flat_map(Value::texts)
            .any(|tag| tag == "grainstore:envelope")
    };
    let grains = entries.iter().map(|(grain, _)| grain);
    let grains = grains.filter(|grain| !is_envelope(grain));
    let mut said: Vec<_> = grains.map(memory_in).collect();
    said.sort();
    said
}

/// The memories of a document before and after its way, and what was counted on it.
type Way = (Vec<Memory>, Vec<Memory>, Loss);

/// Sends a file through stores: into one, out in another format, into the next, and back.
fn through_stores(document: &[u8], from: Format, through: Format) -> Option<Way> {
    let first = store_from(document, from);
    let (bytes, mut loss) = exported(&first, through)?;
    let second = store_from(&bytes, through);
    let (bytes, again) = exported(&second, from)?;
    loss.merge(&again);
    let third = store_from(&bytes, from);
    Some((memories(&first), memories(&third), loss))
}

/// The same without stores, which takes a tenth of the time.
fn through_formats(document: &[u8], from: Format, through: Format) -> Option<Way> {
    let first = entries_of(document, from);
    let (bytes, mut loss) = written(&first, through)?;
    let second = entries_of(&bytes, through);
    let (bytes, again) = written(&second, from)?;
    loss.merge(&again);
    let third = entries_of(&bytes, from);
    Some((memories_in(&first), memories_in(&third), loss))
}

/// Returns how many of the memories are among others, each as often as it is there; both sorted.
fn count_of_equal(some: &[Memory], others: &[Memory]) -> usize {
    let mut left: BTreeMap<Memory, usize> = BTreeMap::new();
    for memory in others {
        *left.entry(memory.clone()).or_default() += 1;
    }
    let is_there = |memory: &&Memory| match left.get_mut(*memory) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    };
    some.iter().filter(is_there).count()
}

/// A pair of formats: the memories of the files, those that came back as they were, and what was
/// counted.
struct Row {
    from: Format,
    through: Format,
    count: usize,
    equal: usize,
    lost: BTreeSet<String>,
}

fn row(from: Format, through: Format, generated: &[Vec<u8>]) -> Row {
    let fixtures = valid(from).into_iter().filter(|path| path.is_file());
    let fixtures: Vec<_> = fixtures.map(|path| std::fs::read(path).unwrap()).collect();
    let stored = fixtures.iter().chain(generated.first());
    let stored = stored.filter_map(|document| through_stores(document, from, through));
    let more = generated.iter().skip(1);
    let more = more.filter_map(|document| through_formats(document, from, through));
    let (mut count, mut equal) = (0, 0);
    let mut lost = BTreeSet::new();
    for (before, after, loss) in stored.chain(more) {
        assert!(after.len() <= before.len(), "{from} {through}: {after:?}");
        let same = count_of_equal(&before, &after);
        assert!(same == before.len() || !loss.is_empty(), "{from} {through}");
        count += before.len();
        equal += same;
        lost.extend(loss.iter().map(|(name, _)| name.to_owned()));
    }
    Row {
        from,
        through,
        count,
        equal,
        lost,
    }
}

/// Returns the table: a row for each format of files, a column for each that they went through; and
/// below it what was counted.
fn table(rows: &[Row]) -> String {
    let mut table = String::from("| memories |");
    let names = FORMATS.map(|through| format!("`{through}`"));
    writeln!(table, " {} |", names.join(" | ")).unwrap();
    writeln!(table, "|{}", " --- |".repeat(FORMATS.len() + 1)).unwrap();
    for from in FORMATS {
        let of = rows.iter().filter(|row| row.from == from);
        let counts: BTreeSet<_> = of.clone().map(|row| row.count).collect();
        assert_eq!(counts.len(), 1, "{from}: {counts:?}");
        let count = counts.first().unwrap();
        write!(table, "| {count} of `{from}` |").unwrap();
        for through in FORMATS {
            match of.clone().find(|row| row.through == through) {
                Some(row) => write!(table, " {} |", row.equal).unwrap(),
                None => table.push_str(" – |"),
            }
        }
        table.push('\n');
    }
    let mut lost = BTreeMap::<_, Vec<_>>::new();
    for row in rows.iter().filter(|row| !row.lost.is_empty()) {
        let through = lost.entry((row.from.name(), &row.lost)).or_default();
        through.push(format!("`{}`", row.through));
    }
    table.push_str("\n| of | through | counted |\n| --- | --- | --- |\n");
    for ((from, names), through) in lost {
        let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
        let (through, names) = (through.join(", "), names.join(", "));
        writeln!(table, "| `{from}` | {through} | {names} |").unwrap();
    }
    table
}

#[test]
fn what_comes_back_through_another_format_is_what_was_there_less_what_is_counted() {
    let files = u64::from(cases(FILES));
    let generated = FORMATS.map(|from| (0..files).map(|seed| generated(from, seed)).collect());
    let generated: Vec<Vec<Vec<u8>>> = generated.into();
    let pairs = FORMATS
        .iter()
        .zip(&generated)
        .flat_map(|(from, documents)| {
            let others = FORMATS.iter().filter(move |through| *through != from);
            others.map(move |through| (*from, *through, documents))
        });
    let pairs: Vec<_> = pairs.collect();
    let next = AtomicUsize::new(0);
    let rows = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some((from, through, documents)) = pairs.get(at) else {
                        break;
                    };
                    let row = row(*from, *through, documents);
                    rows.lock().unwrap().insert(at, row);
                }
            });
        }
    });
    let rows: Vec<_> = rows.into_inner().unwrap().into_values().collect();
    let table = table(&rows);
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
