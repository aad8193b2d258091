//! From a draft to a request: puts are finished and prepared; texts wait for their vectors.

mod embed;
mod put;

pub(crate) use embed::{embed_waiting, embedder_statuses, keep_embedded, next_to_embed};
pub use put::NewGrain;
pub(crate) use put::put_one;
