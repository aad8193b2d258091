//! The changes that one actor made, read from the ledger, for `undo`.

use std::collections::{BTreeMap, BTreeSet};

use grainstore::codec::Value;
use grainstore::grain::Verification;
use grainstore::ledger::EntryId;
use grainstore::query::CONSOLIDATION_TAG;
use grainstore::store::{AuditEntry, AuditFilter};
use grainstore::{ContentAddress, Filter, Store, Type};

use super::correct::fields_to_correct;

/// The operations that can be taken back, as the audit log names them, and the one that never is: an undo
/// past it would seem to have taken it back. Of what is stored only the records of consolidations count.
const OPERATIONS: [&str; 5] = ["contradict", "verify", "supersede", WITHDRAW, STORE];

/// The storing of a grain.
const STORE: &str = "store";

/// The withdrawal of a consent.
pub(super) const WITHDRAW: &str = "withdraw";

/// The contradictions, verifications, supersessions and withdrawals of one actor, oldest first.
pub(super) struct OwnChanges<'a> {
    store: &'a Store,
    /// The author of the handle; `None` for the store's owner.
    whose: Option<String>,
    changes: Vec<AuditEntry>,
    /// The entries that were taken back.
    taken_back: BTreeSet<EntryId>,
    /// The grains that the actor superseded, each with its successor.
    replaced: BTreeMap<ContentAddress, ContentAddress>,
    /// Those that the actor contradicted or retracted.
    ended: BTreeSet<ContentAddress>,
    /// The records of consolidations, each with the name of its run; what was replaced with one is taken
    /// back with it.
    records: BTreeMap<ContentAddress, String>,
    consolidated: BTreeSet<ContentAddress>,
}

impl<'a> OwnChanges<'a> {
    /// Reads the changes of an author, `None` for the store's owner, from the owner's handle.
    pub(super) fn read(store: &'a Store, whose: Option<String>) -> anyhow::Result<Self> {
        let mut read = Self {
            store,
            whose,
            changes: Vec::new(),
            taken_back: BTreeSet::new(),
            replaced: BTreeMap::new(),
            ended: BTreeSet::new(),
            records: BTreeMap::new(),
            consolidated: BTreeSet::new(),
        };
        read.take_records()?;
        let (audit, filter) = (store.maintenance()?.audit(), AuditFilter::default());
        let mut after = None;
        loop {
            let page = audit.log(&filter, after, PAGE_LEN)?;
            let Some(end) = page.last() else {
                return Ok(read);
            };
            after = Some(end.entry);
            for entry in page {
                read.take(entry);
            }
        }
    }

    fn take(&mut self, entry: AuditEntry) {
        if !OPERATIONS.contains(&entry.operation) || !self.is_own(&entry) {
            return;
        }
        let is_record = |address: &ContentAddress| self.records.contains_key(address);
        if entry.operation == STORE && !entry.addresses.iter().any(is_record) {
            return;
        }
        match (entry.operation, entry.addresses.as_slice()) {
            ("supersede", [of, by]) => drop(self.replaced.insert(*of, *by)),
            (_, [of]) if ends(&entry) => drop(self.ended.insert(*of)),
            _ => {}
        }
        self.taken_back.extend(taken_back_by(&entry));
        self.changes.push(entry);
    }

    fn take_records(&mut self) -> anyhow::Result<()> {
        let filter = Filter::new().of_type(Type::Action).tag(CONSOLIDATION_TAG);
        let filter = filter.with_envelopes().with_superseded();
        for page in self.store.pages(&filter, PAGE_LEN) {
            for found in page?.results {
                let run = found.grain.text("run_id").unwrap_or_default().to_owned();
                let context = found.grain.field("context").and_then(Value::as_map);
                let stored = context.and_then(|context| context.get("stored"));
                let stored = stored.into_iter().flat_map(Value::texts);
                self.consolidated
                    .extend(stored.filter_map(|it| it.parse::<ContentAddress>().ok()));
                if found.status.is_current() {
                    self.records.insert(found.address, run);
                }
            }
        }
        Ok(())
    }

    /// Returns the name of the run of a consolidation whose record an entry stores.
    pub(super) fn run(&self, entry: &AuditEntry) -> Option<&str> {
        let address = entry
            .addresses
            .first()
            .filter(|_| entry.operation == STORE)?;
        self.records.get(address).map(String::as_str)
    }

    pub(super) const fn store(&self) -> &Store {
        self.store
    }

    /// Whether the actor itself wrote an entry: not another under its token, nor on its behalf.
    pub(super) fn is_own(&self, entry: &AuditEntry) -> bool {
        entry.by == self.whose
    }

    /// Returns the newest change that neither took one back nor was taken back.
    pub(super) fn last(&self) -> anyhow::Result<Option<&AuditEntry>> {
        for entry in self.changes.iter().rev() {
            let is_part = entry.operation == "supersede"
                && (entry.addresses.get(1)).is_some_and(|by| self.consolidated.contains(by));
            let is_open = taken_back_by(entry).is_none()
                && !self.taken_back.contains(&entry.entry)
                && !is_part;
            let of = entry.addresses.first();
            let of = of.filter(|_| ends(entry));
            let is_restored = of
                .map(|of| self.restored(of))
                .transpose()?
                .flatten()
                .is_some();
            if is_open && !is_restored {
                return Ok(Some(entry));
            }
        }
        Ok(None)
    }

    /// Returns the newest version that this actor made of a grain, or the grain.
    pub(super) fn newest(&self, of: ContentAddress) -> anyhow::Result<ContentAddress> {
        let (mut newest, mut seen) = (of, BTreeSet::new());
        while seen.insert(newest) {
            let next = match self.replaced.get(&newest) {
                Some(by) => Some(*by),
                None if self.ended.contains(&newest) => self.restored(&newest)?,
                None => None,
            };
            newest = next.unwrap_or(newest);
        }
        Ok(newest)
    }

    /// Returns the grain by which the actor took back its contradiction or retraction of another: the same once more,
    /// derived from it. No entry names both.
    fn restored(&self, of: &ContentAddress) -> anyhow::Result<Option<ContentAddress>> {
        let Some(before) = self.store.get(of)? else {
            return Ok(None);
        };
        let filter = Filter::new().derived_from(*of);
        let filter = filter.with_superseded().with_expired().with_unreviewed();
        let derived = self.store.query(&filter, PAGE_LEN, None)?;
        for found in derived.results {
            let is_same = fields_to_correct(&found.grain) == fields_to_correct(&before);
            let mut versions = self.store.history(&found.address)?.into_iter();
            let stored = versions.find(|version| version.grain.address() == found.address);
            if is_same && stored.is_some_and(|version| version.stored_by == self.whose) {
                return Ok(Some(found.address));
            }
        }
        Ok(None)
    }
}

/// Returns whether an entry ended a grain that has no successor.
pub(super) fn ends(entry: &AuditEntry) -> bool {
    match entry.operation {
        "contradict" => true,
        "verify" => status_in(entry) == Some(Verification::Retracted),
        _ => false,
    }
}

/// Returns the status that an entry sets: it comes first in the detail, the justification after it.
pub(super) fn status_in(entry: &AuditEntry) -> Option<Verification> {
    let word = entry.detail.split([',', ':', ' ']).next();
    word.and_then(Verification::named)
}

/// Returns the justification of what takes an entry back.
pub(super) fn why(entry: EntryId) -> String {
    format!("{WHY}{entry}")
}

/// Returns the entry that a change took back.
fn taken_back_by(entry: &AuditEntry) -> Option<EntryId> {
    let (_, number) = entry.detail.rsplit_once(WHY)?;
    Some(EntryId::new(number.parse().ok()?))
}

const WHY: &str = "undo of entry ";

const PAGE_LEN: usize = 4096;
