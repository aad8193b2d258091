//! From a draft to a request: puts are finished and prepared; texts wait for their vectors.

mod embed;
mod put;

pub(crate) use embed::{embed_waiting, embedder_statuses, keep_embedded, next_to_embed};
#[cfg(feature = "text")]
pub(crate) use embed::{embedded, embedder};
pub use put::{NewGrain, Put};
pub(crate) use put::{put, put_batch, put_one};
