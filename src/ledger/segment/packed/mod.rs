//! Packed segments: the file of a closed segment with its headers in short form, its bodies
//! compressed one by one, and without its blank bodies (docs/format.md, "Packed segments").
//!
//! A reader sees the bytes of the segment at the offsets that they always had, so frames, leaves,
//! offsets and proofs do not change. A body is still blanked in place, by itself.

mod block;
mod pack;
mod packed_file;
mod table;

pub(in crate::ledger) use pack::Packing;
pub(super) use packed_file::PackedFile;
