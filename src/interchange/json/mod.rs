//! JSON documents and lines read record by record, in bounded memory.

mod chunked;
mod records;
mod scan;
mod stream;
pub(super) mod strict;
#[cfg(test)]
mod tests;

pub(super) use chunked::read_in_order;
pub(super) use records::{JsonError, JsonRecords};
pub(super) use stream::{BUFFER_LEN, Position, stream_array};
