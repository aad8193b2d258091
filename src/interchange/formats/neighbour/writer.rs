//! The memory stores of other tools as a [`FormatWriter`].

use std::io::Write;

use super::archive::write_archive;
use super::reader::Neighbours;
use super::tar_gz::TarGz;
use super::write::write;
use crate::interchange::export::Files;
use crate::interchange::formats::format_writer::{Export, FormatWriter};
use crate::interchange::{Error, Format, Written};

impl<E: From<Error> + Send> FormatWriter<E> for Neighbours {
    fn write(&self, export: &Export<'_, E>, mut out: &mut dyn Write) -> Result<Written, E> {
        if export.format != Format::Cogx {
            return write(export.format, &mut out, export.entries);
        }
        let mut archive = TarGz::new(&mut out);
        let written = write_archive(&mut archive, export.entries, export.options.now)?;
        archive.finish()?;
        Ok(written)
    }

    fn write_files(
        &self,
        export: &Export<'_, E>,
        mut files: &mut dyn Files<E>,
    ) -> Result<Written, E> {
        write_archive(&mut files, export.entries, export.options.now)
    }
}
