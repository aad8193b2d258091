//! The decision about an operation on a grain, with its reason, without performing the operation.
//! The facts and the decision are those of the operation itself.

use crate::codec::{ContentAddress, Value};
use crate::policy::{Actor, Facts, Operation, Purpose, Rule, Verdict, Violation, may_leave};
use crate::store::engine::Engine;
use crate::store::lineage::Change;
use crate::store::read::{authorize_reach, grain_awaits_review, reaches};
use crate::store::rules::authorize_signers;
use crate::store::view::EffectiveProtection;
use crate::store::{Error, Owner, read};

use super::regime::{is_on_hold, kept_here};

/// An operation on a grain that can be explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// A change of its status, or its deletion.
    Change(Operation),
    /// Its export.
    Export(Purpose),
    /// Its use by a program that acts on it.
    Rely,
}

/// The decision about an operation, and its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// Whether it would be permitted.
    pub is_allowed: bool,
    /// Whether a review by a person would be opened afterwards.
    pub is_reviewed: bool,
    /// The rule that denies it: one of OMS, or a regime and its clause.
    pub rule: Option<String>,
    /// The source of the rule: a section of OMS, or a law.
    pub stands_in: Option<String>,
    /// The requirement that is not met.
    pub wants: Option<String>,
    /// The grain that protects: the grain itself, one it was derived from, or one of its lineage.
    pub protected_by: Option<ContentAddress>,
    /// The `protection_reason` of that grain, which its author wrote for readers (OMS 23.2).
    pub protection_reason: Option<String>,
}

impl Asked {
    /// Returns the operation with a name.
    ///
    /// ```
    /// use grainstore::policy::Operation;
    /// use grainstore::store::Asked;
    ///
    /// assert_eq!(Asked::named("delete"), Some(Asked::Change(Operation::Delete)));
    /// assert_eq!(Asked::named("paint"), None);
    /// ```
    pub fn named(word: &str) -> Option<Self> {
        let asked = WORDS.iter().find(|(name, _)| *name == word);
        asked.map(|(_, asked)| *asked)
    }

    /// Returns every name that [`Asked::named`] accepts.
    pub fn words() -> impl Iterator<Item = &'static str> {
        WORDS.iter().map(|(name, _)| *name)
    }
}

/// See [`Admin::explain_policy`](crate::Admin::explain_policy).
pub(crate) fn explain_policy(
    owner: Owner<'_>,
    address: &ContentAddress,
    asked: Asked,
    actor: &Actor<'_>,
) -> Result<Explanation, Error> {
    authorize_reach(owner, address)?;
    let mut answer = decision(owner, address, asked, actor)?;
    if let Some(by) = answer.protected_by
        && !reaches(owner, &by)?
    {
        answer.protected_by = None;
    }
    let snapshot = owner.store().snapshot();
    let view = owner.engine().as_of(&snapshot);
    if let Some(by) = answer.protected_by
        && let Some(row) = view.locate(&by)?
    {
        let grain = view.version_at(row)?.grain;
        let policy = grain.field("invalidation_policy").and_then(Value::as_map);
        let reason = policy.and_then(|policy| policy.get("protection_reason"));
        answer.protection_reason = reason.and_then(Value::as_text).map(str::to_owned);
    }
    Ok(answer)
}

fn decision(
    owner: Owner<'_>,
    address: &ContentAddress,
    asked: Asked,
    actor: &Actor<'_>,
) -> Result<Explanation, Error> {
    let snapshot = owner.store().snapshot();
    let row = owner.engine().as_of(&snapshot).row_of(address)?;
    let target = owner.engine().as_of(&snapshot).version_at(row)?;
    match asked {
        Asked::Change(operation) => {
            let protection = owner
                .engine()
                .as_of(&snapshot)
                .effective_protection(row, &target, None)?;
            Ok(explain_change(
                owner.engine(),
                operation,
                &target,
                &protection,
                actor,
            ))
        }
        Asked::Export(purpose) => {
            let held = is_on_hold(owner.store(), &target.grain);
            let is_documented =
                |consent: &_| read::is_documented(owner.store(), &target.grain, consent);
            Ok(
                match may_leave(&target.grain, held, purpose, is_documented) {
                    Err(rule) => Explanation::denied(rule, *address),
                    Ok(()) => match kept_here(owner.store(), &target.grain) {
                        Some(violation) => Explanation::broken(&violation, *address),
                        None => Explanation::allowed(false),
                    },
                },
            )
        }
        Asked::Rely if grain_awaits_review(owner.store(), &target.grain)? => {
            Ok(Explanation::denied(Rule::Unreviewed, *address))
        }
        Asked::Rely => Ok(Explanation::allowed(false)),
    }
}

fn explain_change(
    engine: &Engine,
    operation: Operation,
    target: &crate::store::Version,
    protection: &EffectiveProtection,
    actor: &Actor<'_>,
) -> Explanation {
    let address = target.grain.address();
    let replaces = matches!(operation, Operation::Supersede | Operation::Import);
    if replaces && !target.status.is_current() {
        return Explanation {
            rule: Some("not current".into()),
            stands_in: Some("OMS 28.4".into()),
            wants: Some("the current grain of the lineage".into()),
            protected_by: target.status.superseded_by,
            ..Explanation::allowed(false)
        }
        .refused();
    }
    let destroys = matches!(operation, Operation::Delete | Operation::Erase);
    let has_reason = actor
        .justification
        .is_some_and(|text| !text.trim().is_empty());
    let state = engine.state();
    let regimes = state.regimes().all();
    if !destroys
        && !has_reason
        && let Some(broken) = regimes.asks_why(&target.grain)
    {
        return Explanation::broken(&Violation::of(broken), address);
    }
    let reviewed = !destroys && regimes.reviews(&target.grain);
    drop(state);
    if !destroys && authorize_signers(engine, actor.signers, &target.grain).is_err() {
        return Explanation {
            rule: Some("untrusted".into()),
            stands_in: Some("OMS 20.1".into()),
            wants: Some("a signature of a signer who is trusted with the grain".into()),
            protected_by: Some(address),
            ..Explanation::allowed(false)
        }
        .refused();
    }
    let facts = protection.facts(None);
    let asked = |facts: Facts<'_>| {
        let change = Change {
            operation,
            target: &address,
            facts,
            actor: *actor,
        };
        change.verdict(engine)
    };
    match asked(facts) {
        Verdict::Allow => Explanation::allowed(reviewed),
        Verdict::Review => Explanation::allowed(true),
        denied @ Verdict::Deny(rule) => {
            let sources = protection.sources().iter().zip(facts.protections);
            let mut denying = sources.filter(|(_, protection)| {
                let alone = Facts {
                    protections: std::slice::from_ref(*protection),
                    legal_hold: false,
                    retained_until: None,
                    deletion_requires: None,
                    ..facts
                };
                asked(alone) == denied
            });
            let by = denying.next().map_or(address, |(source, _)| *source);
            let mut explained = Explanation::denied(rule, by);
            if let (Rule::DeletionRequires, Some(required)) = (rule, facts.deletion_requires) {
                explained.wants = Some(format!("an authority that names {required:?}"));
            }
            explained
        }
    }
}

impl Explanation {
    const fn allowed(is_reviewed: bool) -> Self {
        Self {
            is_allowed: true,
            is_reviewed,
            rule: None,
            stands_in: None,
            wants: None,
            protected_by: None,
            protection_reason: None,
        }
    }

    fn refused(self) -> Self {
        Self {
            is_allowed: false,
            ..self
        }
    }

    fn denied(rule: Rule, by: ContentAddress) -> Self {
        Self {
            is_allowed: false,
            is_reviewed: false,
            rule: Some(rule.name().into()),
            stands_in: Some(format!("OMS {}", rule.section())),
            wants: Some(rule.wants().into()),
            protected_by: Some(by),
            protection_reason: None,
        }
    }

    fn broken(violation: &Violation, by: ContentAddress) -> Self {
        Self {
            rule: Some(violation.name()),
            stands_in: Some(violation.cites.clone()),
            wants: Some(violation.says.clone()),
            protected_by: Some(by),
            ..Self::allowed(false)
        }
        .refused()
    }
}

const WORDS: [(&str, Asked); 9] = [
    ("supersede", Asked::Change(Operation::Supersede)),
    ("contradict", Asked::Change(Operation::Contradict)),
    ("verify", Asked::Change(Operation::Verify)),
    ("delete", Asked::Change(Operation::Delete)),
    ("erase", Asked::Change(Operation::Erase)),
    ("import", Asked::Change(Operation::Import)),
    ("export", Asked::Export(Purpose::Transfer)),
    ("sell", Asked::Export(Purpose::Sale)),
    ("rely", Asked::Rely),
];
