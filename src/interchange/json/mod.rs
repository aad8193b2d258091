//! Strict JSON, read record by record in bounded memory.
//!
//! A document or a stream of lines is split into its records by one scanner of brackets and
//! strings; each record is then parsed by itself. This module knows no format: the caller names
//! the arrays whose elements are records, and says what is built of each.

mod chunked;
mod reader;
mod records;
mod scan;
mod stream;
pub(super) mod strict;
#[cfg(test)]
mod tests;

pub(super) use chunked::read_in_order;
pub(super) use reader::{JsonError, VALUE_LEN_MAX};
pub(super) use records::JsonRecords;
pub(super) use scan::{Scanner, Token};
pub(super) use stream::{BUFFER_LEN, Position, stream_array, stream_file, stream_lines};
