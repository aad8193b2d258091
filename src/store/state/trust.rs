//! The trust rules that the operator has set.

use crate::index::{RowSet, Snapshot};
use crate::ledger::Kind;
use crate::policy::Trusts;
use crate::store::Error;
use crate::store::records::{Record, TrustRecord};

use super::{Body, Entry, Fold, of_kinds};

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct TrustRules(Trusts);

impl TrustRules {
    pub(crate) const fn all(&self) -> &Trusts {
        &self.0
    }
}

impl Fold for TrustRules {
    fn sources(&self, snapshot: &Snapshot) -> Result<RowSet, Error> {
        of_kinds(snapshot, &[Kind::Trust])
    }

    fn apply(&mut self, entry: &Entry<'_>) -> Result<(), Error> {
        match entry.body {
            Body::Record(Record::Trust(TrustRecord::Added { rule, .. })) => {
                self.0.add(rule.clone());
            }
            Body::Record(Record::Trust(TrustRecord::Removed { signer, .. })) => {
                self.0.remove(signer);
            }
            // An entry that is not understood adds no trust: trusting less than intended is safe,
            // guessing is not.
            Body::Record(Record::Unknown(Kind::Trust, _)) => {
                let row = entry.row.get();
                tracing::warn!(row, "a trust entry is not understood and trusts nobody");
            }
            Body::Grain(_) | Body::Record(_) => {}
        }
        Ok(())
    }
}
