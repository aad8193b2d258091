//! Segments in the making: built of documents, or merged of others, in files of the index library.

mod columns;
mod merge;
mod posting_source;
mod segment_builder;
mod term_files;

pub(super) use merge::merge;
pub(super) use segment_builder::SegmentBuilder;
