//! The audit of reads that regimes require (45 CFR 164.312(b), PCI DSS 10.2.1): the reader, the
//! grains, the time and the operation, and nothing of the content.

use std::collections::{BTreeMap, BTreeSet};

use crate::codec::ContentAddress;
use crate::grain::{Grain, Time};
use crate::index::{Family, Snapshot};
use crate::ledger::{EntryId, Kind};
use crate::policy::{Capability, Clause, Regime};
use crate::store::engine::{Caller, Engine};
use crate::store::records::{DenialRecord, ReadRecord, Record, Uid};
use crate::store::txn::{AdmittedFrame, Transaction, actor};
use crate::store::{Access, Error, Owner};

/// A recorded read, as a clause of a regime requires.
///
/// ```
/// use grainstore::policy::Regime;
/// use grainstore::store::Authorization;
/// use grainstore::{Draft, Options, Store};
///
/// let store = Store::in_memory(Options::default())?;
/// let ours = Regime::parse(
///     "name = \"ours\"\ntitle = \"our own\"\n[[clause]]\nid = \"reads\"\ncites = \"a contract\"\n\
///      says = \"we know who reads what\"\nrequires = { read_audit = true }\n",
/// )?;
/// store.admin()?.set_regimes(vec![ours], Authorization { reason: "agreed", authority: "legal" })?;
/// let address = store.put(Draft::event("she likes tea"))?;
/// store.as_actor(&"did:web:bot.example".parse()?).get(&address)?;
/// let reads = store.admin()?.reads(Some(&address), None, 10)?;
/// assert_eq!(reads[0].by.as_deref(), Some("did:web:bot.example"));
/// assert_eq!((&*reads[0].operation, &*reads[0].clauses[0]), ("get", "ours/reads"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditedRead {
    /// The number of its ledger entry.
    pub entry: EntryId,
    /// The time of the read.
    pub at: Time,
    /// The author of the handle that read; `None` for the store's owner.
    pub by: Option<String>,
    /// The operation that returned the grains: `get`, `query`, `search`, `export` and so on.
    pub operation: String,
    /// The clauses that require the record, each as `REGIME/CLAUSE`.
    pub clauses: Vec<String>,
    /// The grains, in the order of their addresses; empty for a backup, which reads all grains.
    pub addresses: Vec<ContentAddress>,
}

/// The grains that an operation is about to return.
pub(crate) struct ReadRecorder<'a> {
    engine: &'a Engine,
    capability: Option<&'a Capability>,
    operation: &'static str,
    /// Whether any clause requires it: most stores have none, and pay for this check only.
    is_watched: bool,
    /// The grains to record, by the names of the clauses.
    watched: BTreeMap<(Vec<String>, Option<Uid>), BTreeSet<ContentAddress>>,
}

/// See [`Admin::reads`](crate::Admin::reads).
pub(crate) fn reads(
    owner: Owner<'_>,
    of: Option<&ContentAddress>,
    after: Option<EntryId>,
    limit: usize,
) -> Result<Vec<AuditedRead>, Error> {
    owner.authorize_whole()?;
    let engine = owner.engine();
    let snapshot = owner.store().snapshot();
    let mut rows: BTreeSet<EntryId> = BTreeSet::new();
    match of {
        None => rows.extend(snapshot.of_kind(Kind::Read).rows()?.iter()),
        Some(of) => {
            let since = engine
                .as_of(&snapshot)
                .locate(of)?
                .unwrap_or(EntryId::new(u64::MAX));
            let backups = snapshot.read_in_full().rows()?;
            rows.extend(backups.iter().filter(|row| *row > since));
            rows.extend(snapshot.pointing_at(Family::Read, of).rows()?.iter());
        }
    }
    let mut found = Vec::new();
    for row in rows
        .into_iter()
        .filter(|row| after.is_none_or(|after| *row > after))
    {
        if found.len() == limit {
            break;
        }
        let read = read_at(engine, row)?;
        // The index holds hashes of addresses.
        if of.is_none_or(|of| read.addresses.is_empty() || read.addresses.contains(of)) {
            found.push(read);
        }
    }
    Ok(found)
}

/// Starts the record of an operation that returns grains.
pub(crate) fn read_recorder<'a>(store: &'a Access, operation: &'static str) -> ReadRecorder<'a> {
    let is_watched = store.engine.state().regimes().records_reads();
    ReadRecorder::new(store, operation, is_watched)
}

/// Returns what [`Store::read_recorder`] does, for grains that were found in a snapshot.
pub(super) fn recorder_of_found<'a>(
    store: &'a Access,
    operation: &'static str,
) -> ReadRecorder<'a> {
    let is_watched = store.engine.known_state().regimes().records_reads();
    ReadRecorder::new(store, operation, is_watched)
}

/// Records that a read of a grain is refused, where a clause requires its reads to be recorded
/// (45 CFR 164.308(a)(5)(ii)(C): attempts, too), and returns the refusal. A refusal that cannot be
/// recorded stands: nothing is disclosed.
pub(super) fn refuse_read(
    store: &Access,
    operation: &'static str,
    grain: &Grain,
    refusal: Error,
) -> Error {
    let rule = match &refusal {
        Error::Denied { rule, .. } | Error::Refused { rule } => rule.name(),
        _ => return refusal,
    };
    let denial = DenialRecord::new(Some(grain.address()), operation, rule);
    let recorder = read_recorder(store, operation);
    if let Err(error) = recorder.record_refusal(grain, denial) {
        tracing::warn!(%error, "the refusal of a read is not recorded");
    }
    refusal
}

impl<'a> ReadRecorder<'a> {
    fn new(store: &'a Access, operation: &'static str, is_watched: bool) -> Self {
        Self {
            engine: &store.engine,
            capability: store.capability(),
            operation,
            is_watched,
            watched: BTreeMap::new(),
        }
    }

    /// Returns whether any clause requires reads to be recorded.
    pub(crate) const fn is_watched(&self) -> bool {
        self.is_watched
    }

    /// Adds a grain that the caller will receive.
    pub(crate) fn add(&mut self, grain: &Grain) {
        if self.is_watched {
            self.watch(grain);
        }
    }

    /// Records all of some grains, as [`ReadRecorder::record`] does.
    pub(crate) fn all<'g>(mut self, grains: impl Iterator<Item = &'g Grain>) -> Result<(), Error> {
        if self.is_watched {
            grains.for_each(|grain| self.watch(grain));
        }
        self.record()
    }

    fn watch(&mut self, grain: &Grain) {
        let clauses: Vec<String> = {
            let state = self.engine.state();
            let clauses = state.regimes().all().recording_reads_of(grain);
            clauses.map(name).collect()
        };
        if !clauses.is_empty() {
            // An entry names grains of one sealed person, or grains in the clear.
            let person = self.engine.unlocked_person_of(grain);
            let watched = self.watched.entry((clauses, person)).or_default();
            watched.insert(grain.address());
        }
    }

    /// Records the added grains that clauses are about. Called before the caller receives any of
    /// them: a read that cannot be recorded fails.
    pub(crate) fn record(self) -> Result<(), Error> {
        if self.watched.is_empty() {
            return Ok(());
        }
        let actor = actor(self.engine, self.capability)?;
        let mut frames = vec![AdmittedFrame::by(actor)];
        let mut txn = Transaction::begin(self.engine, Caller::owner(actor))?;
        let snapshot = self.engine.snapshot();
        for ((clauses, person), addresses) in &self.watched {
            let addresses = still_here(self.engine, &snapshot, addresses)?;
            for addresses in addresses.chunks(ADDRESSES_MAX) {
                let read = ReadRecord::new(self.operation, clauses, addresses);
                if frames.last().is_none_or(|frame| frame.len() == ENTRIES_MAX) {
                    frames.push(AdmittedFrame::by(actor));
                }
                if let Some(frame) = frames.last_mut() {
                    frame.record_about(&Record::Read(read), actor, *person)?;
                }
            }
        }
        for frame in &frames {
            txn.append(frame)?;
        }
        Ok(())
    }

    /// As [`ReadRecorder::record`] for all stored grains, whatever grains the clauses are about.
    pub(crate) fn record_all(self) -> Result<(), Error> {
        if !self.is_watched {
            return Ok(());
        }
        let clauses: Vec<String> = {
            let state = self.engine.state();
            state.regimes().all().recording().map(name).collect()
        };
        let read = ReadRecord::new(self.operation, &clauses, &[]);
        let actor = actor(self.engine, self.capability)?;
        let mut txn = Transaction::begin(self.engine, Caller::owner(actor))?;
        txn.record(&Record::Read(read))?;
        txn.commit()?;
        Ok(())
    }

    fn record_refusal(self, grain: &Grain, denial: DenialRecord) -> Result<(), Error> {
        if !self.is_watched {
            return Ok(());
        }
        let is_required = {
            let state = self.engine.state();
            let mut clauses = state.regimes().all().recording_reads_of(grain);
            clauses.next().is_some()
        };
        if !is_required {
            return Ok(());
        }
        let actor = actor(self.engine, self.capability)?;
        Transaction::begin(self.engine, Caller::owner(actor))?.refuse(denial)
    }
}

/// Returns the read entries that name grains to be erased, and writes new ones for their other
/// grains.
pub(crate) fn forget_reads(
    engine: &Engine,
    snapshot: &Snapshot,
    gone: &BTreeSet<ContentAddress>,
    frame: &mut AdmittedFrame,
) -> Result<BTreeSet<EntryId>, Error> {
    let mut named = BTreeSet::new();
    for address in gone {
        named.extend(snapshot.pointing_at(Family::Read, address).rows()?.iter());
    }
    let mut rows = BTreeSet::new();
    for row in named {
        let Record::Read(mut read) = engine.record_at(row)? else {
            continue;
        };
        let before = read.addresses.len();
        read.addresses.retain(|address| !gone.contains(address));
        if read.addresses.len() == before {
            continue;
        }
        rows.insert(row);
        if !read.addresses.is_empty() {
            let header = engine.ledger().read(row)?.header;
            let first = (row, Time::from_ms(header.time_ms));
            read.replaces = read.replaces.or(Some(first));
            frame.record_by(&Record::Read(read), header.actor)?;
        }
    }
    Ok(rows)
}

/// Leaves out grains that were erased since they were read: no entry may name them any more.
fn still_here(
    engine: &Engine,
    snapshot: &Snapshot,
    addresses: &BTreeSet<ContentAddress>,
) -> Result<Vec<ContentAddress>, Error> {
    let any_erased = engine.state().erasures().any();
    let mut here = Vec::with_capacity(addresses.len());
    for address in addresses {
        if !any_erased || engine.as_of(snapshot).locate(address)?.is_some() {
            here.push(*address);
        }
    }
    Ok(here)
}

fn read_at(engine: &Engine, row: EntryId) -> Result<AuditedRead, Error> {
    let Record::Read(read) = engine.record_at(row)? else {
        return Err(Error::damaged(format!("entry {row}"), "not a read"));
    };
    let recorded_at = Time::from_ms(engine.ledger().read(row)?.header.time_ms);
    let at = read.replaces.map_or(recorded_at, |(_, at)| at);
    Ok(AuditedRead {
        entry: row,
        at,
        by: engine.actor_of(row)?,
        operation: read.operation,
        clauses: read.clauses,
        addresses: read.addresses,
    })
}

fn name((regime, clause): (&Regime, &Clause)) -> String {
    format!("{}/{}", regime.name(), clause.id)
}

/// Few enough that an entry is cheap to write again when one of its grains is erased.
const ADDRESSES_MAX: usize = 100;

/// Entries of one frame: an export of all grains must not need a frame of unbounded size.
const ENTRIES_MAX: usize = 1_000;
