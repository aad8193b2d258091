//! Whether the store has any delegation, and any grain that protects others: without them, the
//! rules about them cost nothing.

use crate::grain::{Grain, Type};
use crate::index::{Pattern, RowSet, Scan, Snapshot};
use crate::policy::Delegation;
use crate::store::Error;

use super::{Entry, Fold};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Presence {
    delegations: bool,
    protections: bool,
}

impl Presence {
    /// Returns whether there is any delegation, so that puts must check those of their authors.
    pub(crate) const fn delegations(self) -> bool {
        self.delegations
    }

    /// Returns whether any grain may protect another than itself: as long as none does, neither
    /// lineages nor ancestors are walked.
    pub(crate) const fn protections(self) -> bool {
        self.protections
    }
}

impl Fold for Presence {
    fn sources(&self, snapshot: &Snapshot) -> Result<RowSet, Error> {
        let delegations = Pattern {
            relation: Some(Delegation::RELATION),
            ..Pattern::default()
        };
        let first = |scan: Scan<'_>| -> Result<_, Error> { Ok(scan.rows()?.iter().next()) };
        let rows = [
            first(snapshot.triples(&delegations))?,
            first(snapshot.protected())?,
            first(snapshot.of_type(Type::Consent))?,
        ];
        Ok(rows.into_iter().flatten().collect())
    }

    fn apply(&mut self, entry: &Entry<'_>) -> Result<(), Error> {
        if let Some(grain) = entry.grain() {
            self.delegations |= grain.text("relation") == Some(Delegation::RELATION);
            self.protections |= protects(grain);
        }
        Ok(())
    }
}

/// Returns whether a grain may protect others.
pub(in crate::store::state) fn protects(grain: &Grain) -> bool {
    // OMS 8.10: a consent is soft-locked without a policy of its own.
    grain.type_() == Type::Consent || grain.field("invalidation_policy").is_some()
}
