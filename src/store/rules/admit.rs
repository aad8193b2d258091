//! Admission: a proposed grain is asked every rule of the table that holds for its way in.

use crate::codec::ContentAddress;
use crate::grain::Grain;
use crate::ledger::EntryId;
use crate::policy::{Capability, Party, Rule};
use crate::store::Error;
use crate::store::records::Frame;
#[cfg(feature = "interchange")]
use crate::store::view::names;
use crate::store::view::{Origin, Version, View};

use super::consent::{authorize_basis, authorize_consent};
use super::goals::starts_early;
use super::implicit::refuse_implicit_supersession;
use super::links::refuse_links_out_of_sight;
use super::regimes::authorize_by_regimes;
use super::stored::{refuse_erased, refuse_view};
use super::table::{Check, Effect, TABLE, Way};
use super::trust::authorize_signer;

/// A proposed grain, its writer and its way in.
pub(crate) struct Proposed<'a> {
    pub(crate) grain: &'a Grain,
    pub(crate) way: Way,
    /// `None` for the owner.
    pub(crate) capability: Option<&'a Capability>,
    /// The entry that names the actor.
    pub(crate) actor: Option<EntryId>,
    /// Whether it may come back after it was deleted.
    pub(crate) is_again: bool,
    /// Parents that were found before not to be superseded implicitly.
    pub(crate) non_superseding: &'a [ContentAddress],
    /// The grain that it supersedes, which policy protects.
    pub(crate) replaces: Option<(EntryId, &'a Version)>,
}

impl Proposed<'_> {
    fn replaces(&self, address: &ContentAddress) -> bool {
        self.replaces
            .is_some_and(|(_, target)| target.grain.address() == *address)
    }

    const fn is_file_of_owner(&self) -> bool {
        #[cfg(feature = "interchange")]
        return matches!(self.way, Way::OwnersFile);
        #[cfg(not(feature = "interchange"))]
        return false;
    }
}

/// The proof that a grain passed the rules of its way in: only [`admit`] makes one, and a frame
/// that is appended takes no grain without it.
#[derive(Debug)]
#[must_use]
pub(crate) struct Admitted {
    address: ContentAddress,
    /// The rules that it violates without being refused.
    #[cfg_attr(
        not(feature = "interchange"),
        expect(dead_code, reason = "only a file is stored in spite of one")
    )]
    pub(crate) notes: Vec<Error>,
}

impl Admitted {
    /// Returns the admission of the grain that an import makes of the admitted one: derived from
    /// the grain that it replaces. The rules were asked with that one.
    ///
    /// # Panics
    /// If the grain does not name the one that it replaces.
    #[cfg(feature = "interchange")]
    pub(crate) fn derived(self, grain: &Grain, replaced: &ContentAddress) -> Self {
        assert!(names(grain, replaced), "it is derived from another grain");
        Self {
            address: grain.address(),
            ..self
        }
    }

    /// Checks that it is the proof of a grain.
    ///
    /// # Panics
    /// If it is that of another one: a door would store what no rule was asked about.
    pub(crate) fn assert_of(&self, grain: &Grain) {
        let is_own = self.address == grain.address();
        assert!(is_own, "a grain is stored by the admission of another");
    }
}

/// Asks a proposed grain the rules of its way in.
///
/// `frame` is what will be stored with it, and `pending` finds a grain there.
///
/// # Errors
/// The refusal of the first rule that refuses it; storage errors.
pub(crate) fn admit<'f>(
    view: &View<'_>,
    frame: &'f Frame,
    pending: &dyn Fn(&ContentAddress) -> Option<&'f Grain>,
    proposed: &Proposed<'_>,
) -> Result<Admitted, Error> {
    let mut notes = Vec::new();
    for row in TABLE {
        let effect = row.effect(proposed.way);
        if effect == Effect::Skip {
            continue;
        }
        let judged = check(view, row.check, frame, pending, proposed);
        match judged {
            Ok(()) => {}
            Err(error @ (Error::ImplicitSupersession { .. } | Error::Denied { .. }))
                if effect == Effect::Note =>
            {
                notes.push(error);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(Admitted {
        address: proposed.grain.address(),
        notes,
    })
}

fn check<'f>(
    view: &View<'_>,
    check: Check,
    frame: &'f Frame,
    pending: &dyn Fn(&ContentAddress) -> Option<&'f Grain>,
    proposed: &Proposed<'_>,
) -> Result<(), Error> {
    let grain = proposed.grain;
    let party = || Party::of(proposed.capability);
    let denied = |rule: Option<Rule>| match rule {
        None => Ok(()),
        Some(rule) => Err(Error::Denied {
            address: grain.address(),
            rule,
        }),
    };
    match check {
        Check::Handle => {
            let capability = proposed.capability;
            let judged = capability.map_or(Ok(()), |it| it.authorize_put(grain));
            judged.map_err(|rule| Error::Refused { rule })
        }
        Check::Links => refuse_links_out_of_sight(view, grain, pending, proposed.capability),
        Check::Erased => refuse_erased(view, &grain.address(), proposed.is_again),
        Check::LockedPerson => view.person_of(grain).map(|_| ()),
        Check::View => refuse_view(grain),
        Check::OwnershipForm => view.refuse_false_owner(grain),
        Check::Signer => authorize_signer(view, grain),
        Check::NamesSealed => view.refuse_naming_sealed(grain, frame.grains()),
        Check::OwnershipClaim => {
            // A later claim of the owner's file may replace an earlier one: policy decides.
            let is_file = proposed.is_file_of_owner();
            let others = frame.grains().filter(|_| !is_file);
            view.authorize_owner_claim(grain, others, &|claim| proposed.replaces(claim))
        }
        Check::ImplicitSupersession => {
            let skipped = |address: &ContentAddress| {
                proposed.non_superseding.contains(address) || proposed.replaces(address)
            };
            let is_declared = proposed.replaces.is_none();
            refuse_implicit_supersession(view, grain, is_declared, &skipped, pending)
        }
        Check::Delegation => {
            let writer = proposed.capability.and_then(Capability::acts_as);
            let delegated = view.authorize_delegated(grain, writer)?;
            delegated.map_err(|rule| Error::Refused { rule })
        }
        Check::Regimes => authorize_by_regimes(view, grain),
        Check::Dependencies => {
            let waits = starts_early(view, frame, grain, proposed.replaces)?;
            denied(waits.then_some(Rule::Dependency))
        }
        Check::ConsentWriter => {
            let origin = || match proposed.is_file_of_owner() {
                true => Ok(Origin::File),
                false => view.origin_of_actor(proposed.actor),
            };
            denied(authorize_consent(view, frame, grain, party, origin)?)
        }
        Check::ConsentBasis => denied(authorize_basis(view, frame, grain, party)?),
    }
}
