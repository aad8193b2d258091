//! The trait that each format that is written implements once, in all its serializations.
//!
//! Archives and JSON lines hold copies of grains: they convert nothing, and have no writer here.

use std::io::Write;

use crate::code::ErrorCode;
use crate::grain::Grain;
use crate::interchange::export::Files;
use crate::interchange::{Entries, Error, Format, Place, WriteOptions, Written};

/// Grains that are written to one format.
pub(crate) struct Export<'a, E> {
    pub(crate) format: Format,
    pub(crate) entries: &'a dyn Entries<Error = E>,
    pub(crate) options: &'a WriteOptions,
}

/// One format as it is written, in all its serializations.
///
/// The grains are classified in one reading (which of them are records, what all of them say), and
/// written in another: no writer holds them all.
pub(crate) trait FormatWriter<E: From<Error> + Send> {
    /// Writes a file of a format that is one of this writer's.
    ///
    /// # Errors
    /// `ERR_IO`; what the format refuses; those of reading the grains.
    fn write(&self, export: &Export<'_, E>, out: &mut dyn Write) -> Result<Written, E>;

    /// Writes the files of a memory, in a format that has several.
    ///
    /// # Errors
    /// As [`Self::write`]; `ERR_UNSUPPORTED` for a format of one file.
    fn write_files(&self, _: &Export<'_, E>, _files: &mut dyn Files<E>) -> Result<Written, E> {
        let message = "the format has one file".to_owned();
        Err(Error::format(ErrorCode::Unsupported, Place::File, message).into())
    }

    /// Returns whether the vector of a grain is no loss: it is in the file, or the writer counts it.
    fn holds_vector(&self, _grain: &Grain, _options: &WriteOptions) -> bool {
        false
    }

    /// Returns whether it can be written without the ids of platforms.
    fn is_redacted(&self) -> bool {
        false
    }
}
