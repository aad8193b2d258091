/// How a grain protects itself (OMS 23.2).
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
