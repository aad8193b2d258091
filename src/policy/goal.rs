use crate::codec::{Map, Value};
use crate::grain::{Grain, Type};

use super::{Mode, Protection, Rule, Scope};

/// What a protected goal says about a grain that would replace it (OMS 23.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transition {
    /// Not one of the transitions it allows: its policy decides.
    NotListed,
    /// One that an agent may make by itself.
    Allowed,
    /// One of those, and it lacks what it takes.
    Denied(Rule),
}

/// Judges whether `successor` is a transition that the protected goal allows.
pub(super) fn transition(protection: &Protection, successor: &Grain) -> Transition {
    let Some(goal) = &protection.goal else {
        return Transition::NotListed;
    };
    let state = successor.text("goal_state");
    let listed = |state: &str| goal.allowed.iter().any(|allowed| allowed == state);
    if successor.type_() != Type::Goal || !state.is_some_and(listed) {
        return Transition::NotListed;
    }
    // OMS 23.5, ruling I15: what an agent may do by itself must not take the protection away.
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

/// Returns whether the successor is protected at least as well: by the same words, or by a mode
/// that nobody opens, as far as the original reached.
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
