//! Generated attempts at what the tables of rules refuse, for the tests of every door: the library,
//! the command, MCP and HTTP, and CAL at each of them. The cells are those that the store prints; a
//! door attempts each, or says why it has no words for it.

mod changes;
mod grains;

use std::sync::Arc;

use grainstore::crypto::KeySource;
use grainstore::interchange::{ForeignId, Format, ImportFile, ReadOptions};
use grainstore::store::{Authorization, describe_rules};
use grainstore::{ContentAddress, Draft, Options, Store};
use serde_json::{Value, json};

/// The agent that attempts what no scene gives to another.
pub(crate) const ACTOR: &str = "did:web:bot.acme.example";

pub(crate) const OFFICE: Authorization<'static> = Authorization {
    reason: "a test",
    authority: "the office",
};

/// One cell of a table: a rule, a way in or a change, and the effect.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    pub(crate) rule: String,
    pub(crate) column: String,
    effect: String,
}

/// A rule by the first words of its row, and how it is violated.
pub(crate) struct Case {
    rule: &'static str,
    /// The code of the refusal, and those of the columns that refuse with another.
    code: &'static str,
    but: &'static [(&'static str, &'static str)],
    ground: fn() -> Scene,
    /// Puts the rule in force, when what it is about is stored.
    law: fn(&Store, &Scene),
}

/// The parties of an attempt, and the grains that it is about.
#[derive(Debug, Clone)]
pub(crate) struct Scene {
    pub(crate) actor: &'static str,
    pub(crate) namespace: Option<&'static str>,
    pub(crate) may_write: bool,
    pub(crate) reason: &'static str,
    /// The grain that is proposed.
    pub(crate) grain: Value,
    /// A stored grain: to be replaced, changed or deleted.
    pub(crate) old: Value,
    pub(crate) target: ContentAddress,
    /// A file of the foreign record that is stored, and of its next version.
    records: [String; 2],
    parent: fn(&Store) -> Vec<ContentAddress>,
}

/// The refusal of an attempt, as its door tells it.
pub(crate) type Told = Vec<String>;

/// The beginning of a rule and a column, either of which may be empty for all, and why a door has no
/// words for these cells.
pub(crate) type Silence = (&'static str, &'static str, &'static str);

/// A door to a store.
pub(crate) trait Door {
    /// The columns, or the cells of a rule, that the door cannot express, each with the reason.
    const SILENT: &'static [Silence];

    /// Those that the language which is spoken at the door cannot express.
    const WORDLESS: &'static [Silence] = &[];

    /// The columns whose refusals the door counts, and tells no code of: `refused`.
    const COUNTED: &'static [&'static str] = &[];

    /// The rules of which the door tells another code, with the code.
    const OTHERWISE: &'static [(&'static str, &'static str)] = &[];

    /// Returns a store with the master key of sealed persons, empty.
    fn empty(&mut self) -> Store {
        let key = KeySource::Callback(Box::new(|| Ok(vec![7; 32].into())));
        let options = Options {
            master_key: Some(Arc::new(key)),
            text: None,
            ..Options::default()
        };
        Store::in_memory(options).unwrap()
    }

    /// Attempts a column of a scene, and returns the codes that were told, with the store.
    fn attempt(&mut self, column: &str, scene: &Scene, store: Store) -> (Told, Store);
}

/// Attempts every cell that refuses or notes, with grains that the seed determines.
///
/// # Panics
/// If one does not refuse with its code, or the door neither attempts nor names it.
pub(crate) fn every_refusal(door: &mut impl Door, seed: u64) {
    let mut faults = Vec::new();
    let silences = silences(door);
    let mut silent = vec![0_u32; silences.len()];
    for (at, cell) in cells().iter().enumerate() {
        if let Some(said) = silences.iter().position(|it| cell.is_of(it.0, it.1)) {
            silent[said] += 1;
            continue;
        }
        let case = all().find(|case| cell.rule.starts_with(case.rule));
        let case = case.unwrap_or_else(|| unreachable!("no test violates: {cell:?}"));
        let store = door.empty();
        let number = seed.wrapping_add(at as u64);
        let scene = case.prepare(&cell.column, &store, number);
        let address = finish(&scene.grain);
        let was_stored = store.exists(&address).unwrap();
        let before = store.status(&scene.target).unwrap();
        let (told, store) = door.attempt(&cell.column, &scene, store);
        let is_noted = cell.effect == "note";
        let expected = match counted(door).contains(&&*cell.column) {
            _ if is_noted => "noted",
            true => "refused",
            false => code_at(door, case, cell),
        };
        let is_told = !told.is_empty() && told.iter().all(|code| code == expected);
        let is_stored = store.exists(&address).unwrap();
        let after = store.status(&scene.target).unwrap();
        if !is_told || is_stored != (was_stored || is_noted) || after != before {
            let stored = if is_stored { "stored" } else { "not stored" };
            let (rule, column) = (&cell.rule, &cell.column);
            let text = format!("{rule} at {column}: {told:?}, not {expected}; {stored}, {after:?}");
            faults.push(text);
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    for ((rule, column, reason), count) in silences.iter().zip(silent) {
        assert!(count > 0, "{rule} at {column} is no cell: {reason}");
    }
}

fn silences<D: Door>(_: &D) -> Vec<Silence> {
    [D::SILENT, D::WORDLESS].concat()
}

fn code_at<D: Door>(_: &D, case: &Case, cell: &Cell) -> &'static str {
    let other = D::OTHERWISE.iter().find(|it| cell.rule.starts_with(it.0));
    other.map_or_else(|| case.code_at(&cell.column), |(_, code)| code)
}

fn counted<D: Door>(_: &D) -> &'static [&'static str] {
    D::COUNTED
}

fn all() -> impl Iterator<Item = &'static Case> {
    grains::CASES.iter().chain(changes::CASES)
}

/// Returns the cells of both tables that refuse, or take a grain and note it.
fn cells() -> Vec<Cell> {
    let tables = describe_rules();
    let cells = tables.iter().flat_map(|table| {
        let mut rows = table.lines().map(words);
        let columns = rows.next().unwrap();
        // The line below the head.
        rows.next();
        rows.flat_map(move |row| {
            let columns = columns.clone();
            (1..row.len() - 1).map(move |at| Cell {
                rule: row[0].clone(),
                column: columns[at].clone(),
                effect: row[at].clone(),
            })
        })
    });
    cells
        .filter(|cell| ["refuse", "note"].contains(&&*cell.effect))
        .collect()
}

fn words(line: &str) -> Vec<String> {
    let inner = line.trim_start_matches("| ").trim_end_matches(" |");
    inner.split(" | ").map(str::to_owned).collect()
}

impl Cell {
    fn is_of(&self, rule: &str, column: &str) -> bool {
        self.rule.starts_with(rule) && (column.is_empty() || self.column == column)
    }
}

impl Case {
    fn code_at(&self, column: &str) -> &'static str {
        let other = self.but.iter().find(|(at, _)| *at == column);
        other.map_or(self.code, |(_, code)| code)
    }

    /// Stores what an attempt is about, and puts the rule in force.
    fn prepare(&self, column: &str, store: &Store, number: u64) -> Scene {
        let mut scene = (self.ground)();
        decorate(&mut scene.grain, number);
        if column.ends_with("version") {
            store.import(file(&scene.records[0], Format::Pam)).unwrap();
            let id = ForeignId::new("pam", "o", "a");
            scene.target = store.resolve(&id).unwrap().unwrap();
        } else {
            // Whose consent it is counts: a file of the owner withdraws the owner's.
            let writer = scene.old["author_did"].as_str();
            let writer = writer.filter(|_| scene.old["type"] == "consent");
            let handle = writer.map(|did| store.as_actor(&did.parse().unwrap()));
            let handle = handle.as_ref().unwrap_or(store);
            if column == "supersede" && scene.old["type"] == "belief" {
                // A version before it, to which a change could go back.
                let first = with(scene.old.clone(), json!({"object": "the first"}));
                let first = handle.put(draft(&first)).unwrap();
                scene.old["derived_from"] = json!([first.to_string()]);
                let target = handle.supersede(&first, draft(&scene.old), Some("grown"));
                scene.target = target.unwrap();
            } else {
                scene.target = handle.put(draft(&scene.old)).unwrap();
            }
        }
        let mut parents = (scene.parent)(store);
        if column.starts_with("supersede") || column == "a conflict" {
            parents.push(scene.target);
        }
        if !parents.is_empty() {
            let parents: Vec<_> = parents.iter().map(ToString::to_string).collect();
            scene.grain["derived_from"] = json!(parents);
        }
        match column {
            // A file of the owner is taken where a put would be refused.
            "supersede by a stored grain" | "a conflict" => {
                let line = scene.grain.to_string();
                store.import(file(&line, Format::Jsonl)).unwrap();
            }
            _ => {}
        }
        (self.law)(store, &scene);
        scene
    }
}

impl Scene {
    fn new(grain: Value, old: Value) -> Self {
        Self {
            actor: ACTOR,
            namespace: None,
            may_write: true,
            reason: "asked",
            grain,
            old,
            target: ContentAddress::new([0; 32]),
            records: [record("tea", ""), record("coffee", UPDATED)],
            parent: |_| Vec::new(),
        }
    }

    /// Returns the file of a column: its format and its text.
    pub(crate) fn file(&self, column: &str) -> (&'static str, String) {
        match column {
            "the owner's version" | "an actor's version" => ("pam", self.records[1].clone()),
            "a file's ending" => {
                let said =
                    json!({"of": self.target.to_string(), "verification_status": "retracted"});
                let said = match self.old["type"] == "goal" {
                    true => json!({"of": said["of"], "verification_status": "verified"}),
                    false => said,
                };
                let line = json!({ "status": said });
                ("jsonl", format!("{}\n{line}\n", self.old))
            }
            _ => ("jsonl", format!("{}\n", self.grain)),
        }
    }
}

/// Opens a file that is valid.
pub(crate) fn file(text: &str, format: Format) -> ImportFile {
    let file = ImportFile::of_bytes(text.as_bytes(), Some(format), &ReadOptions::default());
    let file = file.unwrap();
    assert!(file.errors.is_empty(), "{:?}", file.errors);
    file
}

pub(crate) fn draft(grain: &Value) -> Draft {
    Draft::from_json(&grain.to_string()).unwrap()
}

/// Returns the address of a grain that lacks nothing.
pub(crate) fn finish(grain: &Value) -> ContentAddress {
    draft(grain).finish(Default::default()).unwrap().address()
}

/// A grain with more members, or with others in place of its own.
fn with(mut grain: Value, members: Value) -> Value {
    if let (Some(grain), Value::Object(members)) = (grain.as_object_mut(), members) {
        grain.extend(members);
    }
    grain
}

fn belief(subject: &str, object: &str) -> Value {
    json!({"type": "belief", "subject": subject, "relation": "allergic_to", "object": object,
           "confidence": 0.9, "created_at": 2, "author_did": ACTOR})
}

/// Gives a grain members that change nothing of the violation.
fn decorate(grain: &mut Value, number: u64) {
    // The steps of SplitMix64, so that neighbours have little in common.
    let mixed = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    grain["created_at"] = json!(6 + mixed % 2_000_000_000_000);
    grain["app_note"] = json!(format!("{:x}", mixed >> 40));
    if mixed & 1 == 1 {
        grain["semantic_tags"] = json!([format!("abc:t{}", mixed % 97)]);
    }
    if mixed & 2 == 2 {
        grain["app_reason"] = json!("because");
    }
}

/// Returns a PAM store of one memory.
fn record(content: &str, rest: &str) -> String {
    let hash = ContentAddress::of(content.as_bytes());
    format!(
        r#"{{"schema": "portable-ai-memory", "schema_version": "1.0", "owner": {{"id": "o"}},
        "export_id": "{content}", "export_date": "2026-02-01T00:00:00Z",
        "memories": [{{"id": "a", "type": "fact", "content": "{content}",
        "content_hash": "sha256:{hash}",
        "temporal": {{"created_at": "2026-01-01T00:00:00Z"{rest}}},
        "provenance": {{"platform": "local"}}, "status": "active", "tags": []}}]}}"#
    )
}

const UPDATED: &str = r#", "updated_at": "2026-01-02T00:00:00Z""#;
