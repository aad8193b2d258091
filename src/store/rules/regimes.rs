//! The demands of the regimes in force on a new grain, a change, and a deletion (OMS 27).

use crate::grain::Grain;
use crate::policy::Violation;
use crate::store::Error;
use crate::store::view::Core;

/// Refuses a new grain that a regime forbids to store.
///
/// # Errors
/// `ERR_POLICY_DENIED`.
pub(crate) fn authorize_by_regimes(core: &Core, grain: &Grain) -> Result<(), Error> {
    let sealing = {
        let state = core.known_state();
        let regimes = state.regimes().all();
        if let Some(broken) = regimes.refuses(grain) {
            return Err(Error::Violation(Violation::of(broken)));
        }
        regimes.seals(grain).map(Violation::of)
    };
    match sealing {
        Some(violation) if core.person_of(grain)?.is_none() => Err(Error::Violation(violation)),
        _ => Ok(()),
    }
}

/// Refuses a change without a reason where a regime asks for one. Returns whether a person
/// reviews the change afterwards.
///
/// # Errors
/// `ERR_POLICY_DENIED`.
pub(crate) fn required_reason(
    core: &Core,
    target: &Grain,
    reasons: &[Option<&str>],
) -> Result<bool, Error> {
    let mut reasons = reasons.iter().flatten();
    let has_reason = reasons.any(|text| !text.trim().is_empty());
    let state = core.known_state();
    let regimes = state.regimes().all();
    match regimes.asks_why(target).filter(|_| !has_reason) {
        Some(broken) => Err(Error::Violation(Violation::of(broken))),
        None => Ok(regimes.reviews(target)),
    }
}

/// Returns the clause that keeps a grain in the store.
pub(crate) fn kept_by(core: &Core, grain: &Grain) -> Option<Violation> {
    let state = core.known_state();
    state.regimes().all().keeps(grain).map(Violation::of)
}
