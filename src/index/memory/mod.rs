//! What the index holds in memory: sorted keys that are not in a run yet, and the address map.

pub(super) mod memtable;
pub(super) mod batch;
pub(super) mod address_map;
