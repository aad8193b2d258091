//! Writing a memory store and the files beside it as one ZIP archive.

use std::io::{self, Seek, Write};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::codec::Value;
use crate::interchange::Error;

use super::super::names::STORE;
use super::super::write::document::{Document, EMBEDDINGS};

impl Document {
    /// Writes the store and the files beside it as one ZIP archive.
    ///
    /// # Errors
    /// `ERR_IO`.
    pub fn write_zip(&self, out: impl Write) -> Result<(), Error> {
        let store = std::iter::once((STORE, &self.store));
        let files = self.conversations.iter();
        let files = files.map(|(path, value)| (path.as_str(), value));
        let files = files.chain(self.embeddings.iter().map(|value| (EMBEDDINGS, value)));
        let mut zip = ZipWriter::new_stream(out);
        for (path, value) in store.chain(files) {
            write_one(&mut zip, path, value)?;
        }
        zip.finish()
            .map(drop)
            .map_err(|error| io::Error::from(error).into())
    }
}

fn write_one<W: Write + Seek>(zip: &mut ZipWriter<W>, path: &str, value: &Value) -> io::Result<()> {
    zip.start_file(path, SimpleFileOptions::default())?;
    writeln!(zip, "{}", value.to_json())
}
