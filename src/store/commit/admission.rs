//! Admission: the decision which grains of a request enter the frame that it shares with others.

use std::collections::HashMap;

use super::signature::stronger_signature;
use crate::codec::ContentAddress;
use crate::grain::Grain;
use crate::index::Snapshot;
use crate::policy::TrustedNow;
use crate::store::Error;
use crate::store::instance::Inner;
use crate::store::records::{Frame, PendingPut, Record};
use crate::store::rules::{Proposed, Way, admit, has_consequences, record_consequences};

/// A frame that several requests share, and the grains in it.
pub(super) struct Admission<'a> {
    store: &'a Inner,
    moment: TrustedNow,
    frame: Frame,
    /// The entry of each grain in the frame.
    pending: HashMap<ContentAddress, usize>,
}

/// The completion that an admitted request waits for.
pub(super) enum Admitted {
    /// The frame, which holds a part of the request.
    Waits,
    /// None: all of its grains were stored before.
    IsStored,
}

impl<'a> Admission<'a> {
    pub(super) fn new(store: &'a Inner) -> Self {
        Self {
            store,
            moment: store.moment(),
            frame: Frame::default(),
            pending: HashMap::new(),
        }
    }

    pub(super) fn into_frame(self) -> Frame {
        self.frame
    }

    /// Adds the new grains of a request. A refused request leaves only the record of the refusal in
    /// the frame.
    ///
    /// # Errors
    /// As [`Store::put`](crate::Store::put), with the place of the grain in the request.
    pub(super) fn admit(&mut self, grains: Vec<PendingPut>) -> Result<Admitted, Error> {
        let before = self.frame.len();
        let snapshot = self.store.snapshot();
        let mut admitted = Admitted::IsStored;
        self.pending.reserve(grains.len());
        for (index, put) in grains.into_iter().enumerate() {
            let (address, actor) = (put.grain.address(), put.actor);
            let person = self.store.unlocked_person_of(&put.grain);
            let is_pending = self.pending.contains_key(&address);
            let is_new = match is_pending {
                true => Ok(false),
                false => self.is_new(&snapshot, &address),
            };
            // Acknowledged with the frame of the first copy, and not before.
            if is_pending {
                admitted = Admitted::Waits;
            }
            let taken = match is_new {
                Ok(true) => {
                    admitted = Admitted::Waits;
                    self.take(&snapshot, put)
                }
                Ok(false) => self.sign(&snapshot, &put).map(|signed| {
                    if signed {
                        admitted = Admitted::Waits;
                    }
                }),
                Err(error) => Err(error),
            };
            if let Err(error) = taken {
                self.truncate(before);
                if let Some(denial) = error.denial("put") {
                    self.frame
                        .record_about(&Record::Denial(denial), actor, person)?;
                }
                return Err(Error::batch(index, error));
            }
        }
        Ok(admitted)
    }

    /// Adds a new grain that passes the rules of a put, and its effects.
    fn take(&mut self, snapshot: &Snapshot, put: PendingPut) -> Result<(), Error> {
        let (store, address) = (self.store, put.grain.address());
        let proposed = Proposed {
            grain: &put.grain,
            way: Way::Put,
            capability: put.capability.as_deref(),
            actor: put.actor,
            is_again: put.again,
            non_superseding: &put.non_superseding_parents,
            replaces: None,
        };
        admit(
            &store.as_of(snapshot),
            &self.frame,
            &|it| self.grain(it),
            &proposed,
        )?;
        let consequent = has_consequences(&put.grain).then(|| put.grain.clone());
        self.pending.insert(address, self.frame.len());
        let actor = put.actor;
        self.frame.put(put);
        let Some(grain) = consequent else {
            return Ok(());
        };
        // Several handles may store in one frame: what follows from a grain is the act of its own.
        let before = self.frame.act_as(actor);
        let moment = Some(self.moment);
        let recorded = record_consequences(&store.as_of(snapshot), &mut self.frame, &grain, moment);
        self.frame.act_as(before);
        recorded
    }

    /// Adds a signature of a grain that is stored, or in the frame, with a weaker one. Returns
    /// whether there is anything to add.
    fn sign(&mut self, snapshot: &Snapshot, put: &PendingPut) -> Result<bool, Error> {
        let pending = self.grain(&put.grain.address());
        let signature = stronger_signature(&self.store.as_of(snapshot), pending, &put.grain)?;
        if let Some(signature) = &signature {
            self.frame.record_by(signature, put.actor)?;
        }
        Ok(signature.is_some())
    }

    fn is_new(&self, snapshot: &Snapshot, address: &ContentAddress) -> Result<bool, Error> {
        Ok(self.store.as_of(snapshot).locate(address)?.is_none())
    }

    fn grain(&self, address: &ContentAddress) -> Option<&Grain> {
        let entry = self.frame.entries().get(*self.pending.get(address)?)?;
        entry.grain()
    }

    fn truncate(&mut self, len: usize) {
        self.frame.truncate(len);
        self.pending.retain(|_, entry| *entry < len);
    }
}
