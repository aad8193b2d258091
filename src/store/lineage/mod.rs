//! Lineages: walks along them, their heads, supersession, and the effective protection of a grain.

mod change;
mod heads;
mod supersede;

pub(crate) use change::Change;
pub(crate) use heads::heads;
pub use heads::{Fork, Heads};
pub(crate) use supersede::supersede;
