//! Handles on a store, and what they are used for.

mod access;
mod handoff;

pub use access::Access;
pub use handoff::{HandedBack, HandedOff, Handoff};
