//! PAM as a [`FormatWriter`].

use std::io::Write;

use super::reader::Pam;
use super::write::store::{write, write_files};
use crate::grain::Grain;
use crate::interchange::export::Files;
use crate::interchange::formats::format_writer::FormatWriter;
use crate::interchange::{Entries, Error, Format, WriteOptions, Written};

impl<E: From<Error> + Send> FormatWriter<E> for Pam {
    fn write(
        &self,
        _format: Format,
        mut out: &mut dyn Write,
        entries: &dyn Entries<Error = E>,
        options: &WriteOptions,
    ) -> Result<Written, E> {
        write(&mut out, entries, options)
    }

    fn write_files(
        &self,
        mut files: &mut dyn Files<E>,
        entries: &dyn Entries<Error = E>,
        options: &WriteOptions,
    ) -> Result<Written, E> {
        write_files(&mut files, entries, options)
    }

    /// A store counts those that it does not hold itself.
    fn holds_vector(&self, _grain: &Grain, _options: &WriteOptions) -> bool {
        true
    }

    fn is_redacted(&self) -> bool {
        true
    }
}
