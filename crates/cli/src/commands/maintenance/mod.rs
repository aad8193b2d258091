//! Commands of the operator on a whole store: create, inspect, check, diagnose, compact, back up, restore and
//! sign checkpoints.

mod backup;
mod check;
mod checkpoint;
mod compact;
mod completions;
mod config;
mod doctor;
mod init;
mod man;
mod recover;
mod restore;
mod stats;
mod upgrade;

pub(crate) use backup::Backup;
pub(crate) use check::Check;
pub(crate) use checkpoint::CheckpointTool;
pub(crate) use compact::Compact;
pub(crate) use completions::Completions;
pub(crate) use config::ConfigTool;
pub(crate) use doctor::{Doctor, disk_free};
pub(crate) use init::Init;
pub(crate) use man::Man;
pub(crate) use recover::{Recover, what_would_come_out};
pub(crate) use restore::Restore;
pub(crate) use stats::Stats;
pub(crate) use upgrade::Upgrade;
