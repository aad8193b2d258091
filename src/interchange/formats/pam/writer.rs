//! PAM as a [`FormatWriter`].

use std::io::Write;

use super::reader::Pam;
use super::write::store::{write, write_files};
use crate::grain::Grain;
use crate::interchange::export::Files;
use crate::interchange::formats::format_writer::{Export, FormatWriter};
use crate::interchange::{Error, WriteOptions, Written};

impl<E: From<Error> + Send> FormatWriter<E> for Pam {
    fn write(&self, export: &Export<'_, E>, mut out: &mut dyn Write) -> Result<Written, E> {
        write(&mut out, export.entries, export.options)
    }

    fn write_files(
        &self,
        export: &Export<'_, E>,
        mut files: &mut dyn Files<E>,
    ) -> Result<Written, E> {
        write_files(&mut files, export.entries, export.options)
    }

    /// A store counts those that it does not hold itself.
    fn holds_vector(&self, _grain: &Grain, _options: &WriteOptions) -> bool {
        true
    }

    fn is_redacted(&self) -> bool {
        true
    }
}
