//! Erasure: deleting grains so that nothing of them stays, and keeping them from coming back.

mod delete;
mod erase;
mod tombstones;
mod withdrawn;

pub use withdrawn::{ErasureReport, PendingErasure};
