use std::process::ExitCode;

use grainstore::ErrorCode;

/// How the command ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It did what was asked.
    Done,
    /// Nothing was found, or a part was refused, or there are warnings.
    Nothing,
    /// The caller or the world is at fault.
    Failed,
    /// A policy forbids it: a grain's own, or whom the store trusts.
    Denied,
    /// What was written is not what is there.
    Damaged,
}

impl Exit {
    /// Returns how a command ends that fails with this code.
    pub(crate) fn of(code: ErrorCode) -> Self {
        match code {
            ErrorCode::NotFound => Self::Nothing,
            ErrorCode::InvalidationDenied
            | ErrorCode::EvidenceRequired
            | ErrorCode::Consent
            | ErrorCode::Dependency
            | ErrorCode::AccessDenied
            | ErrorCode::PolicyDenied
            | ErrorCode::ReviewRequired
            | ErrorCode::Untrusted => Self::Denied,
            ErrorCode::StorageDamaged | ErrorCode::Integrity => Self::Damaged,
            _ => Self::Failed,
        }
    }

    /// Returns `Done` if so, else `Nothing`.
    pub(crate) const fn done_if(so: bool) -> Self {
        if so { Self::Done } else { Self::Nothing }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Nothing => 1,
            Exit::Failed => 2,
            Exit::Denied => 3,
            Exit::Damaged => 4,
        })
    }
}
