//! Reading: grains, their status, vectors and signatures, and the record of reads that a regime
//! requires. Queries and searches are in `query`.

mod audit;
mod change;
mod embedding;
mod expiry;
mod get;
mod held;
mod retrieval_counts;
mod same_person;
mod signature;
#[cfg(feature = "interchange")]
mod stored_vectors;
mod warnings;

pub use audit::AuditedRead;
#[cfg(feature = "interchange")]
pub(crate) use audit::ReadRecorder;
pub(crate) use audit::forget_reads;
pub use change::{Change, Changed};
pub use embedding::Embedding;
pub(crate) use embedding::{Lengths, judge_embedding, without_vector};
pub use get::{Page, newest_versions};
pub(crate) use same_person::{SAME_PERSON, person_of_user, united, unites};
#[cfg(feature = "interchange")]
pub(crate) use warnings::{beside, named_by};
