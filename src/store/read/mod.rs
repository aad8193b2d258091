//! Reading: grains, their status, vectors and signatures, and the record of reads that a regime
//! requires. Queries and searches are in `query`.

mod audit;
mod change;
mod consented;
mod embedding;
mod expiry;
mod get;
mod held;
mod reach;
mod retrieval_counts;
mod review;
mod same_person;
mod signature;
#[cfg(feature = "interchange")]
mod stored_vectors;
mod warnings;

pub use audit::AuditedRead;
#[cfg(feature = "interchange")]
pub(crate) use audit::ReadRecorder;
pub(crate) use audit::{forget_reads, read_recorder, reads};
#[cfg(feature = "interchange")]
pub(crate) use change::rows_changed_from;
pub use change::{Change, Changed};
pub(crate) use change::{change_at, entry_at};
pub(crate) use consented::{is_documented, keep_readable, unconsented};
pub use embedding::Embedding;
#[cfg(feature = "text")]
pub(crate) use embedding::cosines;
pub(crate) use embedding::{
    Lengths, embedding, judge_embedding, nearest_rows, put_embeddings, vector_of, without_vector,
};
pub(crate) use expiry::{expired, now};
pub use get::AddressList;
pub(crate) use get::{
    exists, find, get, get_batch, history, list, newest_versions, peek, record_reads, resolve,
    starting_with, status, unless_erased, version_at,
};
#[cfg(feature = "interchange")]
pub(crate) use get::{is_still_there, sound_version_at, unindexed_damage};
pub(crate) use held::{held, locked_persons};
pub(crate) use reach::{authorize_reach, begin_about, reached, reaches};
pub(crate) use retrieval_counts::{accesses, retrieved};
pub use review::Review;
pub(crate) use review::reviews_in;
pub(crate) use review::{grain_awaits_review, may_rely_on, unreviewed};
pub(crate) use same_person::{SAME_PERSON, person_of_user, united, unites};
pub(crate) use signature::{delivery, signature};
#[cfg(feature = "interchange")]
pub(crate) use stored_vectors::{row_of, stored_vector, vector_rows};
pub(crate) use warnings::warnings;
#[cfg(feature = "interchange")]
pub(crate) use warnings::{beside, named_by};
