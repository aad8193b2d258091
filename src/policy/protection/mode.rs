//! The modes of an invalidation policy (OMS 23.2).

/// The mode of an invalidation policy (OMS 23.2).
///
/// ```
/// use grainstore::policy::Mode;
///
/// assert_eq!(Mode::named("soft_locked"), Some(Mode::SoftLocked));
/// assert_eq!(Mode::named("unlocked"), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mode {
    /// Every caller may supersede the grain.
    Open,
    /// Only with a justification.
    SoftLocked,
    /// No caller may supersede the grain.
    Locked,
    /// Only with enough signatures of authorized DIDs.
    Quorum,
    /// Only with a signature of a listed DID.
    Delegated,
    /// Locked until a time; then the fallback mode holds.
    Timed,
    /// A litigation hold: no caller may supersede or erase the grain.
    Hold,
    /// Erased when the consent in its `processing_basis` is withdrawn.
    ConsentCascade,
}

impl Mode {
    /// Every mode, in the order of OMS 23.2.
    pub const ALL: [Self; 8] = [
        Self::Open,
        Self::SoftLocked,
        Self::Locked,
        Self::Quorum,
        Self::Delegated,
        Self::Timed,
        Self::Hold,
        Self::ConsentCascade,
    ];

    /// Returns the mode of the specification's word.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
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
