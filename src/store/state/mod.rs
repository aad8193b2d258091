pub(crate) mod lineage_cache;
pub(crate) mod policy_state;
pub(crate) mod trusted_clock;
pub(crate) mod vectors;
