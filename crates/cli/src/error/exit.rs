//! Exit codes, and the code that each error leads to.
//!
//! They are part of the interface of the command: a script decides by them.

use grainstore::ErrorCode;

/// The outcome of a command, as its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// 0: the command succeeded.
    Done,
    /// 1: nothing was found, a part was refused, or there are warnings.
    Nothing,
    /// 2: wrong usage, wrong input, or a failure of the system.
    Failed,
    /// 3: a policy of the grain or of the store denies the operation.
    Denied,
    /// 4: stored bytes are damaged.
    Damaged,
}

impl Exit {
    /// Returns the outcome of a command that fails with this error code.
    pub(crate) fn of(code: ErrorCode) -> Self {
        match code {
            ErrorCode::NotFound | ErrorCode::UserUnknown => Self::Nothing,
            code if code.is_denied() => Self::Denied,
            code if code.is_corrupt() => Self::Damaged,
            _ => Self::Failed,
        }
    }

    /// Returns 4 if something was left out because its bytes are damaged, else 0.
    pub(crate) const fn unless_damaged(is_damaged: bool) -> Self {
        if is_damaged {
            Self::Damaged
        } else {
            Self::Done
        }
    }

    /// Returns the worse of two outcomes, as a command on many grains ends with it.
    pub(crate) const fn worse(self, other: Self) -> Self {
        if (other as u8) > (self as u8) {
            other
        } else {
            self
        }
    }

    /// Returns `Done` if the condition holds, else `Nothing`.
    pub(crate) const fn done_if(condition: bool) -> Self {
        if condition { Self::Done } else { Self::Nothing }
    }
}

impl From<Exit> for u8 {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Done => 0,
            Exit::Nothing => 1,
            Exit::Failed => 2,
            Exit::Denied => 3,
            Exit::Damaged => 4,
        }
    }
}
