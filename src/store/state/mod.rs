//! The state of a store beside its index and its text view: small, kept in memory, and changed by
//! applying committed entries and by nothing else.
//!
//! [`State`] is every [`Fold`]: the same for a store that stayed open and for one opened on the
//! same files. Data that can be read again is in [`Caches`].

mod actors;
mod cache;
mod consents;
mod entry;
mod erasures;
mod holds;
mod index_entry;
mod key_events;
mod keyring;
mod presence;
mod regimes;
mod review_queue;
mod trust;
mod trusted_clock;

use crate::index::{RowSet, Snapshot};
use crate::ledger::{self, EntryId, Kind, Ledger};

use super::Error;

pub(crate) use actors::Actors;
pub(crate) use cache::{Ancestor, Caches, Resting, StoredAt, claim_of};
pub(crate) use consents::Consents;
pub use consents::Withdrawal;
pub(crate) use entry::{Body, DecodedEntry, Entry};
pub(crate) use erasures::Erasures;
pub(crate) use holds::Holds;
pub(crate) use index_entry::{index_card, index_entry};
pub(crate) use key_events::KeyEvents;
pub(crate) use keyring::Keyring;
#[cfg(feature = "sealing")]
pub(crate) use keyring::{UnlockedPerson, place_of};
pub(crate) use presence::Presence;
pub(crate) use regimes::RegimesInForce;
pub(crate) use review_queue::ReviewQueue;
pub(crate) use trust::TrustRules;
pub(crate) use trusted_clock::TrustedClock;

/// A part of the state: a fold over the entries of the ledger.
pub(crate) trait Fold {
    /// Returns the entries that bring it from nothing to where a snapshot is: those left out
    /// change nothing once these are applied, in their order.
    ///
    /// # Errors
    /// `ERR_INDEX_DAMAGED`, `ERR_STORAGE_IO`.
    fn sources(&self, snapshot: &Snapshot) -> Result<RowSet, Error>;

    /// Applies one entry; an entry that is none of its sources changes nothing.
    ///
    /// # Errors
    /// `ERR_POLICY` for a decision that this version cannot read and must not ignore.
    fn apply(&mut self, entry: &Entry<'_>) -> Result<(), Error>;
}

/// Every fold.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct State {
    actors: Actors,
    clock: TrustedClock,
    consents: Consents,
    erasures: Erasures,
    holds: Holds,
    keys: KeyEvents,
    presence: Presence,
    regimes: RegimesInForce,
    reviews: ReviewQueue,
    trust: TrustRules,
}

impl State {
    pub(crate) const fn actors(&self) -> &Actors {
        &self.actors
    }

    pub(crate) const fn clock(&self) -> TrustedClock {
        self.clock
    }

    pub(crate) const fn consents(&self) -> &Consents {
        &self.consents
    }

    pub(crate) const fn erasures(&self) -> &Erasures {
        &self.erasures
    }

    pub(crate) const fn holds(&self) -> &Holds {
        &self.holds
    }

    pub(crate) const fn keys(&self) -> &KeyEvents {
        &self.keys
    }

    pub(crate) const fn presence(&self) -> Presence {
        self.presence
    }

    pub(crate) const fn regimes(&self) -> &RegimesInForce {
        &self.regimes
    }

    pub(crate) const fn reviews(&self) -> &ReviewQueue {
        &self.reviews
    }

    pub(crate) const fn trust(&self) -> &TrustRules {
        &self.trust
    }

    fn folds(&self) -> [&dyn Fold; 10] {
        [
            &self.actors,
            &self.clock,
            &self.consents,
            &self.erasures,
            &self.holds,
            &self.keys,
            &self.presence,
            &self.regimes,
            &self.reviews,
            &self.trust,
        ]
    }

    /// Applies a committed entry: the one way in.
    ///
    /// # Errors
    /// As [`Fold::apply`].
    pub(crate) fn apply(&mut self, entry: &Entry<'_>) -> Result<(), Error> {
        if entry.grain().is_some() {
            // Most entries are grains, and no other fold reads any.
            self.clock.apply(entry)?;
            return self.presence.apply(entry);
        }
        let folds: [&mut dyn Fold; 10] = [
            &mut self.actors,
            &mut self.clock,
            &mut self.consents,
            &mut self.erasures,
            &mut self.holds,
            &mut self.keys,
            &mut self.presence,
            &mut self.regimes,
            &mut self.reviews,
            &mut self.trust,
        ];
        folds.into_iter().try_for_each(|fold| fold.apply(entry))
    }

    /// Returns the fold of a ledger, up to the end of an index: of what is in the clear, and of what
    /// the keyring opens.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`, `ERR_INDEX_DAMAGED`; as [`Fold::apply`].
    pub(crate) fn recover(
        ledger: &Ledger,
        snapshot: &Snapshot,
        keyring: &Keyring,
    ) -> Result<Self, Error> {
        let mut state = Self::default();
        for row in state.sources(snapshot)?.iter() {
            let entry = match ledger.read(row) {
                // A crash between blanking an entry and removing its keys: the erasure is resumed.
                Err(ledger::Error::Erased { .. }) => continue,
                Err(error) => DecodedEntry::damaged(ledger, error)?,
                Ok(entry) => DecodedEntry::opened(entry, keyring)?,
            };
            state.apply(&entry.as_entry())?;
        }
        Ok(state)
    }

    /// Returns whether the erasure of some entries removes a source, so that the state must be
    /// recovered again.
    ///
    /// # Errors
    /// `ERR_INDEX_DAMAGED`, `ERR_STORAGE_IO`.
    pub(crate) fn rests_on(&self, rows: &[EntryId], snapshot: &Snapshot) -> Result<bool, Error> {
        let sources = self.sources(snapshot)?;
        Ok(rows.iter().any(|row| sources.contains(*row)))
    }

    fn sources(&self, snapshot: &Snapshot) -> Result<RowSet, Error> {
        let mut all = RowSet::default();
        for fold in self.folds() {
            all.unite(&fold.sources(snapshot)?);
        }
        Ok(all)
    }
}

/// Returns the entries of some kinds.
fn of_kinds(snapshot: &Snapshot, kinds: &[Kind]) -> Result<RowSet, Error> {
    let mut rows = RowSet::default();
    for kind in kinds {
        rows.unite(&snapshot.of_kind(*kind).set()?);
    }
    Ok(rows)
}
