//! The attacker of an erasure: holds the master key and every byte of every file, free pages and
//! what a crash left among them, and must not recover a key whose destruction was acknowledged.
//!
//! A workload adds and erases persons. Each crash state is attacked as it is and after recovery, and
//! held to the persons that may be there: none is lost, none comes back, every vault opens.

pub(super) mod attacker;
mod campaign;
mod faults;
pub(super) mod workload;

pub use campaign::{KeyErasure, KeyErasureReport};
pub use faults::key_erasure_faults;
