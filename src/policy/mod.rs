//! May this be done? Facts in, verdict out (OMS 23): no disk, no clock.
//!
//! The store gathers the facts, asks, and applies the verdict; nothing else decides.

mod supersession;

pub use supersession::{Mode, Verdict, implies_supersession, supersede};
