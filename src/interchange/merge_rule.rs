//! The rule by which a format merges two records of one id, and the actions that may follow.

/// The action of an import on a record whose id is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Merge {
    /// It equals this version, counted from the oldest.
    Unchanged(usize),
    /// Its own time is older than that of the stored version.
    Older,
    /// It supersedes the newest version.
    Update,
    /// It is stored beside the others, which it does not replace.
    Beside,
    /// It contradicts them: all are kept, and the operator has to choose (OMI 13.3).
    Conflict,
    /// It contradicts them and must not come in (AIMEM 2.9).
    Reject,
}

/// How a format merges a record that says something else than the versions that came before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MergeRule {
    /// The two contradict each other.
    Conflict,
    /// The records are of one id, and none replaces another.
    Beside,
    /// The newer one wins.
    Newest {
        /// The merge where the newest version was ended here.
        if_ended: Merge,
        /// The merge of two of the same time.
        if_equal: Merge,
    },
}

impl Default for MergeRule {
    fn default() -> Self {
        Self::Newest {
            if_ended: Merge::Conflict,
            if_equal: Merge::Update,
        }
    }
}
