//! The decision about an operation on a protected grain (OMS 23).
//!
//! `decide` is a pure function of facts, actor and time; the store gathers the facts.

use crate::crypto::Did;
use crate::grain::{Grain, Time, Type};

use super::protection::goal::{self, Transition};
use super::retention::names_required;
use super::{Mode, Protection, Rule};

/// An operation on a stored grain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Replaces it by another grain.
    Supersede,
    /// Marks it as contradicted.
    Contradict,
    /// Marks it as contested or retracted; marking it as verified needs no permission.
    Verify,
    /// Removes it from the store.
    Delete,
    /// Destroys the key it is sealed under.
    Erase,
    /// Replaces it by a grain of an import.
    Import,
}

impl Operation {
    /// Returns the word for the operation, as denials in the ledger carry it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Supersede => "supersede",
            Self::Contradict => "contradict",
            Self::Verify => "verify",
            Self::Delete => "delete",
            Self::Erase => "erase",
            Self::Import => "import",
        }
    }
}

/// The facts of a decision, gathered by the store.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// The protections of the grain: its own policy first, then those of other grains whose scope
    /// includes it (OMS 23.6).
    pub protections: &'a [Protection],
    /// The grain that is to replace it.
    pub successor: Option<&'a Grain>,
    /// Whether the successor moves a goal to another state and changes nothing else
    /// ([`is_transition`](super::is_transition)).
    pub is_transition: bool,
    /// How many other stored grains the successor names as its `satisfaction_evidence`.
    pub evidence: u64,
    /// Whether the store lets an authorized signature amend a locked grain (rulings I6, P19).
    pub may_amend_locked: bool,
    /// Until when its `retention_policy` keeps it.
    pub retained_until: Option<Time>,
    /// Whose word its `retention_policy` requires for a deletion.
    pub deletion_requires: Option<&'a str>,
    /// Whether an operator placed a legal hold on it.
    pub legal_hold: bool,
    /// Whether it is a Consent that was withdrawn, or withdraws one.
    pub is_evidence: bool,
    /// Whether background work must leave it unchanged: a preference, decision, identity, pitfall
    /// or procedure, or pinned (AIMEM 5).
    pub is_lasting: bool,
}

/// The actor, as far as its identity is proven.
#[derive(Debug, Clone, Copy, Default)]
pub struct Actor<'a> {
    /// The keys whose signatures over this operation on this grain were verified, each as all DIDs
    /// that it is known by ([`Signers::voices`](crate::crypto::Signers::voices)): a key counts once,
    /// under whatever name.
    pub signers: &'a [Vec<String>],
    /// The reason, in words.
    pub justification: Option<&'a str>,
    /// The authority, for deletion.
    pub authority: Option<&'a str>,
    /// Whether the operation is unattended background work: decay, consolidation, eviction.
    pub is_job: bool,
}

/// The time of a decision, as far as the clock is trusted (ruling I21).
#[derive(Debug, Clone, Copy)]
pub struct TrustedNow {
    /// The time, no further ahead of the ledger than the clock is trusted.
    pub now: Time,
    /// Whether the clock is further ahead and no operator has accepted it.
    pub jumped: bool,
}

/// The decision, with the rule that denied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Verdict {
    /// Allowed.
    Allow,
    /// Allowed, with a review by a person afterwards (OMS 23.2, `soft_locked`).
    Review,
    /// Denied by this rule.
    Deny(Rule),
}

/// Decides about an operation. The same arguments give the same verdict.
///
/// ```
/// use grainstore::grain::{Draft, Time};
/// use grainstore::policy::{self, Actor, Facts, TrustedNow, Operation, Protection, Rule, Verdict};
///
/// let consent = r#"{"type":"consent","subject_did":"did:web:a","grantee_did":"did:web:b",
///     "scope":["store"],"is_withdrawal":false,"created_at":1}"#;
/// let grain = Draft::from_json(consent)?.finish(Default::default())?;
/// let facts = Facts {
///     protections: &[Protection::of(&grain)],
///     successor: None,
///     is_transition: false,
///     evidence: 0,
///     may_amend_locked: false,
///     retained_until: None,
///     deletion_requires: None,
///     legal_hold: false,
///     is_evidence: false,
///     is_lasting: false,
/// };
/// let now = TrustedNow { now: Time::from_ms(2), jumped: false };
/// let asked = |actor| policy::decide(Operation::Contradict, &facts, &actor, now);
/// assert_eq!(asked(Actor::default()), Verdict::Deny(Rule::SoftLocked)); // OMS 8.10
/// let justified = Actor { justification: Some("withdrawn by letter"), ..Actor::default() };
/// assert_eq!(asked(justified), Verdict::Review);
/// # Ok::<(), grainstore::grain::Error>(())
/// ```
pub fn decide(
    operation: Operation,
    facts: &Facts<'_>,
    actor: &Actor<'_>,
    at: TrustedNow,
) -> Verdict {
    if actor.is_job && facts.is_lasting {
        return Verdict::Deny(Rule::Lasting);
    }
    if matches!(operation, Operation::Delete | Operation::Erase) {
        return destroy(facts, actor, at);
    }
    if facts.legal_hold {
        return Verdict::Deny(Rule::LegalHold);
    }
    let mut verdict = Verdict::Allow;
    for protection in facts.protections {
        match invalidate(operation, protection, facts, actor, at) {
            Verdict::Allow => {}
            Verdict::Review => verdict = Verdict::Review,
            denied @ Verdict::Deny(_) => return denied,
        }
    }
    verdict
}

/// Ruling I19: a hold and unmet retention keep a grain; the other modes only require an authority, which is
/// the one that `deletion_requires` names.
fn destroy(facts: &Facts<'_>, actor: &Actor<'_>, at: TrustedNow) -> Verdict {
    let held = |protection: &Protection| effective(protection, at).0 == Mode::Hold;
    if facts.protections.iter().any(held) {
        return Verdict::Deny(Rule::Hold);
    }
    if facts.legal_hold {
        return Verdict::Deny(Rule::LegalHold);
    }
    if facts.retained_until.is_some_and(|until| at.now < until) {
        return Verdict::Deny(Rule::Retention);
    }
    // OMS 8.10: both are kept as evidence of what was allowed, and until when.
    if facts.is_evidence {
        return Verdict::Deny(Rule::ConsentKept);
    }
    let authority = actor.authority.filter(|who| !who.trim().is_empty());
    let Some(authority) = authority.filter(|_| actor.reason().is_some()) else {
        return Verdict::Deny(Rule::Authority);
    };
    match facts.deletion_requires {
        Some(required) if !names_required(authority, required) => {
            Verdict::Deny(Rule::DeletionRequires)
        }
        _ => Verdict::Allow,
    }
}

/// Judges one protection on its own.
fn invalidate(
    operation: Operation,
    protection: &Protection,
    facts: &Facts<'_>,
    actor: &Actor<'_>,
    at: TrustedNow,
) -> Verdict {
    let (mode, rule) = effective(protection, at);
    // OMS 23.2: a hold outranks everything, the transitions a goal allows included.
    if mode == Mode::Hold {
        return Verdict::Deny(rule);
    }
    let replaces = matches!(operation, Operation::Supersede | Operation::Import);
    if replaces
        && let Some(successor) = facts.successor
        && mode != Mode::Open
    {
        match goal::transition(protection, facts, successor) {
            Transition::Allowed => return Verdict::Allow,
            Transition::Denied(rule) => return Verdict::Deny(rule),
            Transition::NotListed => {}
        }
    }
    let justified = actor.reason().is_some() || facts.successor.is_some_and(justifies);
    let allowed = match mode {
        Mode::Open | Mode::ConsentCascade => true,
        Mode::SoftLocked if justified => return Verdict::Review,
        Mode::Quorum => count(protection, actor) >= protection.threshold,
        Mode::Delegated => actor
            .signers
            .iter()
            .any(|voice| authorizes(protection, voice)),
        // Only a grain that says `locked` itself: what is not understood authorizes no DID.
        Mode::Locked if replaces && facts.may_amend_locked && protection.mode == Mode::Locked => {
            actor
                .signers
                .iter()
                .any(|voice| may_amend(protection, voice))
        }
        Mode::SoftLocked | Mode::Locked | Mode::Timed | Mode::Hold => false,
    };
    match allowed {
        true => Verdict::Allow,
        false => Verdict::Deny(rule),
    }
}

/// Returns the mode that holds now, and the rule to name if it denies.
fn effective(protection: &Protection, at: TrustedNow) -> (Mode, Rule) {
    let timed = protection.mode == Mode::Timed;
    // Ruling I9: seconds, as written.
    let until = Time::from_ms(protection.locked_until_s.saturating_mul(1000));
    match protection.mode {
        Mode::Timed if at.now < until => (Mode::Locked, Rule::Timed),
        Mode::Timed if at.jumped => (Mode::Locked, Rule::Clock),
        _ => {
            let mode = if timed {
                protection.fallback
            } else {
                protection.mode
            };
            (mode, rule_of(mode))
        }
    }
}

const fn rule_of(mode: Mode) -> Rule {
    match mode {
        Mode::SoftLocked => Rule::SoftLocked,
        Mode::Quorum => Rule::Quorum,
        Mode::Delegated => Rule::Delegated,
        Mode::Hold => Rule::Hold,
        Mode::Open | Mode::Locked | Mode::Timed | Mode::ConsentCascade => Rule::Locked,
    }
}

/// Counts the authorized keys that signed: each once, and not the author's, under whatever name
/// (OMS 23.8, ruling P8).
fn count(protection: &Protection, actor: &Actor<'_>) -> usize {
    let mut counted: Vec<&Vec<String>> = Vec::new();
    for voice in actor.signers {
        let is_counted = counted
            .iter()
            .any(|other| other.iter().any(|did| voice.contains(did)));
        if authorizes(protection, voice) && !is_author(protection, voice) && !is_counted {
            counted.push(voice);
        }
    }
    counted.len()
}

/// OMS 23.8: the author of a grain does not prove a change of it. The author of an ownership grain
/// is the operator and not the agent that it is about, so the operator may.
fn may_amend(protection: &Protection, voice: &[String]) -> bool {
    authorizes(protection, voice) && (protection.is_ownership || !is_author(protection, voice))
}

fn authorizes(protection: &Protection, voice: &[String]) -> bool {
    let mut authorized = protection.authorized.iter().map(|did| Did::bare(did));
    authorized.any(|did| voice.iter().any(|name| name == did))
}

fn is_author(protection: &Protection, voice: &[String]) -> bool {
    let author = protection.author.as_deref().map(Did::bare);
    author.is_some_and(|author| voice.iter().any(|name| name == author))
}

impl<'a> Actor<'a> {
    fn reason(&self) -> Option<&'a str> {
        self.justification.filter(|text| !text.trim().is_empty())
    }
}

fn justifies(successor: &Grain) -> bool {
    let text = successor.text("supersession_justification");
    // OMS 8.10: a withdrawal is honored without a justification; a person reviews it afterwards.
    let withdraws = successor.type_() == Type::Consent
        && successor
            .field("is_withdrawal")
            .and_then(crate::codec::Value::as_bool)
            == Some(true);
    withdraws || text.is_some_and(|text| !text.trim().is_empty())
}
