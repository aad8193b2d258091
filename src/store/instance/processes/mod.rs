//! Several processes that have one store open: the order of those that write (`turns.rs`), the part
//! of each (`peers.rs`), how it takes in what the others wrote (`follow.rs`, `idle.rs`), and on which file
//! systems their locks hold (`file_system.rs`).

mod idle;
mod turns;
mod peers;
mod follow;
mod file_system;

pub(super) use file_system::authorize_locks;
pub use file_system::untrusted_file_system;
pub(super) use idle::Idle;
pub(super) use peers::Peers;
pub(super) use turns::{Turn, Turns};
