//! The rules of protected goals: transitions, evidence and dependencies (OMS 8.7, 23.4, 23.5).

use std::collections::BTreeSet;

use crate::codec::{Canonical, ContentAddress, Encoding, Map, Profile, Value};
use crate::grain::{Grain, Type};

use super::{Mode, Protection, Scope};
use crate::policy::{Facts, Rule};

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
pub(in crate::policy) fn transition(
    protection: &Protection,
    facts: &Facts<'_>,
    successor: &Grain,
) -> Transition {
    let Some(goal) = &protection.goal else {
        return Transition::NotListed;
    };
    let state = successor.text("goal_state");
    let listed = |state: &str| goal.allowed.iter().any(|allowed| allowed == state);
    if !facts.is_transition || !state.is_some_and(listed) {
        return Transition::NotListed;
    }
    // OMS 23.5, ruling I15: a transition that an agent makes alone must not remove the protection.
    let policy = successor
        .field("invalidation_policy")
        .and_then(Value::as_map);
    if !is_as_strict(protection, policy, successor) {
        return Transition::Denied(Rule::Laundering);
    }
    if facts.evidence < goal.evidence_required {
        return Transition::Denied(Rule::Evidence);
    }
    Transition::Allowed
}

/// Returns whether a grain moves a goal to another state, and says otherwise what the goal says:
/// every field but those of the state, its evidence, its times and its provenance is the same in
/// canonical form (OMS 23.4, ruling P1). The terms of the policy are compared apart: they may become
/// stricter (ruling I15).
///
/// ```
/// use grainstore::grain::{Draft, Time};
/// use grainstore::policy::is_transition;
///
/// let goal = |text: &str, state: &str| {
///     let draft = Draft::goal(text).set("goal_state", state).created_at(Time::from_ms(1));
///     draft.finish(Default::default())
/// };
/// let open = goal("stay within the budget", "active")?;
/// assert!(is_transition(&open, &goal("stay within the budget", "satisfied")?));
/// assert!(!is_transition(&open, &goal("spend all of it", "satisfied")?));
/// assert!(!is_transition(&open, &open), "the same state is no transition");
/// # Ok::<(), grainstore::grain::Error>(())
/// ```
pub fn is_transition(old: &Grain, new: &Grain) -> bool {
    let are_goals = old.type_() == Type::Goal && new.type_() == Type::Goal;
    are_goals
        && old.text("goal_state") != new.text("goal_state")
        && what_stays(old).is_some_and(|stays| what_stays(new) == Some(stays))
}

/// Returns the canonical form of the fields that a transition leaves as they are.
fn what_stays(goal: &Grain) -> Option<Vec<u8>> {
    let fields = goal.fields().iter();
    let stays = fields.filter(|(name, _)| !MOVES.contains(name) && !TERMS.contains(name));
    let stays: Map = stays.map(|(name, value)| (name, value.clone())).collect();
    let canonical = Canonical::new(stays, Profile::Extended).ok()?;
    Some(Encoding::MessagePack.encode(&canonical))
}

/// Returns the grains that a goal names as its evidence, each once; an entry that is not an address
/// names none (ruling P2).
pub(crate) fn evidence_of(goal: &Grain) -> BTreeSet<ContentAddress> {
    let entries = goal.field("satisfaction_evidence").into_iter();
    let addresses = entries
        .flat_map(Value::texts)
        .map(ContentAddress::from_reference);
    addresses.filter_map(Result::ok).collect()
}

/// Ruling P1: the state and its evidence, progress and lifecycle times, and provenance.
const MOVES: [&str; 15] = [
    "author_did",
    "created_at",
    "derived_from",
    "goal_state",
    "invalidation_initiator",
    "invalidation_reason",
    "invalidation_type",
    "progress",
    "provenance_chain",
    "satisfaction_evidence",
    "source_type",
    "supersession_auth",
    "supersession_justification",
    "system_valid_from",
    "trusted_timestamp",
];

const TERMS: [&str; 3] = [
    "allowed_transitions",
    "evidence_required",
    "invalidation_policy",
];

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
    waits(goal, &mut is_satisfied)
}

/// Returns whether anything that a goal depends on is not satisfied, whatever its own state.
///
/// # Errors
/// Those of `is_satisfied`.
pub(crate) fn waits<E>(
    goal: &Grain,
    is_satisfied: &mut impl FnMut(&ContentAddress) -> Result<bool, E>,
) -> Result<bool, E> {
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
