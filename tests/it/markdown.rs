//! Trees of Markdown: out, in, edited and in again, and trees of an attacker.

mod attacks;
mod edits;
mod erased;
mod notes;
mod round;
mod sync;
mod vault;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use grainstore::interchange::{Format, ImportFile, ReadOptions, WriteOptions};
use grainstore::query::ExportReport;
use grainstore::store::Summary;
use grainstore::{Draft, Filter, Grain, Options, Store, Time, Type};
use tempfile::TempDir;

const DIALECTS: [&str; 7] = [
    "okf",
    "obsidian",
    "basic-memory",
    "claude-code",
    "codex",
    "openclaw",
    "hermes",
];

const NOW: Time = Time::from_ms(1_790_000_000_000);

fn memory() -> Store {
    Store::in_memory(Options::default()).unwrap()
}

/// A folder with these files.
fn tree(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    files
        .iter()
        .for_each(|(path, text)| write(folder.path(), path, text));
    folder
}

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// The files below a folder, by path.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(folder).unwrap().to_str().unwrap();
            found.insert(name.to_owned(), fs::read_to_string(&path).unwrap());
        }
    }
    found
}

fn reading(folder: &Path, dialect: Option<&str>) -> ImportFile {
    let options = ReadOptions {
        dialect: dialect.map(str::to_owned),
        scope: Some("tree".to_owned()),
        ..ReadOptions::default()
    };
    ImportFile::open(folder, None, &options).unwrap()
}

/// Imports a tree, and holds the preview of it to what comes of it.
fn import(store: &Store, folder: &Path) -> Summary {
    let preview = store
        .admin()
        .unwrap()
        .preview_import(reading(folder, None))
        .unwrap();
    let summary = store.import(reading(folder, None)).unwrap();
    assert_eq!(counts(&preview), counts(&summary));
    assert_eq!(summary.refusals(), 0, "{summary:?}");
    summary
}

/// Inserted, updated, unchanged, conflicts.
fn counts(summary: &Summary) -> [u64; 4] {
    let conflicts = u64::try_from(summary.conflicts.len()).unwrap();
    [
        summary.inserted,
        summary.updated,
        summary.unchanged,
        conflicts,
    ]
}

fn export(store: &Store, folder: &Path, dialect: &str) -> ExportReport {
    let options = WriteOptions {
        dialect: Some(dialect.to_owned()),
        now: Some(NOW),
        ..WriteOptions::default()
    };
    let admin = store.admin().unwrap();
    admin
        .export_file(Format::Markdown, &Filter::new(), &options, folder)
        .unwrap()
}

/// The current beliefs and events: the subject and the statement of each.
fn said(store: &Store) -> Vec<String> {
    let mut all: Vec<String> = current(store).iter().map(statement).collect();
    all.sort();
    all
}

fn current(store: &Store) -> Vec<Grain> {
    let mut grains = Vec::new();
    let mut after = None;
    loop {
        let page = store.query(&Filter::new(), 500, after).unwrap();
        grains.extend(page.results.into_iter().map(|found| found.grain));
        after = page.next_cursor;
        if after.is_none() {
            return grains;
        }
    }
}

fn statement(grain: &Grain) -> String {
    let text = |name: &str| {
        let value = grain.field(name);
        value.map_or_else(String::new, grainstore::codec::Value::to_json)
    };
    match grain.type_() {
        Type::Event => format!("{} {}", text("role"), text("content")),
        _ => format!(
            "{} {} {}",
            text("subject"),
            text("relation"),
            text("object")
        ),
    }
}

/// A store of what people have agents remember.
fn sample() -> Store {
    let store = memory();
    let at = |number: i64| Time::from_ms(1_780_000_000_000 + number * 1_000);
    let beliefs = [
        ("Ana", "prefers", "pnpm, never npm"),
        ("Ana", "works_at", "Acme"),
        ("Acme", "note", "A company: makes anvils."),
        ("Acme", "mg:located_in", "[[Graz]]"),
        ("CON", "note", "a name of a device"),
        (
            "ana",
            "note",
            "several\nlines\n\n```\n# code\n```\nand more",
        ),
        ("../../etc/passwd", "likes 100% of", "`json:1`"),
        ("Zoë \"Z\" [x]", "note", "prefers: tea"),
    ];
    for (number, (subject, relation, object)) in (0..).zip(beliefs) {
        let draft = Draft::belief(subject, relation, object).confidence(0.9);
        store
            .put(draft.tag("tooling").created_at(at(number)))
            .unwrap();
    }
    let object: grainstore::codec::Map = [("a", 1)].into_iter().collect();
    let draft = Draft::belief("Ana", "has", grainstore::codec::Value::Map(object));
    store.put(draft.confidence(1.0).created_at(at(20))).unwrap();
    for (number, (role, text)) in (30..).zip([("user", "use pnpm"), ("assistant", "user: done")]) {
        let draft = Draft::event(text).set("role", role).session("s1");
        store.put(draft.created_at(at(number))).unwrap();
    }
    store
        .put(Draft::event("deployed to staging").created_at(at(40)))
        .unwrap();
    store
}
