//! Reading a store: a validation pass over all of it, then the passes that build its records.

pub(super) mod build;
pub(super) mod build_memory;
pub(super) mod convert;
pub(super) mod faults;
pub(super) mod record_pass;
pub(super) mod standalone;
pub(super) mod store_file;
pub(super) mod validated;
pub(super) mod validation_pass;
pub(super) mod vectors;
