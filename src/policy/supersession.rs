use crate::codec::Value;
use crate::grain::{Grain, Type};

/// How a grain protects itself (OMS 23.2).
///
/// ```
/// use grainstore::grain::{Draft, Time};
/// use grainstore::policy::Mode;
///
/// let grain = Draft::event("hello").created_at(Time::from_ms(0)).finish(Default::default())?;
/// assert_eq!(Mode::of(&grain), Mode::Open);
/// # Ok::<(), grainstore::grain::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mode {
    /// Anyone may supersede it.
    Open,
    /// Only with a justification.
    SoftLocked,
    /// Nobody may.
    Locked,
    /// Only with enough signatures.
    Quorum,
    /// Only the listed.
    Delegated,
    /// Nobody until a time.
    Timed,
    /// Nobody, and it may not be erased either.
    Hold,
    /// Erased with the consent it rests on.
    ConsentCascade,
}

impl Mode {
    /// Returns the mode of a grain's policy.
    pub fn of(grain: &Grain) -> Self {
        let Some(policy) = grain.field("invalidation_policy") else {
            // Ruling I7, OMS 8.10: consent is soft-locked unless it says otherwise.
            return match grain.type_() {
                Type::Consent => Self::SoftLocked,
                _ => Self::Open,
            };
        };
        let mode = policy.as_map().and_then(|policy| policy.get("mode"));
        // OMS 23.3: what is not understood protects, or a made-up mode would open everything.
        mode.and_then(Value::as_text)
            .and_then(Self::named)
            .unwrap_or(Self::Locked)
    }

    /// Returns the mode of the specification's word.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "open" => Self::Open,
            "soft_locked" => Self::SoftLocked,
            "locked" => Self::Locked,
            "quorum" => Self::Quorum,
            "delegated" => Self::Delegated,
            "timed" => Self::Timed,
            "hold" => Self::Hold,
            "consent_cascade" => Self::ConsentCascade,
            _ => return None,
        })
    }

    /// Returns the specification's word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::SoftLocked => "soft_locked",
            Self::Locked => "locked",
            Self::Quorum => "quorum",
            Self::Delegated => "delegated",
            Self::Timed => "timed",
            Self::Hold => "hold",
            Self::ConsentCascade => "consent_cascade",
        }
    }
}

/// What the policy says, and which rule said it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It may be done.
    Allow,
    /// It may not.
    Deny {
        /// The rule that spoke.
        rule: &'static str,
    },
}

/// Judges whether `old` may be superseded.
///
/// Only open grains may be for now: the other modes need justifications, signatures and clocks
/// that are not gathered yet, and until they are, the answer is no (OMS 23.3).
pub fn supersede(old: &Grain) -> Verdict {
    match Mode::of(old) {
        Mode::Open => Verdict::Allow,
        mode => Verdict::Deny { rule: mode.name() },
    }
}

/// Returns whether storing `new` on its own would say by the back door that it replaces `parent`,
/// a current grain that its `derived_from` names (OMS 17.2, ruling I4).
pub fn implies_supersession(new: &Grain, parent: &Grain) -> bool {
    let is_result = new.type_() == Type::Action && new.text("action_phase") == Some("result");
    let level = new.field("consolidation_level").and_then(Value::as_i64);
    if is_result || level.is_some_and(|level| level >= 1) {
        // OMS 27.1 requires derived_from of a result; 28.6 of a summary.
        return false;
    }
    let same = |field: &str| new.field(field) == parent.field(field);
    let names_the_same = match new.type_() {
        Type::Belief => same("subject") && same("relation"),
        Type::Goal => same("description"),
        _ => false,
    };
    new.type_() == parent.type_() && same("namespace") && names_the_same
}
