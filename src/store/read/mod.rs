//! Reading: grains, their status, vectors and signatures, with the record of reads that a regime
//! asks for.

mod audit;
mod embedding;
mod expiry;
mod get;
mod lookup;
mod retrieval_counts;
mod signature;

pub use audit::AuditedRead;
pub use embedding::Embedding;
pub(crate) use embedding::Lengths;
pub use get::{Page, Version};
pub use signature::Signature;
