//! The protection that a grain declares, read from its `invalidation_policy` (OMS 23.2, 23.6).
//!
//! A policy that is not understood is read as the strictest one.

pub(super) mod goal;
mod mode;
mod tombstone;

pub use goal::is_transition;
pub(crate) use goal::{evidence_of, starts_early, waits};
pub use mode::Mode;

use crate::codec::{Map, Value};
use crate::grain::{Grain, Type};

use super::is_ownership;

/// The protection of an `invalidation_policy` (OMS 23.2).
///
/// A member that is not understood protects: an agent must not open a grain with a policy that an
/// old store cannot read (OMS 23.3).
///
/// ```
/// use grainstore::grain::{Draft, Time};
/// use grainstore::policy::{Mode, Protection};
///
/// let grain = Draft::event("hello").created_at(Time::from_ms(0)).finish(Default::default())?;
/// assert_eq!(Protection::of(&grain).mode(), Mode::Open);
/// # Ok::<(), grainstore::grain::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Protection {
    pub(in crate::policy) mode: Mode,
    pub(in crate::policy) scope: Scope,
    pub(in crate::policy) authorized: Vec<String>,
    pub(in crate::policy) threshold: usize,
    pub(in crate::policy) locked_until_s: i64,
    pub(in crate::policy) fallback: Mode,
    /// The author of the protected grain, who must not sign for others (OMS 23.8).
    pub(in crate::policy) author: Option<String>,
    /// Whether the protected grain states the owner of an agent (OMS 12.5.3).
    pub(in crate::policy) is_ownership: bool,
    pub(in crate::policy) goal: Option<GoalTerms>,
    /// The policy as it stands in the grain.
    pub(in crate::policy) terms: Option<Map>,
    /// Whether its grain is erased, and only the rule is left.
    is_tombstone: bool,
}

/// How far a protection reaches (OMS 23.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The grain, and whatever replaces it.
    Grain,
    /// The grain and everything derived from it.
    Subtree,
    /// Every grain of its lineage.
    Lineage,
}

/// The transitions of a protected Goal that an agent may make alone (OMS 23.4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::policy) struct GoalTerms {
    pub(in crate::policy) allowed: Vec<String>,
    pub(in crate::policy) evidence_required: u64,
}

impl Protection {
    /// Returns the protection that a grain declares.
    pub fn of(grain: &Grain) -> Self {
        let mut protection = match grain.field("invalidation_policy") {
            Some(policy) => policy
                .as_map()
                .and_then(Self::parse)
                .unwrap_or_else(|| Self::plain(Mode::Locked, Scope::Subtree)),
            // Ruling I7, OMS 8.10: a Consent without a policy is soft-locked.
            None if grain.type_() == Type::Consent => Self::plain(Mode::SoftLocked, Scope::Grain),
            None => Self::plain(Mode::Open, Scope::Grain),
        };
        let policy = grain.field("invalidation_policy").and_then(Value::as_map);
        protection.terms = policy.cloned();
        protection.author = grain.text("author_did").map(str::to_owned);
        protection.is_ownership = is_ownership(grain);
        if grain.type_() == Type::Goal {
            let allowed = grain.field("allowed_transitions").into_iter();
            let evidence = grain.field("evidence_required").and_then(Value::as_i64);
            protection.goal = Some(GoalTerms {
                allowed: allowed.flat_map(Value::texts).map(str::to_owned).collect(),
                evidence_required: evidence.and_then(|n| n.try_into().ok()).unwrap_or(0),
            });
        }
        protection
    }

    /// Returns the mode; of a policy that is not understood, [`Mode::Locked`].
    pub const fn mode(&self) -> Mode {
        self.mode
    }

    /// Returns the author of the protected grain.
    pub(crate) fn author(&self) -> Option<&str> {
        self.author.as_deref()
    }

    /// Returns how far it reaches; of a scope that is not understood, to everything derived.
    pub const fn scope(&self) -> Scope {
        self.scope
    }

    /// Returns whether it protects anything: an open grain's does not, whatever its scope.
    pub const fn is_open(&self) -> bool {
        matches!(self.mode, Mode::Open | Mode::ConsentCascade)
    }

    /// Returns whether it is a litigation hold, now or as what a timed lock falls back to.
    pub const fn can_hold(&self) -> bool {
        matches!(self.mode, Mode::Hold)
            || matches!((self.mode, self.fallback), (Mode::Timed, Mode::Hold))
    }

    /// Returns what is left when an operator has lifted the hold (ruling I19).
    #[must_use]
    pub fn lifted(mut self) -> Self {
        match self.mode {
            Mode::Hold => self.mode = Mode::Open,
            _ => self.fallback = Mode::Open,
        }
        self
    }

    const fn plain(mode: Mode, scope: Scope) -> Self {
        Self {
            mode,
            scope,
            authorized: Vec::new(),
            threshold: usize::MAX,
            locked_until_s: i64::MAX,
            fallback: Mode::Locked,
            author: None,
            is_ownership: false,
            goal: None,
            terms: None,
            is_tombstone: false,
        }
    }

    /// Reads a policy; none if a member that its mode needs is missing or of another kind.
    fn parse(policy: &Map) -> Option<Self> {
        let named = |key: &str| {
            policy
                .get(key)
                .map(|value| value.as_text().and_then(Mode::named))
        };
        let mode = named("mode").flatten()?;
        let scope = match policy.get("scope").map(Value::as_text) {
            None | Some(Some("grain")) => Scope::Grain,
            Some(Some("lineage")) => Scope::Lineage,
            Some(_) => Scope::Subtree,
        };
        // Ruling I9: a fallback that is missing, unknown or timed again stays locked.
        let fallback = match named("fallback_mode").flatten() {
            None | Some(Mode::Timed) => Mode::Locked,
            Some(mode) => mode,
        };
        let mut parsed = Self {
            fallback,
            ..Self::plain(mode, scope)
        };
        if let Some(authorized) = policy.get("authorized") {
            let dids = authorized.as_array()?;
            let dids = dids.iter().map(|did| did.as_text().map(str::to_owned));
            parsed.authorized = dids.collect::<Option<_>>()?;
        }
        if let Some(threshold) = policy.get("threshold") {
            let threshold = threshold.as_i64().and_then(|n| usize::try_from(n).ok())?;
            // A quorum of zero signers would open the grain to everyone.
            parsed.threshold = (threshold > 0).then_some(threshold)?;
        }
        if let Some(until) = policy.get("locked_until") {
            parsed.locked_until_s = until.as_i64()?;
        }
        Some(parsed)
    }
}
