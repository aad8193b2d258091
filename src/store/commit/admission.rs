//! Admission: the decision which grains of a request enter the frame that it shares with others.
//!
//! The rules are applied here, cheap ones first; each is defined in the room of its subject.

use std::collections::HashMap;

use crate::codec::ContentAddress;
use crate::grain::{Grain, Time};
use crate::index::Snapshot;
use crate::policy::{Rule, TrustedNow};
use crate::store::Error;
use crate::store::instance::Inner;
use crate::store::records::{DenialRecord, Frame, PendingPut, Record};

/// A frame that several requests share, and the grains in it.
pub(super) struct Admission<'a> {
    store: &'a Inner,
    now: Time,
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
            now: store.entry_time(),
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
                false => self.is_new(&snapshot, &put),
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
                if let Some(denial) = denial_of(&error) {
                    self.frame
                        .record_about(&Record::Denial(denial), actor, person)?;
                }
                return Err(Error::batch(index, error));
            }
        }
        Ok(admitted)
    }

    /// Returns whether a grain is new.
    ///
    /// # Errors
    /// A refusal of a grain that may not be stored.
    fn is_new(&self, snapshot: &Snapshot, put: &PendingPut) -> Result<bool, Error> {
        let (store, grain) = (self.store, &put.grain);
        let address = grain.address();
        if store.locate(snapshot, &address)?.is_some() {
            return Ok(false);
        }
        store.refuse_erased(&address, put.again)?;
        store.authorize_grain(grain)?;
        store.refuse_naming_sealed(snapshot, grain, self.frame.grains())?;
        store.authorize_owner_claim(snapshot, grain, self.frame.grains())?;
        let pending = |address: &ContentAddress| self.grain(address);
        let parents = &put.non_superseding_parents;
        store.refuse_implicit_supersession(grain, parents, &pending)?;
        let delegated = store.authorize_delegated(snapshot, grain, self.now)?;
        delegated.map_err(|rule| Error::Refused { rule })?;
        store.authorize_by_regimes(grain)?;
        Ok(true)
    }

    /// Adds a grain and its effects, unless its consent or its dependencies forbid it.
    fn take(&mut self, snapshot: &Snapshot, put: PendingPut) -> Result<(), Error> {
        let (store, address) = (self.store, put.grain.address());
        let origin = || store.origin_of_actor(put.actor);
        let basis = store.authorize_basis(snapshot, &self.frame, &put.grain, &put.party, origin)?;
        let waits = store.starts_early(snapshot, &self.frame, &put.grain, None)?;
        if let Some(rule) = waits.then_some(Rule::Dependency).or(basis) {
            return Err(Error::Denied { address, rule });
        }
        let consequent = Inner::has_consequences(&put.grain).then(|| put.grain.clone());
        self.pending.insert(address, self.frame.len());
        self.frame.put(put);
        if let Some(grain) = consequent {
            let moment = Some(self.moment);
            store.record_consequences(snapshot, &mut self.frame, &grain, moment)?;
        }
        Ok(())
    }

    /// Adds a signature of a grain that is stored, or in the frame, with a weaker one. Returns
    /// whether there is anything to add.
    fn sign(&mut self, snapshot: &Snapshot, put: &PendingPut) -> Result<bool, Error> {
        let pending = self.grain(&put.grain.address());
        let signature = self
            .store
            .stronger_signature(snapshot, pending, &put.grain)?;
        if let Some(signature) = &signature {
            self.frame.record_by(signature, put.actor)?;
        }
        Ok(signature.is_some())
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

/// Returns the record of a put that was refused, if the ledger records such a refusal.
fn denial_of(error: &Error) -> Option<DenialRecord> {
    match error {
        Error::Denied { address, rule } => {
            Some(DenialRecord::new(Some(*address), "put", rule.name()))
        }
        error => error.denial("put"),
    }
}
