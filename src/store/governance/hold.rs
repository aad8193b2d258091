use crate::codec::{self, ContentAddress, Map, Value};
use crate::grain::{Grain, Time};
use crate::ledger::Kind;
use crate::policy::Protection;

use crate::store::commit::group::Frame;
use crate::store::instance::open::Inner;
use crate::store::records::authorization::{Decided, Mandate};
use crate::store::records::entry::{address, bytes, decode, encode};
use crate::store::{Error, Store};

/// A legal hold on a grain, as an operator placed it (OMS 23.2, ruling I12).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hold {
    /// The grain that is held.
    pub address: ContentAddress,
    /// When the hold was placed.
    pub since: Time,
    /// Why, and by whom.
    pub decided: Decided,
}

/// The holds on one grain.
#[derive(Debug, Default)]
pub(crate) struct Held {
    placed: Vec<(Time, Decided)>,
    /// Whether an operator ever lifted them: that lifts the grain's own mode too (ruling I19).
    was_lifted: bool,
}

impl Held {
    pub(crate) fn apply(&mut self, time: Time, entry: HoldEntry) {
        if entry.is_placed {
            self.placed.push((time, entry.decided));
        } else {
            self.placed.clear();
            self.was_lifted = true;
        }
    }
}

/// A hold, placed or lifted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HoldEntry {
    pub(crate) of: ContentAddress,
    is_placed: bool,
    decided: Decided,
}

impl HoldEntry {
    fn encode(
        of: &ContentAddress,
        is_placed: bool,
        mandate: Mandate<'_>,
    ) -> Result<Vec<u8>, codec::Error> {
        let mut map = Map::from_iter([("a", bytes(of)), ("on", Value::Bool(is_placed))]);
        mandate.write(&mut map);
        encode(map)
    }

    pub(crate) fn decode(body: &[u8]) -> Option<Self> {
        let map = decode(body)?;
        Some(Self {
            of: address(&map, "a")?,
            is_placed: map.get("on")?.as_bool()?,
            decided: Decided::read(&map)?,
        })
    }
}

impl Store {
    /// Places a legal hold: from now on the grain is not replaced, contradicted, judged anew,
    /// deleted or erased, whatever else allows it (OMS 23.2, ruling I12).
    ///
    /// ```
    /// use grainstore::store::{Deletion, Mandate};
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// let address = store.put(Draft::event("the contract was signed"))?;
    /// store.place_hold(&address, Mandate { reason: "Doe v. Acme", authority: "legal" })?;
    /// let deletion = Deletion { reason: "asked", authority: "the office" };
    /// assert_eq!(store.delete(&address, deletion).unwrap_err().code(), "ERR_INVALIDATION_DENIED");
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_NOT_FOUND`; `ERR_AUTHORITY` without a reason or an authority; storage errors.
    pub fn place_hold(&self, address: &ContentAddress, mandate: Mandate<'_>) -> Result<(), Error> {
        let inner = &*self.inner;
        let mandate = mandate.check()?;
        let mut writer = inner.lead_alone();
        let found = inner.locate(&inner.index.snapshot(), address)?;
        found.ok_or(Error::NotFound { address: *address })?;
        let mut frame = Frame::default();
        let entry = HoldEntry::encode(address, true, mandate)?;
        frame.record(Kind::Hold, entry);
        inner.commit(&mut writer, &frame)?;
        Ok(())
    }

    /// Lifts every legal hold on a grain, and the mode `hold` of its own policy (ruling I19).
    /// Returns whether there was anything to lift.
    ///
    /// # Errors
    /// As [`Store::place_hold`].
    pub fn lift_hold(&self, address: &ContentAddress, mandate: Mandate<'_>) -> Result<bool, Error> {
        let inner = &*self.inner;
        let mandate = mandate.check()?;
        let mut writer = inner.lead_alone();
        let snapshot = inner.index.snapshot();
        let row = inner.locate(&snapshot, address)?;
        let row = row.ok_or(Error::NotFound { address: *address })?;
        let holds_itself = inner.protection(&inner.grain_at(row, address)?).can_hold();
        if !holds_itself && !inner.is_held(address) {
            return Ok(false);
        }
        let mut frame = Frame::default();
        let entry = HoldEntry::encode(address, false, mandate)?;
        frame.record(Kind::Hold, entry);
        inner.commit(&mut writer, &frame)?;
        Ok(true)
    }

    /// Returns the legal holds that stand, by the address of what they hold.
    pub fn holds(&self) -> Vec<Hold> {
        let standing = self.inner.standing.read();
        let holds = standing.holds.iter().flat_map(|(address, held)| {
            let placed = held.placed.iter();
            placed.map(|(since, decided)| Hold {
                address: *address,
                since: *since,
                decided: decided.clone(),
            })
        });
        holds.collect()
    }
}

impl Inner {
    /// Returns whether an operator's hold is on a grain.
    pub(crate) fn is_held(&self, address: &ContentAddress) -> bool {
        let standing = self.standing.read();
        let held = standing.holds.get(address);
        held.is_some_and(|held| !held.placed.is_empty())
    }

    /// Returns what a grain's policy protects, as far as it has not been lifted.
    pub(crate) fn protection(&self, grain: &Grain) -> Protection {
        self.standing_protection(&grain.address(), Protection::of(grain))
    }

    /// Returns what is left of the protection that a grain declares.
    pub(crate) fn standing_protection(
        &self,
        of: &ContentAddress,
        protection: Protection,
    ) -> Protection {
        if protection.can_hold() {
            let standing = self.standing.read();
            let held = standing.holds.get(of);
            if held.is_some_and(|held| held.was_lifted) {
                return protection.lifted();
            }
        }
        protection
    }
}
