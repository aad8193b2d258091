//! The files of a memory store: where they may lie, and how they are opened.

pub(super) mod archive;
pub(super) mod conversation_files;
pub(super) mod storage;
