//! The trust rules that the operator has set, and the signatures that they let replace others.

use std::collections::HashMap;

use crate::codec::ContentAddress;
use crate::index::{RowSet, Snapshot};
use crate::ledger::{EntryId, Kind};
use crate::policy::Trusts;
use crate::store::Error;
use crate::store::records::{Record, TrustRecord};

use super::{Body, Entry, Fold, of_kinds};

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct TrustRules {
    rules: Trusts,
    /// Signatures that are shown in place of the first ones, by the entry of each.
    signed: HashMap<ContentAddress, EntryId>,
}

impl TrustRules {
    pub(crate) const fn all(&self) -> &Trusts {
        &self.rules
    }

    /// Returns the entry with the signature that is shown for a grain in place of its first one.
    pub(crate) fn signed_in(&self, of: &ContentAddress) -> Option<EntryId> {
        self.signed.get(of).copied()
    }

    /// Returns the grains with such a signature.
    pub(crate) fn signed(&self) -> impl Iterator<Item = &ContentAddress> {
        self.signed.keys()
    }
}

impl Fold for TrustRules {
    fn sources(&self, snapshot: &Snapshot) -> Result<RowSet, Error> {
        of_kinds(snapshot, &[Kind::Trust])
    }

    fn apply(&mut self, entry: &Entry<'_>) -> Result<(), Error> {
        match entry.body {
            Body::Record(Record::Trust(TrustRecord::Added { rule, .. })) => {
                self.rules.add(rule.clone());
            }
            Body::Record(Record::Trust(TrustRecord::Removed { signer, .. })) => {
                self.rules.remove(signer);
            }
            Body::Record(Record::Trust(TrustRecord::Signed { of, .. })) => {
                self.signed.insert(*of, entry.row);
            }
            // An entry that is not understood adds no trust: trusting less than intended is safe,
            // guessing is not.
            Body::Record(Record::Unknown(Kind::Trust, _)) => {
                let row = entry.row.get();
                tracing::warn!(row, "a trust entry is not understood and trusts nobody");
            }
            Body::Grain(_) | Body::Record(_) | Body::Damaged | Body::Locked => {}
        }
        Ok(())
    }
}
