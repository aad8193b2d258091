//! Lineages: walks along them, their heads, supersession, and the effective protection of a grain.

mod change;
mod heads;
mod implicit;
mod protection;
mod supersede;
mod walk;

pub(crate) use change::Change;
pub use heads::{Fork, Heads};
pub(crate) use implicit::names;
pub(crate) use protection::EffectiveProtection;
