//! What regimes want to know of reads (45 CFR 164.312(b), PCI DSS 10.2.1): who was handed which
//! grains, when, and by what operation. Nothing of what the grains say.

use std::collections::{BTreeMap, BTreeSet};

use crate::codec::ContentAddress;
use crate::crypto::Did;
use crate::grain::{Grain, Time};
use crate::index::{Family, Snapshot};
use crate::ledger::Kind;
use crate::policy::{Capability, Clause, Regime};
use crate::store::instance::Inner;
use crate::store::records::{Frame, ReadRecord, Record};
use crate::store::{Admin, Error, Store};

/// A read on record, because a clause of a regime asked for it.
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
    pub entry: u64,
    /// When.
    pub at: Time,
    /// Who, where a handle of an author's read; none of the store's owner.
    pub by: Option<String>,
    /// What handed the grains out: `get`, `query`, `search`, `export` and so on.
    pub operation: String,
    /// The clauses that asked for it, each as `REGIME/CLAUSE`.
    pub clauses: Vec<String>,
    /// The grains, in the order of their addresses; none of a backup, which takes all there are.
    pub addresses: Vec<ContentAddress>,
}

/// Grains on their way to whoever asked for them.
pub(crate) struct ReadRecorder<'a> {
    inner: &'a Inner,
    author: Option<&'a Did>,
    operation: &'static str,
    /// Whether any clause asks: most stores have none, and pay nothing more than this.
    is_watched: bool,
    /// The grains that clauses ask for, by the names of the clauses.
    watched: BTreeMap<Vec<String>, BTreeSet<ContentAddress>>,
}

impl Admin<'_> {
    /// Returns the reads on record, oldest first, at most `limit` of them, from behind the entry
    /// `after` on: of one grain, with the backups made since it was stored, or all.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn reads(
        self,
        of: Option<&ContentAddress>,
        after: Option<u64>,
        limit: usize,
    ) -> Result<Vec<AuditedRead>, Error> {
        let inner = self.inner();
        let snapshot = self.store().snapshot();
        let mut rows: BTreeSet<u64> = BTreeSet::new();
        match of {
            None => rows.extend(snapshot.of_kind(Kind::Read).rows()?.iter()),
            Some(of) => {
                let since = inner.locate(&snapshot, of)?.unwrap_or(u64::MAX);
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
            let read = inner.read_at(row)?;
            // The index knows addresses by their hashes.
            if of.is_none_or(|of| read.addresses.is_empty() || read.addresses.contains(of)) {
                found.push(read);
            }
        }
        Ok(found)
    }
}

impl Store {
    /// Starts showing grains to the caller.
    pub(crate) fn read_recorder(&self, operation: &'static str) -> ReadRecorder<'_> {
        let author = self.capability().and_then(Capability::acts_as);
        ReadRecorder::new(&self.inner, author, operation)
    }
}

impl<'a> ReadRecorder<'a> {
    fn new(inner: &'a Inner, author: Option<&'a Did>, operation: &'static str) -> Self {
        Self {
            inner,
            author,
            operation,
            is_watched: inner.state().regimes().records_reads(),
            watched: BTreeMap::new(),
        }
    }

    /// Returns whether anybody asks who reads.
    pub(crate) const fn is_watched(&self) -> bool {
        self.is_watched
    }

    /// Adds a grain that the caller will have.
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
            let state = self.inner.state();
            let clauses = state.regimes().all().recording_reads_of(grain);
            clauses.map(name).collect()
        };
        if !clauses.is_empty() {
            let watched = self.watched.entry(clauses).or_default();
            watched.insert(grain.address());
        }
    }

    /// Records what was added and is asked for. Called before the caller has anything of it: a
    /// read that cannot be recorded does not happen.
    pub(crate) fn record(self) -> Result<(), Error> {
        if self.watched.is_empty() {
            return Ok(());
        }
        let actor = self.actor()?;
        let mut frames = vec![Frame::by(actor)];
        let mut writer = self.inner.exclusive();
        let snapshot = self.inner.snapshot();
        for (clauses, addresses) in &self.watched {
            let addresses = self.inner.still_here(&snapshot, addresses)?;
            for addresses in addresses.chunks(ADDRESSES_MAX) {
                let read = ReadRecord::new(self.operation, clauses, addresses);
                if frames.last().is_none_or(|frame| frame.len() == ENTRIES_MAX) {
                    frames.push(Frame::by(actor));
                }
                if let Some(frame) = frames.last_mut() {
                    frame.record(&Record::Read(read))?;
                }
            }
        }
        for frame in &frames {
            self.inner.commit(&mut writer, frame)?;
        }
        Ok(())
    }

    /// As [`ReadRecorder::record`] of everything that is here, whatever grains the clauses are about.
    pub(crate) fn record_all(self) -> Result<(), Error> {
        if !self.is_watched {
            return Ok(());
        }
        let clauses: Vec<String> = {
            let state = self.inner.state();
            state.regimes().all().recording().map(name).collect()
        };
        let read = ReadRecord::new(self.operation, &clauses, &[]);
        let frame = Frame::of(self.actor()?, &Record::Read(read))?;
        self.inner.commit(&mut self.inner.exclusive(), &frame)?;
        Ok(())
    }

    fn actor(&self) -> Result<Option<u64>, Error> {
        self.author.map(|did| self.inner.actor(did)).transpose()
    }
}

impl Inner {
    /// Leaves out what was erased since it was read: nothing may name it any more.
    fn still_here(
        &self,
        snapshot: &Snapshot,
        addresses: &BTreeSet<ContentAddress>,
    ) -> Result<Vec<ContentAddress>, Error> {
        let any_erased = self.state().erasures().any();
        let mut here = Vec::with_capacity(addresses.len());
        for address in addresses {
            if !any_erased || self.locate(snapshot, address)?.is_some() {
                here.push(*address);
            }
        }
        Ok(here)
    }

    fn read_at(&self, row: u64) -> Result<AuditedRead, Error> {
        let Record::Read(read) = self.record_at(row)? else {
            return Err(Error::damaged(format!("entry {row}"), "not a read"));
        };
        let recorded_at = Time::from_ms(self.ledger().read(row)?.header.time_ms);
        let at = read.replaces.map_or(recorded_at, |(_, at)| at);
        Ok(AuditedRead {
            entry: row,
            at,
            by: self.actor_of(row)?,
            operation: read.operation,
            clauses: read.clauses,
            addresses: read.addresses,
        })
    }

    /// Returns the entries that record reads of grains which are to be erased, and writes again
    /// what they say of others.
    pub(crate) fn forget_reads(
        &self,
        snapshot: &Snapshot,
        gone: &BTreeSet<ContentAddress>,
        frame: &mut Frame,
    ) -> Result<BTreeSet<u64>, Error> {
        let mut named = BTreeSet::new();
        for address in gone {
            named.extend(snapshot.pointing_at(Family::Read, address).rows()?.iter());
        }
        let mut rows = BTreeSet::new();
        for row in named {
            let Record::Read(mut read) = self.record_at(row)? else {
                continue;
            };
            let before = read.addresses.len();
            read.addresses.retain(|address| !gone.contains(address));
            if read.addresses.len() == before {
                continue;
            }
            rows.insert(row);
            if !read.addresses.is_empty() {
                let header = self.ledger().read(row)?.header;
                let first = (row, Time::from_ms(header.time_ms));
                read.replaces = read.replaces.or(Some(first));
                frame.record_by(&Record::Read(read), header.actor)?;
            }
        }
        Ok(rows)
    }
}

fn name((regime, clause): (&Regime, &Clause)) -> String {
    format!("{}/{}", regime.name(), clause.id)
}

/// Few enough that what an entry says of the others is soon written again when one is erased.
const ADDRESSES_MAX: usize = 100;

/// Entries of one frame: an export of everything must not ask for a frame of any size.
const ENTRIES_MAX: usize = 1_000;
