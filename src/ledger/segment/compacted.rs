//! Files that stand for a closed segment and take less room: packed segments, and the sparse ones of
//! earlier versions.
//!
//! Each reads as the segment that it stands for.

use std::io;
use std::sync::Arc;

use super::packed::PackedFile;
use super::segment_header::{self, is_compacted_header};
use super::sparse::SparseFile;
use crate::ledger::{DiskFile, EntryId};

/// A file of the ledger as the segment that it stands for.
#[derive(Debug)]
pub(in crate::ledger) struct Opened {
    pub(in crate::ledger) file: Arc<dyn DiskFile>,
    pub(in crate::ledger) form: Form,
}

/// How a segment lies in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::ledger) enum Form {
    Plain,
    Sparse {
        /// The length of what has no room in the file.
        left_out: u64,
    },
    Packed {
        left_out: u64,
        /// The grains that its dictionary was made of.
        sampled: Vec<EntryId>,
    },
}

/// Opens the segment that `file` stands for. One whose tables are both damaged is returned as it is:
/// its header is refused.
pub(in crate::ledger) fn open(file: Arc<dyn DiskFile>) -> io::Result<Opened> {
    if let Some(packed) = PackedFile::open(&file)? {
        let form = Form::Packed {
            left_out: packed.left_out(),
            sampled: packed.sampled(),
        };
        let file = Arc::new(packed);
        return Ok(Opened { file, form });
    }
    if let Some(sparse) = SparseFile::open(&file)? {
        let form = Form::Sparse {
            left_out: sparse.left_out(),
        };
        let file = Arc::new(sparse);
        return Ok(Opened { file, form });
    }
    let form = Form::Plain;
    Ok(Opened { file, form })
}

/// Returns whether a file stands for a segment and has a table that is damaged.
pub(in crate::ledger) fn is_damaged(file: &dyn DiskFile) -> io::Result<bool> {
    Ok(PackedFile::is_damaged(file)? || SparseFile::is_damaged(file)?)
}

/// Returns whether a file stands for a segment: its offsets are not those of the segment.
pub(in crate::ledger) fn is_compacted(file: &dyn DiskFile) -> io::Result<bool> {
    Ok(segment_header::bytes_of(file)?.is_some_and(|header| is_compacted_header(&header)))
}
