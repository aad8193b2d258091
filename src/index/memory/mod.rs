//! The index in memory: batches, memtables and the address map.
//!
//! All of it can be built anew from the ledger.

pub(super) mod memtable;
pub(super) mod batch;
pub(super) mod address_map;
