//! Several processes that have one store open: the order of those that write (`turns.rs`), the right to
//! write that one of them keeps (`seat.rs`), the part of each (`peers.rs`), the thread that looks for news (`idle.rs`), and on which file systems their locks hold
//! (`file_system.rs`). How one takes in what the others wrote is in `../follow.rs`.

mod idle;
mod seat;
mod turns;
mod peers;
mod file_system;

pub(crate) use file_system::authorize_locks;
pub use file_system::untrusted_file_system;
pub(super) use idle::Idle;
pub(super) use peers::Peers;
pub(super) use seat::Begun;
pub(crate) use turns::Reach;
pub(super) use turns::{Turn, Turns};
