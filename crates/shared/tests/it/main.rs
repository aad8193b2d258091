//! The sequence that stores share: the rules on each kind of it, the faults of a server, and stores on
//! several nodes.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::panic, reason = "a test fails by panicking")]
#![expect(
    clippy::print_stdout,
    reason = "a test says what it skipped and what it saw"
)]

mod failovers;
mod faults;
mod faulty;
mod histories;
#[path = "../linear/mod.rs"]
mod linear;
mod nodes;
mod planted;
mod policies;
mod scale;
mod server;
mod suite;
mod turmoil;
mod turns;
