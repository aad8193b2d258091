//! A consent that a namespace demands (OMS 8.10, ruling P10): whether it is in force, for the person
//! that a grain is about, and given to the party that stores or reads it.

use std::collections::HashMap;
use std::sync::Arc;

use crate::codec::ContentAddress;
use crate::crypto::{Did, kid};
use crate::grain::{Grain, Time, Type, Verification};
use crate::index::{Family, RowSet};
use crate::ledger::EntryId;
use crate::policy::{self, Consented, Party, Rule};
use crate::store::Error;
use crate::store::records::Frame;
use crate::store::state::Resting;
use crate::store::view::{Origin, View};

/// The demand that a consent must meet.
pub(crate) struct Demand<'a> {
    operation: Consented,
    party: &'a Party,
    /// The person that the grain is about.
    person: Option<&'a str>,
    now: Time,
}

impl<'a> Demand<'a> {
    pub(crate) fn storing(grain: &'a Grain, party: &'a Party, now: Time) -> Self {
        Self {
            operation: Consented::Store,
            party,
            person: policy::person_of(grain),
            now,
        }
    }

    /// Returns whether a consent is in force, of the person, and given to the party.
    ///
    /// An agent names the person whose consent it relies on; for a grain without one, the owner, or
    /// the store that read it in, answers.
    fn is_met_by(&self, consent: &Grain) -> bool {
        let subject = consent.text("subject_did").map(Did::bare);
        let may_be_unnamed = self.operation == Consented::Retrieve || *self.party == Party::Owner;
        policy::holds(consent, self.operation, self.now)
            && self.party.is_grantee_of(consent)
            && match self.person {
                Some(person) => subject == Some(person),
                None => may_be_unnamed,
            }
    }
}

impl View<'_> {
    /// Returns whether the newest consent of a lineage meets a demand. It was signed by its subject,
    /// put by the owner, or came in a file and was verified by the owner: an agent must not write the
    /// consent that it relies on, neither here nor in a file that it hands to the owner.
    pub(crate) fn is_met(
        &self,
        frame: &Frame,
        consent: &ContentAddress,
        demand: &Demand<'_>,
    ) -> Result<bool, Error> {
        if let (Some(pending), Some((actor, is_from_file))) =
            (frame.find(consent), frame.writer_of(consent))
        {
            let is_owners = actor.is_none() && !is_from_file;
            let counts = is_owners || is_signed_by_subject(pending);
            return Ok(counts && demand.is_met_by(pending));
        }
        self.newest_counts(consent, &|grain| demand.is_met_by(grain))
    }

    /// Returns whether the newest consent of a lineage is current and as asked, and who stored or
    /// signed it may say so.
    fn newest_counts(
        &self,
        consent: &ContentAddress,
        is_asked: &dyn Fn(&Grain) -> bool,
    ) -> Result<bool, Error> {
        let newest = self.renewals(consent)?.pop().unwrap_or(*consent);
        let Some(row) = self.locate(&newest)? else {
            return Ok(false);
        };
        let version = self.version_at(row)?;
        if !version.status.is_current() || !is_asked(&version.grain) {
            return Ok(false);
        }
        Ok(is_signed_by_subject(&version.grain)
            || match self.origin(row, &newest)? {
                Origin::Owner => true,
                Origin::File => version.status.verification == Verification::Verified,
                Origin::Handle(_) => false,
            })
    }

    /// Returns the rows that no query of a party shows: grains that rest on withdrawn consents, and
    /// grains without a consent in namespaces that require one for reading.
    ///
    /// `withdrawn` are the rows that rest on withdrawn consents now, also for a question about an
    /// earlier time.
    pub(crate) fn unconsented(
        &self,
        party: &Party,
        withdrawn: Arc<RowSet>,
    ) -> Result<Arc<RowSet>, Error> {
        let demands: Vec<String> = {
            let state = self.known_state();
            let demands = state.consents().required().iter();
            let demands = demands.filter(|(_, required)| required.read);
            demands.map(|(namespace, _)| namespace.clone()).collect()
        };
        if demands.is_empty() {
            return Ok(withdrawn);
        }
        let mut rows = RowSet::clone(&withdrawn);
        let (now, frame) = (self.now(), Frame::default());
        let mut met = HashMap::new();
        for namespace in demands {
            let within = self
                .snapshot()
                .with_text(Family::Namespace, &namespace)
                .rows()?;
            for row in within.iter().filter(|row| !withdrawn.contains(*row)) {
                let resting = self.resting(row)?;
                // An engine namespace may require less.
                let state = self.known_state();
                let is_free =
                    resting.is_consent || !state.consents().required_in(&resting.namespace).read;
                drop(state);
                if is_free {
                    continue;
                }
                let demand = Demand {
                    operation: Consented::Retrieve,
                    party,
                    person: resting.person.as_deref(),
                    now,
                };
                let is_met = match resting.basis {
                    None => false,
                    Some(basis) => match met.get(&(basis, resting.person.clone())) {
                        Some(known) => *known,
                        None => {
                            let is_met = self.is_met(&frame, &basis, &demand)?;
                            met.insert((basis, resting.person.clone()), is_met);
                            is_met
                        }
                    },
                };
                if !is_met {
                    rows.insert(row);
                }
            }
        }
        Ok(Arc::new(rows))
    }

    /// Returns what the grain of a row rests on, and whom it is about. Grains do not change, so each
    /// is read once.
    fn resting(&self, row: EntryId) -> Result<Arc<Resting>, Error> {
        self.caches().resting.get_or(row, || {
            let grain = self.version_at(row)?.grain;
            Ok(Resting {
                is_consent: grain.type_() == Type::Consent,
                namespace: grain.text("namespace").unwrap_or_default().to_owned(),
                basis: grain.link("processing_basis"),
                person: policy::person_of(&grain).map(str::to_owned),
            })
        })
    }

    pub(crate) fn is_documented(
        &self,
        grain: &Grain,
        consent: &ContentAddress,
    ) -> Result<bool, Error> {
        if self.withdrawal_of(&Frame::default(), consent)?.is_some() {
            return Ok(false);
        }
        let now = self.now();
        self.newest_counts(consent, &|consent| policy::documents(consent, grain, now))
    }

    /// Refuses to let a party read a grain that rests on a withdrawn consent, or without the consent
    /// that its namespace requires.
    pub(crate) fn authorize_read(&self, grain: &Grain, party: &Party) -> Result<(), Error> {
        let namespace = grain.text("namespace").unwrap_or_default();
        let is_required = self.known_state().consents().required_in(namespace).read;
        // The owner reads by address what a hold or a retention keeps after the withdrawal.
        if !is_required && *party == Party::Owner {
            return Ok(());
        }
        let frame = Frame::default();
        let demand = Demand {
            operation: Consented::Retrieve,
            party,
            person: policy::person_of(grain),
            now: self.now(),
        };
        let allowed = match grain.link("processing_basis") {
            Some(basis) => {
                self.withdrawal_of(&frame, &basis)?.is_none()
                    && (!is_required || self.is_met(&frame, &basis, &demand)?)
            }
            None => !is_required,
        };
        if allowed {
            return Ok(());
        }
        Err(Error::Denied {
            address: grain.address(),
            rule: Rule::Consent,
        })
    }
}

/// Returns whether a Consent may come from a party.
///
/// A consent of an agent counts for no demand, and the ledger tells it from the owner's by its
/// actor: a handle without an actor must not write one that would pass for the owner's.
pub(crate) fn counts_for_party(consent: &Grain, party: &Party) -> bool {
    policy::is_withdrawal(consent) || *party != Party::Unnamed || is_signed_by_subject(consent)
}

fn is_signed_by_subject(consent: &Grain) -> bool {
    let signer = consent.envelope().and_then(|_| kid(consent).ok());
    let subject = consent.text("subject_did").map(Did::bare);
    signer.is_some_and(|signer| Some(signer.as_str()) == subject)
}
