//! Taking a consolidation back: its beliefs end, what they replaced is current again, and its turns are new.

use std::collections::HashSet;

use crate::codec::ContentAddress;
use crate::grain::{Draft, Grain, Verification};
use crate::store::{Access, NewGrain, Owner, Version, governance, lineage};

use super::super::Error;
use super::record::{records, stored};
use super::version_of;

/// See [`Admin::undo_consolidation`](crate::Admin::undo_consolidation).
pub(crate) fn undo_consolidation(
    owner: Owner<'_>,
    run: Option<&str>,
    justification: &str,
) -> Result<Vec<ContentAddress>, Error> {
    let store = owner.within().unwrap_or_else(|| owner.store());
    let records = records(store, &store.snapshot())?;
    let newest = records.last().and_then(|record| record.text("run_id"));
    let Some(run) = run.or(newest) else {
        return Ok(Vec::new());
    };
    let own = |record: &&Grain| record.text("run_id") == Some(run);
    let made: HashSet<_> = records.iter().filter(own).flat_map(stored).collect();
    let undo = Undo {
        store,
        made: &made,
        justification,
    };
    let mut ended = Vec::new();
    for record in records.iter().rev().filter(own) {
        for address in stored(record).into_iter().rev() {
            if undo.take_back(&address)? {
                ended.push(address);
            }
        }
        // Last, so that one that was interrupted is found again.
        undo.retract(&record.address())?;
    }
    Ok(ended)
}

struct Undo<'a> {
    store: &'a Access,
    /// The beliefs of the run.
    made: &'a HashSet<ContentAddress>,
    justification: &'a str,
}

impl Undo<'_> {
    /// Takes a belief back, if it still stands; returns whether it did.
    fn take_back(&self, address: &ContentAddress) -> Result<bool, Error> {
        let Some(belief) = self.version(address)? else {
            return Ok(false);
        };
        let Some(standing) = self.standing(&belief)? else {
            return Ok(false);
        };
        match self.before(&belief.grain)? {
            Some(before) => {
                let again = self.again(&before)?.replacing(standing);
                let why = Some(self.justification);
                lineage::supersede(self.store, &standing, NewGrain::from(again), why)?;
            }
            None => self.retract(&standing)?,
        }
        Ok(true)
    }

    /// Returns the belief if it stands, or its newest version if that says the same: a later run replaced it,
    /// and was taken back.
    fn standing(&self, belief: &Version) -> Result<Option<ContentAddress>, Error> {
        let (mut newest, mut seen) = (belief.clone(), HashSet::new());
        while let Some(by) = newest.status.superseded_by.filter(|by| seen.insert(*by)) {
            match self.version(&by)? {
                Some(version) => newest = version,
                None => return Ok(None),
            }
        }
        let said = |version: &Version| Draft::next_version(&version.grain).fields().clone();
        let stands = newest.status.is_current() && said(&newest) == said(belief);
        Ok(stands.then(|| newest.grain.address()))
    }

    fn retract(&self, address: &ContentAddress) -> Result<(), Error> {
        let why = Some(self.justification);
        governance::set_verification(self.store, address, Verification::Retracted, why)
    }

    /// Returns the newest grain of another hand that a belief has taken the place of.
    fn before(&self, belief: &Grain) -> Result<Option<Grain>, Error> {
        let mut newer = belief.clone();
        // A grain names only grains that existed before it, so the loop ends.
        while let Some(older) = self.replaced_by(&newer)? {
            if !self.made.contains(&older.address()) {
                return Ok(Some(older));
            }
            newer = older;
        }
        Ok(None)
    }

    fn replaced_by(&self, newer: &Grain) -> Result<Option<Grain>, Error> {
        for source in newer.derived_from() {
            if let Some(version) = self.version(&source)?
                && version.status.superseded_by == Some(newer.address())
            {
                return Ok(Some(version.grain));
            }
        }
        Ok(None)
    }

    /// Returns the next version of a grain, with its sources that are no versions of it.
    fn again(&self, grain: &Grain) -> Result<Draft, Error> {
        let mut draft = Draft::next_version(grain);
        for source in grain.derived_from() {
            let version = self.version(&source)?;
            if version.is_none_or(|it| it.status.superseded_by.is_none()) {
                draft = draft.derived_from(source);
            }
        }
        Ok(draft)
    }

    fn version(&self, address: &ContentAddress) -> Result<Option<Version>, Error> {
        version_of(self.store, &self.store.snapshot(), address)
    }
}
