//! Caches of data that can be read again from the index and the ledger at any time; they are not
//! part of the state.

mod deadlines;
mod lineages;
#[cfg(feature = "sealing")]
mod plain_users;
mod resting;
mod vectors;

use std::sync::Arc;

use crate::grain::Type;
use crate::index::RowSet;
use crate::ledger::EntryId;
use crate::process::Mutex;
use crate::store::Error;
use crate::store::records::Record;

use super::{Body, Entry, Presence};

use deadlines::Deadlines;
use lineages::LineageCache;
pub(crate) use lineages::{Ancestor, claim_of};
pub(crate) use resting::Resting;
use resting::RestingCache;
pub(crate) use vectors::StoredAt;
use vectors::Vectors;

#[derive(Debug, Default)]
pub(crate) struct Caches {
    pub(crate) lineages: LineageCache,
    pub(crate) vectors: Vectors,
    pub(crate) deadlines: Deadlines,
    pub(crate) resting: RestingCache,
    #[cfg(feature = "sealing")]
    pub(crate) plain_users: plain_users::PlainUsers,
    /// Rows that rest on withdrawn consents.
    pub(crate) withdrawn: CachedRows,
    /// Rows that must not be relied on before a person's review.
    pub(crate) unreviewed: CachedRows,
}

impl Caches {
    /// Updates the caches after a frame with these entries.
    pub(crate) fn apply(&self, entries: &[Entry<'_>], presence: Presence) {
        for entry in entries {
            match entry.body {
                Body::Grain(grain) => {
                    if grain.type_() == Type::Consent {
                        self.withdrawn.forget();
                    }
                    self.lineages.learn(grain, presence);
                }
                Body::Record(Record::Status(status)) => {
                    let successor = status.change.superseded_by;
                    let is_new = |address| {
                        let mut grains = entries.iter().filter_map(Entry::grain);
                        grains.any(|grain| grain.address() == address)
                    };
                    // A successor that was stored before may be a predecessor of remembered heads.
                    if successor.is_some_and(|address| !is_new(address)) {
                        self.lineages.forget_lineages();
                    }
                }
                Body::Record(Record::ConsentEffect(_)) => self.withdrawn.forget(),
                Body::Record(Record::Review(_)) => self.unreviewed.forget(),
                #[cfg(feature = "sealing")]
                Body::Record(Record::KeyEvent(_)) => self.plain_users.forget(),
                Body::Record(_) | Body::Damaged | Body::Locked => {}
            }
        }
    }

    /// Forgets data that depends on erased entries.
    pub(crate) fn forget(&self, erased: &[EntryId]) {
        self.lineages.forget();
        self.vectors.forget(erased);
        self.deadlines.forget(erased);
        self.resting.forget(erased);
        self.withdrawn.forget();
        self.unreviewed.forget();
    }
    /// Forgets what depends on which entries are open, after those of a person were opened.
    #[cfg(feature = "sealing")]
    pub(crate) fn reveal(&self, opened: &RowSet) {
        self.vectors.reveal(opened);
        self.lineages.forget();
        self.withdrawn.forget();
        self.unreviewed.forget();
    }
}

/// A set of rows that is gathered on first use.
#[derive(Debug, Default)]
pub(crate) struct CachedRows(Mutex<Gathered>);

#[derive(Debug, Default)]
struct Gathered {
    rows: Option<Arc<RowSet>>,
    /// The number of times that they were forgotten.
    generation: u64,
}

impl CachedRows {
    /// Returns the rows, gathered now if they are not cached.
    ///
    /// # Errors
    /// As `gather`.
    pub(crate) fn get_or(
        &self,
        gather: impl FnOnce() -> Result<RowSet, Error>,
    ) -> Result<Arc<RowSet>, Error> {
        let generation = {
            let known = self.0.lock();
            if let Some(rows) = &known.rows {
                return Ok(Arc::clone(rows));
            }
            known.generation
        };
        let rows = Arc::new(gather()?);
        let mut known = self.0.lock();
        // They are not cached if a change came while they were gathered, since it is not in them.
        if known.generation == generation {
            known.rows = Some(Arc::clone(&rows));
        }
        Ok(rows)
    }

    fn forget(&self) {
        let mut known = self.0.lock();
        known.rows = None;
        known.generation += 1;
    }
}
