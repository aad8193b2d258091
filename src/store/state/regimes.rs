//! The regimes in force: the last entry that sets them counts.

use crate::index::{RowSet, Snapshot};
use crate::ledger::Kind;
use crate::policy::{Regime, Regimes};
use crate::store::Error;
use crate::store::records::{PolicyRecord, Record};

use super::{Body, Entry, Fold, of_kinds};

#[derive(Debug, Default, PartialEq)]
pub(crate) struct RegimesInForce {
    regimes: Regimes,
    /// Whether a clause requires reads to be recorded.
    records_reads: bool,
}

impl RegimesInForce {
    pub(crate) const fn all(&self) -> &Regimes {
        &self.regimes
    }

    /// Returns whether any clause requires reads to be recorded.
    pub(crate) const fn records_reads(&self) -> bool {
        self.records_reads
    }
}

impl Fold for RegimesInForce {
    fn sources(&self, snapshot: &Snapshot) -> Result<RowSet, Error> {
        of_kinds(snapshot, &[Kind::Policy])
    }

    /// # Errors
    /// `ERR_POLICY` for a document that this version cannot read: ignoring it would lift it.
    fn apply(&mut self, entry: &Entry<'_>) -> Result<(), Error> {
        if let Body::Record(Record::Policy(PolicyRecord::Regimes { documents, .. })) = entry.body {
            let regimes = documents.iter().map(|text| Regime::parse(text));
            self.regimes = Regimes::new(regimes.collect::<Result<_, _>>()?);
            self.records_reads = self.regimes.record_reads();
        }
        Ok(())
    }
}
