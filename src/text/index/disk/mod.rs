//! Segments on disk, opened: those of a commit, and where the turns of conversations are in one.

mod committed;
mod segment;
mod turn_runs;

pub(in crate::text) use committed::Committed;
pub(in crate::text) use segment::{DiskSegment, RowOrder, TurnValues, WINDOW_LEN};
