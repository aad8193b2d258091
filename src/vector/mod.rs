//! Nearest-neighbour search over embeddings that the caller computed: one matrix in memory for each
//! model, searched in full.
//!
//! Grains and the ledger are not known here: rows are numbers, and the store adds them.

mod dot;
mod matrix;

pub use matrix::{Matrix, Near};
