//! What was found and mended when a store was opened.

use crate::ledger::TornTail;

/// What was found when a store was opened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecoveryReport {
    /// Whether the store was created.
    pub created: bool,
    /// What a crash left behind the last acknowledged frame, set aside.
    pub torn: Option<TornTail>,
    /// Why the index was rebuilt.
    pub index_rebuilt: Option<String>,
    /// Why the text view was rebuilt.
    pub text_rebuilt: Option<String>,
}
