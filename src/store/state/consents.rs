//! The state of consents: withdrawals in effect, the consents that namespaces require, and the
//! deadline for executing a withdrawal.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::codec::ContentAddress;
use crate::grain::{Namespace, Time};
use crate::index::{RowSet, Snapshot};
use crate::ledger::{EntryId, Kind};
use crate::policy::RecordedAuthorization;
use crate::store::Error;
use crate::store::records::{PolicyRecord, Record, RequiredConsent, Uid};

use super::{Body, Entry, Fold, of_kinds};

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Consents {
    /// Withdrawals by the consent that each names, which need not be stored.
    withdrawals: HashMap<ContentAddress, Vec<Withdrawal>>,
    /// The entry of the effect of each withdrawal.
    effects: HashMap<ContentAddress, EntryId>,
    run: Option<ConsentRun>,
    required: BTreeMap<String, RequiredConsent>,
    deadline_ms: Option<i64>,
}

/// The last run that carried withdrawals out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConsentRun {
    /// The entry that records it: it is for the withdrawals before.
    pub(crate) at: EntryId,
    /// The persons at whose next unlocking it is carried out.
    pub(crate) waiting: BTreeSet<Uid>,
    pub(crate) authorization: RecordedAuthorization,
}

/// A withdrawal of a consent, in effect from the entry that records it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Withdrawal {
    /// The Consent grain that withdraws.
    pub by: ContentAddress,
    /// The time from which it is in effect here.
    pub at: Time,
}

impl Consents {
    pub(crate) const fn withdrawals(&self) -> &HashMap<ContentAddress, Vec<Withdrawal>> {
        &self.withdrawals
    }

    /// Returns the withdrawals that name a consent, oldest first.
    pub(crate) fn withdrawals_of(&self, consent: &ContentAddress) -> &[Withdrawal] {
        self.withdrawals.get(consent).map_or(&[], Vec::as_slice)
    }

    /// Returns the last run.
    pub(crate) const fn run(&self) -> Option<&ConsentRun> {
        self.run.as_ref()
    }

    /// Returns whether a withdrawal came before an entry.
    pub(crate) fn is_before(&self, withdrawal: &ContentAddress, at: EntryId) -> bool {
        self.effects.get(withdrawal).is_some_and(|row| *row < at)
    }

    pub(crate) const fn required(&self) -> &BTreeMap<String, RequiredConsent> {
        &self.required
    }

    /// Returns the requirements of the innermost namespace that has any.
    pub(crate) fn required_in(&self, namespace: &str) -> RequiredConsent {
        if self.required.is_empty() {
            return RequiredConsent::default();
        }
        let mut outer = Namespace::ancestors(namespace);
        outer
            .find_map(|outer| self.required.get(outer).copied())
            .unwrap_or_default()
    }

    /// Returns whether any namespace requires a consent for reading.
    pub(crate) fn is_any_required_to_read(&self) -> bool {
        self.required.values().any(|required| required.read)
    }

    /// Returns the deadline that the operator has set, in milliseconds from a withdrawal.
    pub(crate) const fn deadline_ms(&self) -> Option<i64> {
        self.deadline_ms
    }
}

impl Fold for Consents {
    fn sources(&self, snapshot: &Snapshot) -> Result<RowSet, Error> {
        of_kinds(snapshot, &[Kind::ConsentEffect, Kind::Policy])
    }

    fn apply(&mut self, entry: &Entry<'_>) -> Result<(), Error> {
        match entry.body {
            Body::Record(Record::ConsentEffect(effect)) => {
                let known = self.withdrawals.entry(effect.consent).or_default();
                known.push(Withdrawal {
                    by: effect.withdrawal,
                    at: entry.time,
                });
                self.effects.entry(effect.withdrawal).or_insert(entry.row);
            }
            Body::Record(Record::Policy(PolicyRecord::ConsentRun {
                waiting,
                authorization,
            })) => {
                self.run = Some(ConsentRun {
                    at: entry.row,
                    waiting: waiting.iter().copied().collect(),
                    authorization: authorization.clone(),
                });
            }
            Body::Record(Record::Policy(PolicyRecord::ConsentRan { persons })) => {
                if let Some(run) = &mut self.run {
                    persons.iter().for_each(|uid| {
                        run.waiting.remove(uid);
                    });
                }
            }
            Body::Record(Record::Policy(PolicyRecord::ConsentRequired {
                namespace,
                required,
                ..
            })) => {
                self.required.insert(namespace.clone(), *required);
            }
            Body::Record(Record::Policy(PolicyRecord::ConsentDeadline { ms, .. })) => {
                self.deadline_ms = Some(*ms);
            }
            Body::Grain(_) | Body::Record(_) | Body::Damaged | Body::Locked => {}
        }
        Ok(())
    }
}
