//! The shipped store on a simulated disk: crashes, faults and lies, each replayed from a seed.
//!
//! A workload runs once on a disk that logs every change. From each prefix of the log this derives
//! what a crash may leave, opens a store on it, and holds it to a plain map; then it crashes the
//! recovery. `docs/testing.md` says what is simulated, and what came of it.

mod random;
mod disk;
mod workload;
mod campaign;
mod arguments;

pub use arguments::{Arguments, STEPS};
pub use campaign::backups::{BackupsReport, backups};
pub use campaign::bit_flips::{BitFlips, FileBitFlips, bit_flips};
pub use campaign::crash_states::{Campaign, Report};
pub use campaign::interleaving::{Interleaving, InterleavingReport, shared_faults};
pub use campaign::key_erasure::{KeyErasure, KeyErasureReport, key_erasure_faults};
pub use campaign::person_erasure::{PersonErasure, PersonErasureReport, Planted};
pub use campaign::persons::erase_persons;
#[cfg(unix)]
pub use campaign::planted::{open_store, planted_folder, random_planted};
pub use campaign::recover::{Recoveries, recoveries};
pub use campaign::seeded_faults::{FaultOutcome, seeded_faults};
pub use campaign::sweep::{Sweep, SweepReport};
pub use workload::ops::{random_ops, store_ops};
