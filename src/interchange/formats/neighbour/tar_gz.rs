//! Writing the files of a memory as one TAR archive that is compressed with gzip.
//!
//! The length of a file stands before it, so each is written twice: to count its bytes, and for good.

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::interchange::Error;
use crate::interchange::export::Files;

/// The files of a memory in one archive.
pub(crate) struct TarGz<W: Write>(GzEncoder<W>);

/// Counts the bytes that are written to it, and passes them on.
struct Counted<W> {
    out: W,
    len: u64,
}

impl<W: Write> TarGz<W> {
    /// Starts an archive.
    pub(crate) fn new(out: W) -> Self {
        Self(GzEncoder::new(out, Compression::default()))
    }

    /// Ends it.
    ///
    /// # Errors
    /// `ERR_IO`.
    pub(crate) fn finish(mut self) -> Result<W, Error> {
        self.0.write_all(&[0; 2 * BLOCK_LEN])?;
        Ok(self.0.finish()?)
    }
}

impl<E: From<Error>, W: Write> Files<E> for TarGz<W> {
    fn write(
        &mut self,
        path: &str,
        write: &mut dyn FnMut(&mut dyn Write) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut counted = Counted {
            out: io::sink(),
            len: 0,
        };
        write(&mut counted)?;
        let len = counted.len;
        let mut header = tar::Header::new_gnu();
        header.set_path(path).map_err(Error::from)?;
        header.set_size(len);
        header.set_mode(0o600);
        header.set_cksum();
        self.0.write_all(header.as_bytes()).map_err(Error::from)?;
        let mut written = Counted {
            out: &mut self.0,
            len: 0,
        };
        write(&mut written)?;
        if written.len != len {
            let changed = "a grain was erased while the archive was written";
            return Err(Error::from(io::Error::other(changed)).into());
        }
        let block_len = u64::try_from(BLOCK_LEN).unwrap_or(u64::MAX);
        let missing = len.next_multiple_of(block_len).saturating_sub(len);
        let padding = [0; BLOCK_LEN];
        let padding = padding.get(..usize::try_from(missing).unwrap_or(0));
        let padded = self.0.write_all(padding.unwrap_or_default());
        padded.map_err(|source| Error::from(source).into())
    }

    fn may_be_many(&self) -> bool {
        true
    }
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = self.out.write(bytes)?;
        let written = u64::try_from(len).unwrap_or(u64::MAX);
        self.len = self.len.saturating_add(written);
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The unit of an archive.
const BLOCK_LEN: usize = 512;
