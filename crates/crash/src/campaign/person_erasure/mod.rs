//! The attacker of an erasure on the store itself (F9): holds the master key, every byte of every
//! file, and every backup that was ever made, and must not recover the key or a word of a person whose
//! erasure was acknowledged.
//!
//! A workload of sealed and plain persons adds, stores, deletes, erases, renews and backs up, in one
//! process or two. Each crash state is attacked as it is and after recovery, and held to the persons
//! and grains that may be there: no living person is lost, no erased one comes back, out of an old
//! backup neither.

mod campaign;
mod older_files;
mod recovery;
mod rotten_vault;
mod plant;
mod workload;

pub use campaign::{PersonErasure, PersonErasureReport};
pub use plant::Planted;
