//! The objects of PAM, each read from JSON into a typed view of it.

pub(super) mod content_hash;
pub(super) mod conversation;
pub(super) mod embeddings;
pub(super) mod head;
pub(super) mod memory;
pub(super) mod message;
pub(super) mod object;
pub(super) mod owner;
pub(super) mod relation;
pub(super) mod residual;
