//! AIMEM as a [`FormatWriter`].

use std::io::Write;

use super::reader::Aimem;
use super::{write, write_stream};
use crate::grain::Grain;
use crate::interchange::formats::format_writer::FormatWriter;
use crate::interchange::{Entries, Error, Format, WriteOptions, Written};

impl<E: From<Error> + Send> FormatWriter<E> for Aimem {
    fn write(
        &self,
        format: Format,
        mut out: &mut dyn Write,
        entries: &dyn Entries<Error = E>,
        options: &WriteOptions,
    ) -> Result<Written, E> {
        match format {
            Format::AimemNdjson => write_stream(&mut out, entries, options),
            _ => write(&mut out, entries, options),
        }
    }

    /// A bundle counts those that it is to hold or came with itself.
    fn holds_vector(&self, grain: &Grain, options: &WriteOptions) -> bool {
        options.with_embeddings || grain.field("embedding_refs").is_some()
    }
}
