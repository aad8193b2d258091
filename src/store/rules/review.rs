//! Grains that wait for the review of a person (OMS 6.1).

use crate::codec::Value;
use crate::grain::Grain;
use crate::policy::{Capability, Rule};
use crate::store::Error;
use crate::store::view::View;

/// OMS 6.1: binding for Reasoning grains, advisory for others. It is enforced for all types, since
/// the writer set it on purpose.
pub(crate) fn requires_review(grain: &Grain) -> bool {
    grain
        .field("requires_human_review")
        .and_then(Value::as_bool)
        == Some(true)
}

/// Refuses to a program the end of a grain that waits for a person, unless the new version waits on: it
/// would clear the review that only a person clears.
///
/// # Errors
/// `ERR_REVIEW_REQUIRED`.
pub(crate) fn authorize_unreviewed(
    view: &View<'_>,
    capability: Option<&Capability>,
    target: &Grain,
    new: &Grain,
) -> Result<(), Error> {
    let is_program = capability.is_some_and(|capability| !capability.reviews());
    if !is_program || !requires_review(target) || requires_review(new) {
        return Ok(());
    }
    let address = target.address();
    match view
        .known_state()
        .reviews()
        .unreviewed()
        .any(|it| *it == address)
    {
        true => Err(Error::Refused {
            rule: Rule::Unreviewed,
        }),
        false => Ok(()),
    }
}
