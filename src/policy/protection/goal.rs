//! The rules of protected goals: transitions, evidence and dependencies (OMS 8.7, 23.4, 23.5).

use crate::codec::{ContentAddress, Map, Value};
use crate::grain::{Grain, Type};

use super::{Mode, Protection, Scope};
use crate::policy::Rule;

/// The judgement of a protected goal about a grain that would replace it (OMS 23.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::policy) enum Transition {
    /// Not an allowed transition: the policy decides.
    NotListed,
    /// A transition that an agent may make alone.
    Allowed,
    /// An allowed transition without its requirements.
    Denied(Rule),
}

/// Judges whether `successor` is a transition that the protected goal allows.
pub(in crate::policy) fn transition(protection: &Protection, successor: &Grain) -> Transition {
    let Some(goal) = &protection.goal else {
        return Transition::NotListed;
    };
    let state = successor.text("goal_state");
    let listed = |state: &str| goal.allowed.iter().any(|allowed| allowed == state);
    if successor.type_() != Type::Goal || !state.is_some_and(listed) {
        return Transition::NotListed;
    }
    // OMS 23.5, ruling I15: a transition that an agent makes alone must not remove the protection.
    let policy = successor
        .field("invalidation_policy")
        .and_then(Value::as_map);
    if !is_as_strict(protection, policy, successor) {
        return Transition::Denied(Rule::Laundering);
    }
    let evidence = successor.field("satisfaction_evidence").into_iter();
    if (evidence.flat_map(Value::texts).count() as u64) < goal.evidence_required {
        return Transition::Denied(Rule::Evidence);
    }
    Transition::Allowed
}

/// Returns whether a goal would be active before all it depends on is satisfied (OMS 8.7, ruling
/// I14); `is_satisfied` answers for one goal, with false for an unknown one.
///
/// # Errors
/// Those of `is_satisfied`.
pub(crate) fn starts_early<E>(
    goal: &Grain,
    mut is_satisfied: impl FnMut(&ContentAddress) -> Result<bool, E>,
) -> Result<bool, E> {
    if goal.type_() != Type::Goal || goal.text("goal_state") != Some("active") {
        return Ok(false);
    }
    for text in goal.field("depends_on").into_iter().flat_map(Value::texts) {
        // A text that is not an address names no satisfied goal.
        let satisfied = match ContentAddress::from_reference(text) {
            Ok(address) => is_satisfied(&address)?,
            Err(_) => false,
        };
        if !satisfied {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether the successor is protected at least as well: by the same words, or by a mode
/// that no caller can open, with at least the scope of the original.
fn is_as_strict(protection: &Protection, policy: Option<&Map>, successor: &Grain) -> bool {
    let own_terms = Protection::of(successor);
    // Transitions are exceptions from the policy: a successor must not list more of them.
    let no_more = match (&protection.goal, &own_terms.goal) {
        (Some(old), Some(new)) => {
            new.allowed.iter().all(|state| old.allowed.contains(state))
                && new.evidence_required >= old.evidence_required
        }
        _ => false,
    };
    let closed = matches!(own_terms.mode, Mode::Locked | Mode::Hold)
        && (own_terms.scope == protection.scope || own_terms.scope == Scope::Subtree);
    no_more && (policy == protection.terms.as_ref() || closed)
}
