//! From a draft to a request: puts are finished and prepared, also ahead of their turn; texts wait for their vectors.

mod embed;
mod pipeline;
mod put;

pub(crate) use embed::{embed_waiting, embedder_statuses, keep_embedded, next_to_embed};
#[cfg(feature = "text")]
pub(crate) use embed::{embedded, embedder};
pub(crate) use pipeline::put_batches;
pub use put::{NewGrain, Put};
pub(crate) use put::{put, put_batch, put_one};
