//! Lineages: walking them, replacing their heads, and what protects a grain along them.

mod change;
mod heads;
mod implicit;
mod protection;
mod supersede;
mod walk;

pub(crate) use change::Change;
pub use heads::{Fork, Heads};
pub(crate) use protection::EffectiveProtection;
