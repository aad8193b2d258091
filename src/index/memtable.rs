use std::collections::{BTreeSet, HashMap};

use parking_lot::RwLock;
use roaring::RoaringTreemap;

use crate::codec::{ContentAddress, Value};
use crate::grain::{Grain, StatusChange};

use super::key::{Key, ordered, prefix_of};
use super::{Family, Snapshot, TermKey};

/// The index of a store: applied to by one writer, read through snapshots by many readers.
#[derive(Debug)]
pub struct Index {
    terms: TermKey,
    memtable: RwLock<Memtable>,
}

#[derive(Debug, Default)]
pub(super) struct Memtable {
    pub(super) keys: BTreeSet<Key>,
    pub(super) addresses: HashMap<ContentAddress, u64>,
    /// Rows of all grains.
    pub(super) grains: RoaringTreemap,
    /// Grains that stopped being current, and the entry that ended them.
    pub(super) ended: HashMap<u64, u64>,
    /// How many ledger entries have been applied.
    pub(super) watermark: u64,
}

impl Index {
    /// Creates an empty index.
    pub fn new(terms: TermKey) -> Self {
        Self {
            terms,
            memtable: RwLock::default(),
        }
    }

    /// Returns a view of what has been applied so far, which stays as it is.
    pub fn snapshot(&self) -> Snapshot<'_> {
        let watermark = self.memtable.read().watermark;
        Snapshot::new(&self.memtable, &self.terms, watermark)
    }

    /// Applies a grain that the ledger holds as entry `row`, stored at `stored_at_ms`.
    pub fn apply_grain(&self, row: u64, grain: &Grain, stored_at_ms: i64) {
        let keys = self.keys_of(row, grain, stored_at_ms);
        let mut memtable = self.memtable.write();
        memtable.addresses.insert(grain.address(), row);
        memtable.grains.insert(row);
        memtable.keys.extend(keys);
    }

    /// Applies a change of status of the grain at `target`, which is entry `row`.
    pub fn apply_status(&self, row: u64, target: &ContentAddress, change: &StatusChange) {
        let mut memtable = self.memtable.write();
        let Some(grain_row) = memtable.addresses.get(target).copied() else {
            return;
        };
        memtable.keys.insert(Key::new(Family::Status, [grain_row], row));
        memtable.keys.insert(Key::new(Family::Mentions, [prefix_of(target)], row));
        if let Some(new) = &change.superseded_by {
            let lineage = Key::new(Family::Lineage, [prefix_of(new)], grain_row);
            memtable.keys.insert(lineage);
            memtable.keys.insert(Key::new(Family::Mentions, [prefix_of(new)], row));
        }
        if change.superseded_by.is_some() || change.system_valid_to.is_some() {
            memtable.ended.entry(grain_row).or_insert(row);
        }
    }

    /// Applies a foreign name of the grain at `target`, which is entry `row`.
    pub fn apply_alias(&self, row: u64, target: &ContentAddress, foreign: [&str; 3]) {
        let term = self.terms.hash(&foreign);
        let mut memtable = self.memtable.write();
        memtable.keys.insert(Key::new(Family::ForeignId, [term], row));
        memtable.keys.insert(Key::new(Family::Mentions, [prefix_of(target)], row));
    }

    /// Applies any other entry about the grain at `target`, which is entry `row`.
    pub fn apply_mention(&self, row: u64, target: &ContentAddress) {
        let key = Key::new(Family::Mentions, [prefix_of(target)], row);
        self.memtable.write().keys.insert(key);
    }

    /// Makes everything applied so far visible: the first `entries` entries of the ledger.
    pub fn publish(&self, entries: u64) {
        self.memtable.write().watermark = entries;
    }

    fn keys_of(&self, row: u64, grain: &Grain, stored_at_ms: i64) -> Vec<Key> {
        let mut keys = Vec::with_capacity(24);
        let mut key = |family, component| keys.push(Key::new(family, [component], row));
        let term = |text: &str| self.terms.hash(&[text]);

        key(Family::Type, u64::from(grain.type_().byte()));
        key(Family::CreatedAt, ordered(grain.created_at().ms()));
        let time = |name| grain.field(name).and_then(Value::as_i64);
        if let Some(ms) = time("valid_from") {
            key(Family::ValidTime, ordered(ms));
        }
        // Ruling I20: the blob's own claim counts, else when it came here.
        let active_from = time("system_valid_from").unwrap_or(stored_at_ms);
        key(Family::SystemTime, ordered(active_from));
        for ancestor in grain.text("namespace").into_iter().flat_map(ancestors) {
            key(Family::Namespace, term(ancestor));
        }
        for (name, family) in BY_TEXT {
            if let Some(text) = grain.text(name) {
                key(family, term(text));
            }
        }
        for tag in grain.field("structural_tags").into_iter().flat_map(Value::texts) {
            key(Family::Tag, term(tag));
        }
        for parent in grain.derived_from() {
            key(Family::DerivedFrom, prefix_of(&parent));
        }
        for other in grain.related_to() {
            key(Family::RelatedTo, prefix_of(&other));
        }
        if let Some(consent) = grain.link("processing_basis") {
            key(Family::ProcessingBasis, prefix_of(&consent));
        }
        if let Some(triple) = grain.triple() {
            let part = |text: &Option<String>| text.as_deref().map_or(0, term);
            let (s, p, o) = (
                part(&triple.subject),
                part(&triple.relation),
                part(&triple.object),
            );
            keys.push(Key::new(Family::Spo, [s, p, o], row));
            keys.push(Key::new(Family::Sop, [s, o, p], row));
            keys.push(Key::new(Family::Pso, [p, s, o], row));
            keys.push(Key::new(Family::Pos, [p, o, s], row));
            keys.push(Key::new(Family::Osp, [o, s, p], row));
            keys.push(Key::new(Family::Ops, [o, p, s], row));
        }
        keys
    }
}

/// Returns a namespace and everything it lies in: `a:b:c`, `a:b`, `a` (OMS 28.2).
fn ancestors(namespace: &str) -> impl Iterator<Item = &str> {
    let whole = (!namespace.is_empty()).then_some(namespace);
    std::iter::successors(whole, |inner| inner.rsplit_once(':').map(|(outer, _)| outer))
}

const BY_TEXT: [(&str, Family); 3] = [
    ("session_id", Family::Session),
    ("run_id", Family::Run),
    ("user_id", Family::User),
];
