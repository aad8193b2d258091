//! Evaluation of a plan over segments: matching, scoring, ranking and highlighting.
//!
//! It sees segments through `index::segment_reader` only, so that a document is treated alike on
//! disk and in memory.

pub(super) mod accepted;
pub(super) mod bm25;
pub(super) mod conversation;
pub(super) mod execute;
pub(super) mod highlight;
pub(super) mod hit;
pub(super) mod in_order;
pub(super) mod phrase;
pub(super) mod postings_cursor;
pub(super) mod ranking;
pub(super) mod relevant;
pub(super) mod rerank;
pub(super) mod score_block;
pub(super) mod top_docs;
