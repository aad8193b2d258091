//! Recovery: a new store from all of a damaged one that still proves itself.

mod copying;
mod persons;
mod plan;
mod recover;
mod report;
mod withdrawals;

pub(crate) use recover::recoverable;
pub(crate) use recover::{recover, recover_on};
pub use report::{Lost, Recovered};
