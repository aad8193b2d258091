//! Legal holds that operators placed and lifted (OMS 23.2, rulings I12 and I19).

use std::collections::{BTreeMap, BTreeSet};

use crate::codec::ContentAddress;
use crate::grain::Time;
use crate::index::{RowSet, Snapshot};
use crate::ledger::Kind;
use crate::policy::RecordedAuthorization;
use crate::store::Error;
use crate::store::records::Record;

use super::{Body, Entry, Fold, of_kinds};

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Holds(BTreeMap<ContentAddress, HoldsOnGrain>);

#[derive(Debug, Default, PartialEq, Eq)]
struct HoldsOnGrain {
    placed: Vec<(Time, RecordedAuthorization)>,
    /// Whether an operator ever lifted them: that lifts the grain's own mode too (ruling I19).
    was_lifted: bool,
    /// Those that were lifted: a copy of before does not place them again (ruling I28).
    lifted: BTreeSet<RecordedAuthorization>,
}

impl Holds {
    /// Returns whether a hold is on a grain.
    pub(crate) fn is_held(&self, address: &ContentAddress) -> bool {
        let holds = self.0.get(address);
        holds.is_some_and(|holds| !holds.placed.is_empty())
    }

    /// Returns the reasons and authorities of the holds on a grain.
    #[cfg(feature = "interchange")]
    pub(crate) fn on(
        &self,
        address: &ContentAddress,
    ) -> impl Iterator<Item = &RecordedAuthorization> {
        let holds = self.0.get(address).into_iter();
        holds.flat_map(|holds| holds.placed.iter().map(|(_, authorization)| authorization))
    }

    /// Returns whether a hold with this reason and authority was on a grain and lifted.
    #[cfg(feature = "interchange")]
    pub(crate) fn lifted(&self, address: &ContentAddress, hold: &RecordedAuthorization) -> bool {
        let holds = self.0.get(address);
        holds.is_some_and(|holds| holds.lifted.contains(hold))
    }

    /// Returns whether the holds on a grain were lifted once.
    pub(crate) fn was_lifted(&self, address: &ContentAddress) -> bool {
        self.0.get(address).is_some_and(|holds| holds.was_lifted)
    }

    /// Returns the holds in force, in the order of the addresses.
    pub(crate) fn iter(
        &self,
    ) -> impl Iterator<Item = (&ContentAddress, Time, &RecordedAuthorization)> {
        self.0.iter().flat_map(|(address, holds)| {
            let placed = holds.placed.iter();
            placed.map(move |(since, authorization)| (address, *since, authorization))
        })
    }
}

impl Fold for Holds {
    fn sources(&self, snapshot: &Snapshot) -> Result<RowSet, Error> {
        of_kinds(snapshot, &[Kind::Hold])
    }

    fn apply(&mut self, entry: &Entry<'_>) -> Result<(), Error> {
        if let Body::Record(Record::Hold(hold)) = entry.body {
            let holds = self.0.entry(hold.of).or_default();
            if hold.is_placed {
                holds.placed.push((entry.time, hold.authorization.clone()));
            } else {
                let placed = holds.placed.drain(..);
                holds
                    .lifted
                    .extend(placed.map(|(_, authorization)| authorization));
                holds.was_lifted = true;
            }
        }
        Ok(())
    }
}
