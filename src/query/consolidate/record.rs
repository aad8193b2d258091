//! The record of a consolidation: an Action that is derived from the turns which a program was given, and
//! names what was stored. It is stored in one frame with that, so which turns are done follows from the
//! grains alone: after a crash, in a copy, in a merged store.

use std::collections::HashSet;

use crate::codec::{ContentAddress, Map, Value};
use crate::grain::{Draft, ENVELOPE_TAG, Grain, Type};
use crate::index::{Family, RowSet, Snapshot};
use crate::ledger::EntryId;
use crate::store::Access;
use crate::store::read::{row_of, version_at};

use super::super::Error;
use super::handed::{Turn, Whose};

/// The tag of a record of a consolidation.
pub const CONSOLIDATION_TAG: &str = "grainstore:consolidation";

/// The outcome of a call of a program.
pub(super) struct Outcome<'a> {
    pub(super) run: &'a str,
    pub(super) program: &'a str,
    pub(super) whose: &'a Whose,
    pub(super) turns: &'a [Turn],
    pub(super) stored: &'a [ContentAddress],
    /// Beliefs that wait for a person, with those whose place they take then.
    pub(super) waiting: &'a [(ContentAddress, ContentAddress)],
}

impl Outcome<'_> {
    /// Returns the record, which answers leave out unless envelopes are asked for.
    pub(super) fn draft(&self) -> Draft {
        let (turns, beliefs) = (self.turns.len() as u64, self.stored.len() as u64);
        let input = Map::from_iter([
            ("program", Value::from(self.program)),
            ("turns", Value::from(turns)),
        ]);
        let content = format!("{beliefs} beliefs from {turns} turns");
        let addresses = self.stored.iter().map(|it| Value::from(*it)).collect();
        let mut context = Map::from_iter([(STORED, Value::Array(addresses))]);
        let waiting = self.waiting.iter().map(|(new, old)| {
            Value::Map(Map::from_iter([
                ("new", Value::from(*new)),
                ("old", Value::from(*old)),
            ]))
        });
        let waiting: Vec<_> = waiting.collect();
        if !waiting.is_empty() {
            context.insert(WAITING, waiting);
        }
        let draft = Draft::action("consolidate", input, content, false)
            .tag(ENVELOPE_TAG)
            .tag(CONSOLIDATION_TAG)
            .set("run_id", self.run)
            .set("context", context);
        let turns = self.turns.iter();
        let draft = turns.fold(draft, |draft, turn| draft.derived_from(turn.address));
        self.whose.mark(draft)
    }
}

impl Whose {
    /// Gives a draft the namespace and the person.
    pub(super) fn mark(&self, mut draft: Draft) -> Draft {
        if let Some(namespace) = &self.namespace {
            draft = draft.namespace(namespace);
        }
        if let Some(user) = &self.user {
            draft = draft.user(user);
        }
        draft
    }
}

/// Returns the records that were not taken back, in the order of storage.
pub(super) fn records(store: &Access, snapshot: &Snapshot) -> Result<Vec<Grain>, Error> {
    let mut records = Vec::new();
    for row in snapshot
        .with_text(Family::Tag, CONSOLIDATION_TAG)
        .set()?
        .iter()
    {
        let version = version_at(store, snapshot, row)?;
        let tags = version.grain.field("structural_tags").into_iter();
        // The index has hashes of tags.
        let is_record = version.grain.type_() == Type::Action
            && tags
                .flat_map(Value::texts)
                .any(|tag| tag == CONSOLIDATION_TAG);
        if is_record && version.status.is_current() && store.sees(snapshot, &version.grain)? {
            records.push(version.grain);
        }
    }
    Ok(records)
}

/// Returns the turns that a program has had.
pub(super) fn done(store: &Access, snapshot: &Snapshot) -> Result<HashSet<ContentAddress>, Error> {
    let records = records(store, snapshot)?;
    Ok(records.iter().flat_map(Grain::derived_from).collect())
}

/// Returns the rows of turns that a program has had.
pub(super) fn done_rows(store: &Access, snapshot: &Snapshot) -> Result<RowSet, Error> {
    let mut rows = RowSet::default();
    for address in done(store, snapshot)? {
        let row: Option<EntryId> = row_of(store, snapshot, &address)?;
        row.into_iter().for_each(|row| rows.insert(row));
    }
    Ok(rows)
}

/// Returns the beliefs that were stored.
pub(super) fn stored(record: &Grain) -> Vec<ContentAddress> {
    let texts = in_context(record, STORED).iter().filter_map(Value::as_text);
    texts.filter_map(|text| text.parse().ok()).collect()
}

/// Returns the beliefs that waited for a person, each with the one whose place it takes.
pub(super) fn waiting(record: &Grain) -> Vec<(ContentAddress, ContentAddress)> {
    let pairs = in_context(record, WAITING).iter().filter_map(|pair| {
        let of = |name: &str| pair.as_map()?.get(name)?.as_text()?.parse().ok();
        Some((of("new")?, of("old")?))
    });
    pairs.collect()
}

fn in_context<'a>(record: &'a Grain, name: &str) -> &'a [Value] {
    let context = record.field("context").and_then(Value::as_map);
    let values = context.and_then(|context| context.get(name)?.as_array());
    values.unwrap_or_default()
}

const STORED: &str = "stored";
const WAITING: &str = "waiting";
