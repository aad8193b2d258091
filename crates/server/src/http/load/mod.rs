//! How much a server takes at a time, and how callers share it.

mod limits;
mod places;
mod streams;

pub use limits::Limits;
pub(crate) use places::{Caller, Place, Places};
pub(crate) use streams::Streams;
