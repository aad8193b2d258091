//! Runs: immutable files of sorted keys for consecutive ledger entries (docs/format.md, "Runs").

mod layout;
mod places;
mod read;
mod stream;
mod write;

pub(super) use layout::{Reader, name_of, number_of};
pub(super) use read::{Fault, Run, Section, Stored};
pub(super) use stream::{Source, Stream};
pub(super) use write::RunWriter;

/// The folder of the index, relative to the store.
pub(in crate::index) const FOLDER: &str = "index";
