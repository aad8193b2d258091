//! Goals that depend on other goals (OMS 8.7, ruling I14).

use std::collections::BTreeSet;

use crate::codec::ContentAddress;
use crate::grain::{Grain, Type, Verification};
use crate::ledger::EntryId;
use crate::policy;
use crate::store::Error;
use crate::store::records::Frame;
use crate::store::view::{Version, View};

/// Returns whether a goal would become active before those it depends on are satisfied (OMS
/// 8.7, ruling I14). Grains of the same frame count as stored. The dependencies of the goals
/// that it replaces still bind: a successor must not drop them (ruling P12).
pub(crate) fn starts_early(
    view: &View<'_>,
    frame: &Frame,
    goal: &Grain,
    replaces: Option<(EntryId, &Version)>,
) -> Result<bool, Error> {
    let mut is_satisfied = |address: &ContentAddress| match frame.find(address) {
        Some(pending) => Ok(is_satisfied(pending)),
        None => stands_satisfied(view, address),
    };
    if policy::starts_early(goal, &mut is_satisfied)? {
        return Ok(true);
    }
    let is_started = goal.type_() == Type::Goal && goal.text("goal_state") == Some("active");
    let Some((row, target)) = replaces.filter(|_| is_started) else {
        return Ok(false);
    };
    if policy::waits(&target.grain, &mut is_satisfied)? {
        return Ok(true);
    }
    for link in view.chain(row, target)? {
        if link.is_earlier && policy::waits(&link.grain, &mut is_satisfied)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether a goal is satisfied. Goals change by supersession, so the newest of its
/// lineage counts, unless it is contested.
fn stands_satisfied(view: &View<'_>, address: &ContentAddress) -> Result<bool, Error> {
    let mut seen = BTreeSet::new();
    let mut next = *address;
    while let Some(row) = view.locate(&next)? {
        let version = view.version_at(row)?;
        if let Some(newer) = version.status.superseded_by
            && seen.insert(row)
        {
            next = newer;
            continue;
        }
        let stands = version.status.is_current()
            && !matches!(
                version.status.verification,
                Verification::Contested | Verification::Retracted
            );
        return Ok(stands && is_satisfied(&version.grain));
    }
    Ok(false)
}

fn is_satisfied(goal: &Grain) -> bool {
    goal.type_() == Type::Goal && goal.text("goal_state") == Some("satisfied")
}
