//! OMI-AI as a [`FormatWriter`].

use std::io::Write;

use super::reader::Omi;
use super::{write, write_lines};
use crate::interchange::formats::format_writer::FormatWriter;
use crate::interchange::{Entries, Error, Format, WriteOptions, Written};

impl<E: From<Error> + Send> FormatWriter<E> for Omi {
    fn write(
        &self,
        format: Format,
        mut out: &mut dyn Write,
        entries: &dyn Entries<Error = E>,
        options: &WriteOptions,
    ) -> Result<Written, E> {
        match format {
            Format::OmiJsonl => write_lines(&mut out, entries, options),
            _ => write(&mut out, entries, options),
        }
    }

    fn is_redacted(&self) -> bool {
        true
    }
}
