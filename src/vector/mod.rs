//! Vectors that somebody else made: one matrix in memory for each model, searched in full.
//!
//! Nothing here knows of grains or the ledger: rows are numbers, and the store feeds them.

mod dot;
mod matrix;

pub use matrix::{Matrix, Near};
