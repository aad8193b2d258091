//! JSON documents and lines read record by record, in bounded memory.

mod chunked;
mod records;
mod scan;
mod stream;
pub(super) mod strict;
#[cfg(test)]
mod tests;

pub(super) use chunked::in_order;
pub(super) use records::{Broken, Pieces};
pub(super) use stream::{BUFFER_LEN, Spot, in_array};
