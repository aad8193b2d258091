//! Writing a memory store and the files beside it as one ZIP archive.

use std::io::{self, Write};

use zip::ZipWriter;
use zip::write::{SimpleFileOptions, StreamWriter};

use crate::interchange::Error;
use crate::interchange::export::Files;

/// The files of a store in one archive.
pub(crate) struct Archive<W: Write>(ZipWriter<StreamWriter<W>>);

impl<W: Write> Archive<W> {
    /// Starts an archive.
    pub(crate) fn new(out: W) -> Self {
        Self(ZipWriter::new_stream(out))
    }

    /// Ends it.
    ///
    /// # Errors
    /// `ERR_IO`.
    pub(crate) fn finish(self) -> Result<(), Error> {
        let finished = self.0.finish();
        finished.map(drop).map_err(io_error)
    }
}

impl<E: From<Error>, W: Write> Files<E> for Archive<W> {
    fn write(
        &mut self,
        path: &str,
        write: &mut dyn FnMut(&mut dyn Write) -> Result<(), E>,
    ) -> Result<(), E> {
        let options = SimpleFileOptions::default();
        self.0.start_file(path, options).map_err(io_error)?;
        write(&mut self.0)
    }

    fn may_be_many(&self) -> bool {
        true
    }
}

fn io_error(error: zip::result::ZipError) -> Error {
    io::Error::from(error).into()
}
