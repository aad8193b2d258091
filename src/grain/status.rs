//! The status of a stored grain, and changes of it (OMS 5.6, 28.3).
//!
//! A status is never part of a blob. The store keeps it in its ledger.

use crate::codec::ContentAddress;

use super::Time;

/// The status of a grain in a store (OMS 5.6, 28.3): never hashed, never in a blob.
///
/// ```
/// use grainstore::grain::{Status, StatusChange, Time, Verification};
///
/// let mut status = Status::default();
/// assert!(status.is_current());
/// status.apply(&StatusChange {
///     verification: Some(Verification::Retracted),
///     system_valid_to: Some(Time::from_ms(1)),
///     ..StatusChange::default()
/// });
/// assert!(!status.is_current());
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Status {
    /// The grain that replaces this one.
    pub superseded_by: Option<ContentAddress>,
    /// When it stopped being what the store holds for true.
    pub system_valid_to: Option<Time>,
    /// How far it has been verified.
    pub verification: Verification,
    /// Whether it has been contradicted (ruling I1: in the index only).
    pub contradicted: bool,
    /// Its place in the life of a memory, where a foreign format has more states than OMS.
    pub lifecycle: Lifecycle,
}

impl Status {
    /// Returns whether the store still holds the grain for true (OMS 15.2).
    pub const fn is_current(&self) -> bool {
        self.superseded_by.is_none() && self.system_valid_to.is_none()
    }

    /// Applies a change: its values replace the old ones, absent values leave them.
    pub fn apply(&mut self, change: &StatusChange) {
        self.superseded_by = change.superseded_by.or(self.superseded_by);
        self.system_valid_to = change.system_valid_to.or(self.system_valid_to);
        self.verification = change.verification.unwrap_or(self.verification);
        self.contradicted = change.contradicted.unwrap_or(self.contradicted);
        self.lifecycle = change.lifecycle.unwrap_or(self.lifecycle);
    }
}

/// One change of status, as the ledger records it and as archives carry it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StatusChange {
    /// The grain that replaces this one.
    pub superseded_by: Option<ContentAddress>,
    /// When it stopped being current.
    pub system_valid_to: Option<Time>,
    /// The new verification status.
    pub verification: Option<Verification>,
    /// Whether it is contradicted.
    pub contradicted: Option<bool>,
    /// The new lifecycle.
    pub lifecycle: Option<Lifecycle>,
}

impl StatusChange {
    /// Returns whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// How far a grain has been verified (OMS 6.1, `verification_status`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Verification {
    /// Not yet reviewed.
    #[default]
    Unverified,
    /// Confirmed by an authority.
    Verified,
    /// Contradicted or disputed.
    Contested,
    /// Withdrawn from use.
    Retracted,
}

impl Verification {
    /// Returns the specification's word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unverified => "unverified",
            Self::Verified => "verified",
            Self::Contested => "contested",
            Self::Retracted => "retracted",
        }
    }

    /// Returns the status of the specification's word.
    pub fn named(name: &str) -> Option<Self> {
        let all = [
            Self::Unverified,
            Self::Verified,
            Self::Contested,
            Self::Retracted,
        ];
        all.into_iter().find(|status| status.name() == name)
    }
}

/// Where a memory stands in formats that know more states than current or not (PAM 7).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Lifecycle {
    /// In use.
    #[default]
    Active,
    /// In use, ranked last.
    Deprecated,
    /// Kept, not in use.
    Archived,
    /// Replaced by something that is not named.
    Superseded,
}

impl Lifecycle {
    /// Returns the word of PAM 7.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Deprecated => "deprecated",
            Self::Archived => "archived",
            Self::Superseded => "superseded",
        }
    }

    /// Returns the lifecycle of a word of PAM 7.
    pub fn named(name: &str) -> Option<Self> {
        let all = [
            Self::Active,
            Self::Deprecated,
            Self::Archived,
            Self::Superseded,
        ];
        all.into_iter().find(|state| state.name() == name)
    }
}
