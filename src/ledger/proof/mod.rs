//! The Merkle tree over the leaves, and the pass that proves all bytes of a ledger.

pub(super) mod tree;
pub(super) mod verify;
