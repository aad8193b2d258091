use std::borrow::Cow;

use crate::codec::ContentAddress;
use crate::grain::Grain;
use crate::index::Snapshot;
use crate::policy;

use crate::store::Error;
use crate::store::instance::open::Inner;
use crate::store::state::lineage_cache::claim_of;

impl Inner {
    /// Returns the parents of a grain that it cannot be said to replace, as far as they are here.
    ///
    /// Asked before the grain waits for its turn to be written, since reading parents is most of
    /// the work; what two blobs say of each other never changes.
    pub(crate) fn harmless_parents(
        &self,
        snapshot: &Snapshot,
        grain: &Grain,
    ) -> Result<Vec<ContentAddress>, Error> {
        let mut harmless = Vec::new();
        if declares_supersession(grain) {
            return Ok(harmless);
        }
        let claim = claim_of(grain).filter(|_| !policy::says_why_derived(grain));
        for address in grain.derived_from() {
            if claim.is_none_or(|claim| self.ancestry.is_about_else(&address, claim)) {
                harmless.push(address);
                continue;
            }
            let Some(row) = self.locate(snapshot, &address)? else {
                continue;
            };
            if !policy::implies_supersession(grain, &self.grain_at(row, &address)?) {
                harmless.push(address);
            }
        }
        Ok(harmless)
    }

    /// OMS 17.2: put must not do what supersede must be asked for.
    ///
    /// `harmless` are parents that were judged before; `pending` finds grains of the same frame.
    pub(crate) fn refuse_implied_supersession<'a>(
        &self,
        grain: &Grain,
        harmless: &[ContentAddress],
        pending: &dyn Fn(&ContentAddress) -> Option<&'a Grain>,
    ) -> Result<(), Error> {
        let parents = grain.derived_from();
        let mut parents = parents
            .filter(|address| !harmless.contains(address))
            .peekable();
        if parents.peek().is_none() {
            return Ok(());
        }
        let snapshot = self.index.snapshot();
        for address in parents {
            let parent = match (pending(&address), self.locate(&snapshot, &address)?) {
                (Some(parent), _) => Cow::Borrowed(parent),
                (None, Some(row)) if snapshot.is_current(row) => {
                    Cow::Owned(self.grain_at(row, &address)?)
                }
                _ => continue,
            };
            if declares_supersession(grain) || policy::implies_supersession(grain, &parent) {
                return Err(Error::ImpliedSupersession { address });
            }
        }
        Ok(())
    }
}

/// Ruling I4: these fields are for grains that supersede.
pub(crate) fn declares_supersession(grain: &Grain) -> bool {
    let declared = [
        "supersession_justification",
        "supersession_auth",
        "invalidation_type",
    ];
    declared.iter().any(|name| grain.field(name).is_some())
}
