pub(crate) mod audit;
pub(crate) mod expiry;
pub(crate) mod get;
pub(crate) mod retrieval_counts;
pub(crate) mod signature;
