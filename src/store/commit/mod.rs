//! From a draft to an acknowledged entry: puts are finished, admitted, and written in frames. The
//! queue itself is in `instance`.

mod admission;
mod embed;
mod group;
mod put;
mod signature;
mod writer;

pub use put::NewGrain;
pub(crate) use signature::stronger_signature;
