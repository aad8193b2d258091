//! Several processes that have one store open: the order of those that write (`turns.rs`), the part
//! of each (`peers.rs`), and how it takes in what the others wrote (`follow.rs`, `idle.rs`).

mod idle;
mod turns;
mod peers;
mod follow;

pub(super) use idle::Idle;
pub(super) use peers::Peers;
pub(super) use turns::{Turn, Turns};
