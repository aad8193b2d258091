//! From a draft to an acknowledged entry: puts are finished, admitted, and written in frames.

mod admission;
mod group;
mod put;
mod writer;

pub use put::NewGrain;
