//! Randomness; later keys, sealing and signatures (OMS 9, 20).
//!
//! Randomness is an argument everywhere, so that every test is repeatable; this room owns the one
//! source that is not.

mod random;

mod error;

pub use error::Error;
pub use random::{OsRandom, Random};
