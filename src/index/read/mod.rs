//! Questions to the index: a snapshot, and scans of keys that begin alike.

pub(super) mod key_range;
pub(super) mod scan;
pub(super) mod snapshot;
pub(super) mod column;
mod current_grains;
