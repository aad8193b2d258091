//! The report of opening a store: what a crash left, and which derived files were rebuilt.

use crate::grain::Time;
use crate::ledger::{EntryId, TornTail};

/// The findings when a store was opened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecoveryReport {
    /// Whether the store was created.
    pub created: bool,
    /// The fault of `MANIFEST` or of its copy, of which one was written anew from the other.
    pub manifest_repaired: Option<String>,
    /// The incomplete end that a crash left in the ledger; it is set aside.
    pub torn: Option<TornTail>,
    /// The reason why the index was rebuilt.
    pub index_rebuilt: Option<String>,
    /// The reason why the text view was rebuilt.
    pub text_rebuilt: Option<String>,
    /// The reason why the text view could be neither opened nor rebuilt. Everything but search
    /// works; a search tries again to build it.
    pub text_unavailable: Option<String>,
    /// The ledger entries of the grains whose bytes were damaged when the index was built. They are
    /// in no answer but [`get`](crate::Store::get), which is an error, and can be deleted.
    pub damaged: Vec<EntryId>,
    /// The reason why an erasure that was begun could not be completed. The erased grains cannot be
    /// read; the next deletion, [`compact`](crate::Maintenance::compact) and the next open
    /// try again.
    pub erasure_waits: Option<String>,
    /// The time of the newest entry, where the shared ledger of which the directory is a cache did not
    /// answer: what was written since may be missing.
    pub stale_since: Option<Time>,
}
