//! The evaluation of a plan over segments: what matches, how it scores, and what of it is shown.

pub(super) mod bm25;
pub(super) mod conversation;
pub(super) mod execute;
pub(super) mod highlight;
pub(super) mod hit;
pub(super) mod phrase;
pub(super) mod postings_cursor;
pub(super) mod ranking;
pub(super) mod score_block;
pub(super) mod top_docs;
