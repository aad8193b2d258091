//! AIMEM as a [`FormatWriter`].

use std::io::Write;

use super::reader::Aimem;
use super::{write, write_stream};
use crate::grain::Grain;
use crate::interchange::formats::format_writer::{Export, FormatWriter};
use crate::interchange::{Error, Format, WriteOptions, Written};

impl<E: From<Error> + Send> FormatWriter<E> for Aimem {
    fn write(&self, export: &Export<'_, E>, mut out: &mut dyn Write) -> Result<Written, E> {
        match export.format {
            Format::AimemNdjson => write_stream(&mut out, export.entries, export.options),
            _ => write(&mut out, export.entries, export.options),
        }
    }

    /// A bundle counts those that it is to hold or came with itself.
    fn holds_vector(&self, grain: &Grain, options: &WriteOptions) -> bool {
        options.with_embeddings || grain.field("embedding_refs").is_some()
    }
}
