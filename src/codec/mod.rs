//! Values, canonical bytes, headers and content addresses (OMS 3–5, 16): no grain semantics.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod address;
mod error;

pub use address::ContentAddress;
pub use error::Error;
