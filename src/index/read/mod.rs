//! Reading: snapshots, and scans of keys with a common prefix.
//!
//! A scan answers with rows. Planning and evaluating a query are in the query room.

pub(super) mod key_range;
pub(super) mod scan;
pub(super) mod snapshot;
pub(super) mod column;
mod current_grains;
