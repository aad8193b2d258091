//! Implicit supersession: a put of a grain that would replace another without `supersede` (ruling
//! I4).

use std::borrow::Cow;

use crate::codec::ContentAddress;
use crate::grain::Grain;
use crate::policy::{self, is_withdrawal};
use crate::store::Error;
use crate::store::state::claim_of;
use crate::store::view::{View, declares_supersession, replaceable};

/// Returns the stored parents of a grain that it does not supersede implicitly.
///
/// Called before the grain enters the queue, since reading parents is most of the work. The
/// result cannot change: blobs never do.
pub(crate) fn non_superseding_parents(
    view: &View<'_>,
    grain: &Grain,
) -> Result<Vec<ContentAddress>, Error> {
    let mut non_superseding = Vec::new();
    let has_parents = grain.field("derived_from").is_some();
    if !has_parents || declares_supersession(grain) || policy::gives_consent(grain) {
        return Ok(non_superseding);
    }
    let claim = claim_of(grain).filter(|_| !policy::says_why_derived(grain));
    for address in grain.derived_from() {
        if claim.is_none_or(|claim| view.caches().lineages.is_about_else(&address, claim)) {
            non_superseding.push(address);
            continue;
        }
        let Some(row) = view.locate(&address)? else {
            continue;
        };
        if !policy::implies_supersession(grain, &view.grain_at(row, &address)?) {
            non_superseding.push(address);
        }
    }
    Ok(non_superseding)
}

/// Refuses a grain that would replace a current parent on the way (OMS 17.2).
///
/// `is_declared` is false for a grain that supersedes another by name: what it declares is about
/// that one. `skipped` are parents that it does not replace, or may; `pending` finds grains of
/// the same frame.
///
/// # Errors
/// `ERR_INVALIDATION_DENIED`; storage errors.
pub(crate) fn refuse_implicit_supersession<'a>(
    view: &View<'_>,
    grain: &Grain,
    is_declared: bool,
    skipped: &dyn Fn(&ContentAddress) -> bool,
    pending: &dyn Fn(&ContentAddress) -> Option<&'a Grain>,
) -> Result<(), Error> {
    // Ruling I7: a withdrawal takes effect by itself.
    let is_parent =
        |it: &ContentAddress| !is_withdrawal(grain) || grain.link("prior_consent") != Some(*it);
    let mut parents = replaceable(grain)
        .filter(is_parent)
        .filter(|address| !skipped(address))
        .peekable();
    if parents.peek().is_none() {
        return Ok(());
    }
    let snapshot = view.snapshot();
    for address in parents {
        let parent = match (pending(&address), view.locate(&address)?) {
            (Some(parent), _) => Cow::Borrowed(parent),
            (None, Some(row)) if snapshot.is_current(row) => {
                Cow::Owned(view.grain_at(row, &address)?)
            }
            _ => continue,
        };
        let declares = is_declared && declares_supersession(grain);
        if declares || policy::implies_supersession(grain, &parent) {
            return Err(Error::ImplicitSupersession { address });
        }
    }
    Ok(())
}
