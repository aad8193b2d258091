//! The memory stores of other tools as a [`FormatWriter`].

use std::io::Write;

use super::archive::write_archive;
use super::reader::Neighbours;
use super::tar_gz::TarGz;
use super::write::write;
use crate::interchange::export::Files;
use crate::interchange::formats::format_writer::FormatWriter;
use crate::interchange::{Entries, Error, Format, WriteOptions, Written};

impl<E: From<Error> + Send> FormatWriter<E> for Neighbours {
    fn write(
        &self,
        format: Format,
        mut out: &mut dyn Write,
        entries: &dyn Entries<Error = E>,
        options: &WriteOptions,
    ) -> Result<Written, E> {
        if format != Format::Cogx {
            return write(format, &mut out, entries);
        }
        let mut archive = TarGz::new(&mut out);
        let written = write_archive(&mut archive, entries, options.now)?;
        archive.finish()?;
        Ok(written)
    }

    fn write_files(
        &self,
        mut files: &mut dyn Files<E>,
        entries: &dyn Entries<Error = E>,
        options: &WriteOptions,
    ) -> Result<Written, E> {
        write_archive(&mut files, entries, options.now)
    }
}
