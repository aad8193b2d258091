//! Segments on disk, opened: those of a commit, where the turns of conversations are in one, and how a merge
//! reads them.

mod committed;
mod searched;
mod segment;
mod turn_runs;
mod windowed_file;

pub(in crate::text) use committed::Committed;
pub(in crate::text) use searched::SearchedSegment;
pub(in crate::text) use segment::{RowOrder, TurnValues, WINDOW_LEN};
pub(in crate::text::index) use segment::{document_of, row_values};
pub(in crate::text) use windowed_file::WindowedFile;
