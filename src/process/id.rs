//! The identity of a process.

/// The process that a thread belongs to, for as long as the thread runs one operation: a fork meanwhile
/// leaves the thread where it is, and the child without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProcessId(u32);

impl ProcessId {
    /// Returns that of this process, which costs a call to the system.
    pub(crate) fn current() -> Self {
        Self(std::process::id())
    }

    /// Returns that of a child that this process would fork.
    #[cfg(test)]
    pub(crate) fn of_child() -> Self {
        Self(std::process::id() + 1)
    }

    pub(super) const fn number(self) -> u32 {
        self.0
    }
}
