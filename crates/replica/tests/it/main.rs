//! Copies of stores on object storage: what is shipped is what a restore has, whatever fails or ends.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "a campaign says how long it was")]

mod bodies;
mod erasures;
mod faulty;
mod kills;
#[cfg(feature = "cloud")]
mod moto;
mod random;
mod refusals;
mod ship;
mod store;
