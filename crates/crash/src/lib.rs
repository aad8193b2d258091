//! The shipped store on a simulated disk: crashes, faults and lies, each replayed from a seed.
//!
//! A workload runs once on a disk that logs every change. From each prefix of the log this derives
//! what a crash may leave, opens a store on it, and holds it to a plain map; then it crashes the
//! recovery. `docs/reliability.md` says what is simulated, and what came of it.

mod random;
mod op;
mod image;
mod fault;
mod disk;
mod platter;
mod draft;
mod model;
mod options;
mod oracle;
mod run;
mod steps;
mod crash;
mod campaign;
mod sweep;
mod frames;
mod planted;
mod flips;
mod ops;
mod arguments;

pub use arguments::{Arguments, STEPS};
pub use campaign::{Campaign, Report};
pub use flips::{Flips, FlipsOfFile, flips};
pub use ops::{random_ops, store_ops};
pub use planted::{Found, planted};
pub use sweep::{Sweep, SweepReport};
