//! The checks of the index: quick ones of its structure, and a full comparison with the ledger.
//!
//! They report differences and change nothing.

pub(super) mod compare;
mod structure;

pub use structure::check_structure;
