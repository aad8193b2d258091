//! The ledger about keys: whether there is a vault, how many persons have a key, which escrow
//! copies of the root were made.
//!
//! No key is here, and no user id: the vault has both.

use std::collections::{BTreeMap, BTreeSet};

use crate::grain::Time;
use crate::index::{RowSet, Snapshot};
use crate::ledger::Kind;
use crate::store::Error;
use crate::store::records::{BlindFields, EscrowRecord, KeyEventRecord, Record};

use super::{Body, Entry, Fold, of_kinds};

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct KeyEvents {
    /// The pseudonyms of persons who have a key.
    persons: BTreeSet<[u8; 16]>,
    /// Those of them that are erased, of whom only what is held remains.
    holds: BTreeSet<[u8; 16]>,
    /// Those of them of whom what was stored before may be in the clear: its sealing is not complete.
    unsealed: BTreeSet<[u8; 16]>,
    /// The last epoch told; 0 without a vault.
    epoch: u64,
    escrows: Vec<EscrowRecord>,
    blind_fields: BlindFields,
    /// The persons of whom an entry was erased since their key was last renewed, with the first time.
    due: BTreeMap<[u8; 16], Time>,
}

impl KeyEvents {
    /// Returns the number of persons who have a key.
    pub(crate) fn persons(&self) -> u64 {
        self.persons.len() as u64
    }

    /// Returns the persons whose sealing, which began when they were added, is not complete.
    pub(crate) const fn unsealed(&self) -> &BTreeSet<[u8; 16]> {
        &self.unsealed
    }

    /// Returns the pseudonyms of the persons who have a key of their own.
    pub(crate) fn own(&self) -> impl Iterator<Item = &[u8; 16]> {
        self.persons.difference(&self.holds)
    }

    /// Returns the pseudonyms under which only held grains of erased persons remain.
    pub(crate) const fn holds(&self) -> &BTreeSet<[u8; 16]> {
        &self.holds
    }
}

#[cfg(feature = "sealing")]
impl KeyEvents {
    /// Returns whether a person was ever given a key.
    pub(crate) const fn has_vault(&self) -> bool {
        self.epoch > 0
    }

    /// Returns whether a key may be used: that of a person, or with `is_hold` that of what is held of one
    /// who is erased, which a store from before the erasure does not know.
    pub(crate) fn has_key(&self, uid: &[u8; 16], is_hold: bool) -> bool {
        self.persons.contains(uid) && (is_hold || !self.is_hold(uid))
    }

    /// Returns whether a person has a key of their own.
    pub(crate) fn has(&self, uid: &[u8; 16]) -> bool {
        self.persons.contains(uid) && !self.is_hold(uid)
    }

    /// Returns whether a key opens only held grains of an erased person.
    pub(crate) fn is_hold(&self, uid: &[u8; 16]) -> bool {
        self.holds.contains(uid)
    }

    /// Returns the last epoch told.
    pub(crate) const fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Returns the fields of which sealed grains have blind tokens.
    pub(crate) const fn blind_fields(&self) -> BlindFields {
        self.blind_fields
    }

    /// Returns the persons of whom an entry was erased under a key that they still have, each with the
    /// time of the first erasure.
    pub(crate) fn due(&self) -> impl Iterator<Item = (&[u8; 16], Time)> {
        self.due.iter().map(|(uid, since)| (uid, *since))
    }

    /// Returns the escrow copies that were made, in their order.
    pub(crate) fn escrows(&self) -> &[EscrowRecord] {
        &self.escrows
    }
}

impl Fold for KeyEvents {
    fn sources(&self, snapshot: &Snapshot) -> Result<RowSet, Error> {
        of_kinds(snapshot, &[Kind::KeyEvent, Kind::Erasing])
    }

    fn apply(&mut self, entry: &Entry<'_>) -> Result<(), Error> {
        if let Body::Record(Record::Erasing(erasing)) = entry.body {
            for uid in &erasing.residue {
                self.due.entry(*uid).or_insert(entry.time);
            }
        }
        if let Body::Record(Record::KeyEvent(event)) = entry.body {
            self.epoch = self.epoch.max(event.epoch());
            match event {
                KeyEventRecord::Added { uids, seals, .. } => {
                    self.persons.extend(uids);
                    if *seals {
                        self.unsealed.extend(uids);
                    }
                }
                KeyEventRecord::Sealed { uids, .. } => {
                    self.unsealed.retain(|uid| !uids.contains(uid));
                }
                KeyEventRecord::Erased { uid, is_held, .. } => {
                    self.due.remove(uid);
                    self.unsealed.remove(uid);
                    if *is_held {
                        self.holds.insert(*uid);
                    } else {
                        self.persons.remove(uid);
                        self.holds.remove(uid);
                    }
                }
                KeyEventRecord::Rekeyed { uid, .. } => {
                    self.due.remove(uid);
                }
                KeyEventRecord::BlindFields { fields, .. } => self.blind_fields = *fields,
                KeyEventRecord::Escrowed(escrow) => self.escrows.push(escrow.clone()),
                KeyEventRecord::RootRotated { .. }
                | KeyEventRecord::MasterRotated { .. }
                | KeyEventRecord::RootRestored { .. } => {}
            }
        }
        Ok(())
    }
}
