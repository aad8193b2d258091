//! Nearest-neighbour search over embeddings that the caller computed: one index in memory for each
//! model. Up to 50,000 vectors are all compared; of more those of the nearest cells.
//!
//! Grains and the ledger are not known here: rows and entries are numbers, and the store adds them.

mod best;
mod dot;
mod list;
mod lists;
mod matrix;
mod partition;
mod unit;
mod vector_index;

pub use best::Near;
pub use matrix::Matrix;
pub use vector_index::{Thresholds, VectorIndex};
