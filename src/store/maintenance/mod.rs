//! Maintenance: checking, repairing, compacting, backing up and restoring a store, its statistics,
//! and signed checkpoints of its ledger.

mod anchor;
#[cfg(feature = "signatures")]
mod attest;
mod backup;
mod check;
mod check_lineages;
mod check_signatures;
mod checkpoint;
mod compact;
mod recovery;
mod repair;
mod report;
mod restore;
mod restore_target;
mod stats;
mod views;

pub(crate) use anchor::check_on_record;
#[cfg(feature = "signatures")]
pub(crate) use attest::{checkpoint, receipt};
pub use backup::Backup;
pub(crate) use backup::{backup, backup_damaged, backup_to};
pub(crate) use check::verify_damaged;
pub(crate) use check::{check, check_structure};
pub use checkpoint::Checked;
pub(crate) use checkpoint::{checkpoints, verify_checkpoint};
pub(crate) use compact::compact;
pub use compact::{Compacted, Sizes};
pub(crate) use recovery::recoverable;
pub use recovery::{Lost, Recovered};
pub(crate) use recovery::{recover, recover_on};
pub(crate) use repair::repair;
pub use report::{Finding, Report, Severity};
pub use restore::Restored;
pub(crate) use restore::restore;
pub use stats::Stats;
pub(crate) use stats::stats;
pub(crate) use views::{flush_text, index_snapshot, sync};
