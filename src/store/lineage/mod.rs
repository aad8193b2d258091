//! Lineages: walks along them, their heads, supersession, and the effective protection of a grain.

mod change;
mod heads;
mod supersede;
#[cfg(feature = "interchange")]
mod together;

pub(crate) use change::Change;
pub(crate) use heads::heads;
pub use heads::{Fork, Heads};
pub(crate) use supersede::supersede;
#[cfg(feature = "interchange")]
pub(crate) use together::{Derived, Outcomes, store_together};
