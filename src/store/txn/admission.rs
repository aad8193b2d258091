//! Admission: the decision which grains of a request enter the frame that it shares with others.

use std::collections::HashMap;

use crate::codec::ContentAddress;
use crate::grain::Grain;
use crate::policy::TrustedNow;
use crate::store::Error;
use crate::store::records::{PendingPut, Record};
use crate::store::rules::{Proposed, Way, has_consequences, stronger_signature};

use super::refusal::denial;
use super::transaction::Transaction;

/// A transaction that several requests share, and the grains in its frame.
pub(super) struct Admission<'a> {
    txn: Transaction<'a>,
    moment: TrustedNow,
    /// The entry of each grain in the frame.
    pending: HashMap<ContentAddress, usize>,
}

/// An admitted request.
#[derive(Default)]
pub(super) struct Admitted {
    /// The places of the grains that were there before: stored, or earlier in the frame.
    pub(super) known: Vec<usize>,
    /// Whether the request waits for the frame: a part of it is there.
    pub(super) waits: bool,
}

impl<'a> Admission<'a> {
    pub(super) fn new(txn: Transaction<'a>) -> Self {
        Self {
            moment: txn.moment(),
            txn,
            pending: HashMap::new(),
        }
    }

    /// Appends what was admitted.
    ///
    /// # Errors
    /// As [`Transaction::append`].
    pub(super) fn commit(&mut self) -> Result<(), Error> {
        self.txn.commit().map(drop)
    }

    /// Adds the new grains of a request. A refused request leaves only the record of the refusal in
    /// the frame.
    ///
    /// # Errors
    /// As [`Store::put`](crate::Store::put), with the place of the grain in the request.
    pub(super) fn admit(&mut self, grains: Vec<PendingPut>) -> Result<Admitted, Error> {
        let before = self.txn.frame().len();
        let mut admitted = Admitted::default();
        self.pending.reserve(grains.len());
        for (index, put) in grains.into_iter().enumerate() {
            let (address, actor) = (put.grain.address(), put.actor);
            let person = self.txn.unlocked_person_of(&put.grain);
            let is_pending = self.pending.contains_key(&address);
            let is_new = match is_pending {
                true => Ok(false),
                false => self.is_new(&address),
            };
            let taken = match is_new {
                Ok(true) => {
                    admitted.waits = true;
                    self.take(put)
                }
                // A copy is acknowledged with the frame of the first one, and not before.
                Ok(false) => self.sign(&put).map(|signed| {
                    admitted.known.push(index);
                    admitted.waits |= signed || is_pending;
                }),
                Err(error) => Err(error),
            };
            if let Err(error) = taken {
                self.truncate(before);
                if let Some(denial) = denial(&error, "put") {
                    self.txn
                        .frame_mut()
                        .record_about(&Record::Denial(denial), actor, person)?;
                }
                return Err(Error::batch(index, error));
            }
        }
        Ok(admitted)
    }

    /// Adds a new grain that passes the rules of a put, and its effects.
    fn take(&mut self, put: PendingPut) -> Result<(), Error> {
        let address = put.grain.address();
        let proposed = Proposed {
            grain: &put.grain,
            way: Way::Put,
            capability: put.capability.as_deref(),
            actor: put.actor,
            is_again: put.again,
            non_superseding: &put.non_superseding_parents,
            replaces: None,
        };
        let admitted = self.txn.admit(&|it| self.grain(it), &proposed)?;
        let consequent = has_consequences(&put.grain).then(|| put.grain.clone());
        self.pending.insert(address, self.txn.frame().len());
        let actor = put.actor;
        self.txn.frame_mut().put(&admitted, put);
        let Some(grain) = consequent else {
            return Ok(());
        };
        // Several handles may store in one frame: what follows from a grain is the act of its own.
        let before = self.txn.frame_mut().act_as(actor);
        let recorded = self.txn.record_consequences(&grain, Some(self.moment));
        self.txn.frame_mut().act_as(before);
        recorded
    }

    /// Adds a signature of a grain that is stored, or in the frame, with a weaker one. Returns
    /// whether there is anything to add.
    fn sign(&mut self, put: &PendingPut) -> Result<bool, Error> {
        let pending = self.grain(&put.grain.address());
        let signature = stronger_signature(&self.txn.view(), pending, &put.grain)?;
        if let Some(signature) = &signature {
            self.txn.frame_mut().record_by(signature, put.actor)?;
        }
        Ok(signature.is_some())
    }

    fn is_new(&self, address: &ContentAddress) -> Result<bool, Error> {
        Ok(self.txn.view().locate(address)?.is_none())
    }

    fn grain(&self, address: &ContentAddress) -> Option<&Grain> {
        let entry = self
            .txn
            .frame()
            .entries()
            .get(*self.pending.get(address)?)?;
        entry.grain()
    }

    fn truncate(&mut self, len: usize) {
        self.txn.frame_mut().truncate(len);
        self.pending.retain(|_, entry| *entry < len);
    }
}
