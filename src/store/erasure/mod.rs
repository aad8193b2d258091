//! Erasure: deleting grains with all their traces, on request or after a withdrawn consent, and
//! refusing to store them again.

mod delete;
mod erase;
mod protections;
mod tombstones;
mod withdrawn;

pub use withdrawn::{ErasureReport, PendingErasure};
