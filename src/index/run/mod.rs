//! Runs: immutable files of sorted keys for consecutive ledger entries (docs/format.md, "Runs").
//!
//! Which runs there are, a version says.

pub(super) mod block;
pub(super) mod cache;
pub(super) mod filter;
mod layout;
mod locations;
mod reader;
mod cursor;
mod stream;
mod writer;

pub(super) use cursor::RunCursor;
pub(super) use layout::{Reader, name_of, number_of};
pub(super) use reader::{OpenFault, Run, RunKey};
pub(super) use stream::{Source, Stream};
pub(super) use writer::RunWriter;

/// The folder of the index, relative to the store.
pub(in crate::index) const FOLDER: &str = "index";
