//! Whether a put is a supersession that does not say so (OMS 17.2, ruling I4).

use crate::codec::Value;
use crate::grain::{Grain, Type};

use super::consent::is_withdrawal;

/// Returns whether a put of `new` would replace `parent` without superseding it; `parent` is a
/// current grain that its `derived_from` names (OMS 17.2, ruling I4).
pub(crate) fn implies_supersession(new: &Grain, parent: &Grain) -> bool {
    if says_why_derived(new) {
        return false;
    }
    let same = |field: &str| new.field(field) == parent.field(field);
    // OMS 8.10: it names the Consent that it supersedes.
    if new.link("prior_consent") == Some(parent.address()) && gives_consent(new) {
        return parent.type_() == Type::Consent;
    }
    let names_the_same = match new.type_() {
        Type::Belief => same("subject") && same("relation"),
        Type::Goal => same("description"),
        // A withdrawal has an effect of its own.
        Type::Consent => gives_consent(new) && same("subject_did") && same("grantee_did"),
        _ => false,
    };
    new.type_() == parent.type_() && same("namespace") && names_the_same
}

/// Returns whether a grain is a Consent that gives one, and withdraws none.
pub(crate) fn gives_consent(new: &Grain) -> bool {
    new.type_() == Type::Consent && !is_withdrawal(new)
}

/// Returns whether a grain states why it is derived from others, so that it replaces none of them:
/// OMS 27.1 requires `derived_from` of a result, 28.6 of a summary.
pub(crate) fn says_why_derived(new: &Grain) -> bool {
    let is_result = new.type_() == Type::Action && new.text("action_phase") == Some("result");
    let level = new.field("consolidation_level").and_then(Value::as_i64);
    is_result || level.is_some_and(|level| level >= 1)
}
