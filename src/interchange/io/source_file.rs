//! One file of an export, read from its beginning as often as it is wanted.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use zip::ZipArchive;

use crate::interchange::io::file_set::{broken, is_zip};
use crate::interchange::{Error, Place};

/// A file, wherever it is; what is compressed is unpacked anew each time.
#[derive(Clone)]
pub(in crate::interchange) enum SourceFile {
    Whole(SharedSource),
    Packed(ZipArchive<SharedSource>, usize),
}

/// What a file system or memory holds; copies share it, and each has a position of its own.
#[derive(Clone)]
pub(in crate::interchange) struct SharedSource {
    bytes: Bytes,
    at: u64,
}

#[derive(Clone)]
enum Bytes {
    File(Arc<File>),
    Here(Arc<[u8]>),
}

/// What can pass over bytes that nobody wants.
trait Skip: BufRead {
    fn skip(&mut self, len: u64) -> io::Result<()>;
}

/// A file on its way from its beginning to its end; it seeks forward alone.
pub(in crate::interchange) struct ForwardReader<'a> {
    input: &'a mut dyn Skip,
    at: u64,
}

impl SourceFile {
    /// Opens a file; one that cannot be read twice is held.
    pub(in crate::interchange) fn at(path: &Path) -> io::Result<Self> {
        if !path.is_file() {
            return Ok(Self::Whole(SharedSource::here(&std::fs::read(path)?)));
        }
        Ok(Self::Whole(SharedSource {
            bytes: Bytes::File(Arc::new(File::open(path)?)),
            at: 0,
        }))
    }

    /// Reads the file from its beginning, a buffer of so many bytes at a time.
    ///
    /// # Errors
    /// What keeps it from being opened; what happens after that is for `work`.
    pub(in crate::interchange) fn read<T>(
        &self,
        buffer_len: usize,
        work: impl FnOnce(ForwardReader<'_>) -> T,
    ) -> io::Result<T> {
        match self {
            Self::Whole(raw) => {
                let mut input = BufReader::with_capacity(buffer_len, raw.clone());
                Ok(work(ForwardReader::new(&mut input)))
            }
            Self::Packed(archive, index) => {
                let mut archive = archive.clone();
                let entry = archive.by_index(*index).map_err(io::Error::other)?;
                // What unpacks to more than it says must not fill the memory of whoever believed it.
                let len = entry.size();
                let entry = LengthChecked { entry, left: len };
                let mut input = Unpacked(BufReader::with_capacity(buffer_len, entry));
                Ok(work(ForwardReader::new(&mut input)))
            }
        }
    }

    /// Returns the first bytes.
    pub(in crate::interchange) fn head(&self, len: u64) -> io::Result<Vec<u8>> {
        let mut head = Vec::new();
        self.read(HEAD_BUFFER_LEN, |input| {
            input.take(len).read_to_end(&mut head)
        })??;
        Ok(head)
    }

    /// Returns all bytes, whatever memory that takes.
    pub(in crate::interchange) fn bytes(&self) -> io::Result<Vec<u8>> {
        self.head(u64::MAX)
    }

    /// Returns whether this is a ZIP archive.
    pub(in crate::interchange) fn is_zip(&self) -> io::Result<bool> {
        match self {
            Self::Whole(raw) => raw.is_zip(),
            Self::Packed(..) => Ok(false),
        }
    }

    /// Says where a failure to read happened: what is wrong inside an archive is its fault.
    pub(in crate::interchange) fn wrong(&self, name: &str, source: io::Error) -> Error {
        match self {
            Self::Whole(_) => Error::Io {
                place: Place::File,
                source,
            },
            Self::Packed(..) => broken(name, source.to_string()),
        }
    }
}

impl SharedSource {
    pub(in crate::interchange) fn here(bytes: &[u8]) -> Self {
        Self {
            bytes: Bytes::Here(bytes.into()),
            at: 0,
        }
    }

    /// Returns whether this starts as a ZIP archive does.
    pub(in crate::interchange) fn is_zip(&self) -> io::Result<bool> {
        Ok(is_zip(&SourceFile::Whole(self.clone()).head(4)?))
    }
}

impl Read for SharedSource {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let len = match &self.bytes {
            Bytes::File(file) => {
                let mut file = &**file;
                file.seek(SeekFrom::Start(self.at))?;
                file.read(out)?
            }
            Bytes::Here(bytes) => {
                let at = usize::try_from(self.at).unwrap_or(usize::MAX);
                bytes.get(at..).unwrap_or_default().read(out)?
            }
        };
        self.at = self
            .at
            .saturating_add(u64::try_from(len).unwrap_or(u64::MAX));
        Ok(len)
    }
}

impl Seek for SharedSource {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match (to, &self.bytes) {
            (SeekFrom::Start(at), _) => Some(at),
            (SeekFrom::Current(by), _) => self.at.checked_add_signed(by),
            (SeekFrom::End(by), Bytes::File(file)) => file.metadata()?.len().checked_add_signed(by),
            (SeekFrom::End(by), Bytes::Here(bytes)) => {
                let len = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
                len.checked_add_signed(by)
            }
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

impl Skip for BufReader<SharedSource> {
    fn skip(&mut self, len: u64) -> io::Result<()> {
        let len = i64::try_from(len).map_err(|_| io::ErrorKind::InvalidInput)?;
        self.seek_relative(len)
    }
}

/// A compressed file: what is passed over must be unpacked all the same.
struct Unpacked<R: Read>(BufReader<R>);

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.0.read(out)
    }
}

impl<R: Read> BufRead for Unpacked<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.0.fill_buf()
    }

    fn consume(&mut self, len: usize) {
        self.0.consume(len);
    }
}

impl<R: Read> Skip for Unpacked<R> {
    fn skip(&mut self, len: u64) -> io::Result<()> {
        io::copy(&mut (&mut self.0).take(len), &mut io::sink()).map(drop)
    }
}

/// Refuses to give more bytes than were promised.
struct LengthChecked<R> {
    entry: R,
    left: u64,
}

impl<R: Read> Read for LengthChecked<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let len = self.entry.read(out)?;
        let read = u64::try_from(len).unwrap_or(u64::MAX);
        let left = self.left.checked_sub(read);
        self.left = left.ok_or_else(|| io::Error::other("unpacks to more than it says"))?;
        Ok(len)
    }
}

impl<'a> ForwardReader<'a> {
    fn new(input: &'a mut dyn Skip) -> Self {
        Self { input, at: 0 }
    }
}

impl Read for ForwardReader<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let len = self.input.read(out)?;
        self.at = self
            .at
            .saturating_add(u64::try_from(len).unwrap_or(u64::MAX));
        Ok(len)
    }
}

impl BufRead for ForwardReader<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.input.fill_buf()
    }

    fn consume(&mut self, len: usize) {
        self.at = self
            .at
            .saturating_add(u64::try_from(len).unwrap_or(u64::MAX));
        self.input.consume(len);
    }
}

impl Seek for ForwardReader<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let to = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(_) => None,
        };
        let len = to.and_then(|to| to.checked_sub(self.at));
        self.input.skip(len.ok_or(io::ErrorKind::Unsupported)?)?;
        self.at = to.unwrap_or(self.at);
        Ok(self.at)
    }
}

const HEAD_BUFFER_LEN: usize = 8 * 1024;

/// Returns what comes out of an archive that holds nothing else.
#[cfg(test)]
pub(in crate::interchange) fn packed(bytes: &[u8]) -> SourceFile {
    let mut zip = zip::ZipWriter::new(io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    zip.start_file("x", options).unwrap();
    io::Write::write_all(&mut zip, bytes).unwrap();
    let zip = SharedSource::here(zip.finish().unwrap().get_ref());
    SourceFile::Packed(ZipArchive::new(zip).unwrap(), 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_reads_the_same_each_time_and_passes_over_what_nobody_wants() {
        let bytes: Vec<u8> = (0..=255).cycle().take(100_000).collect();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &bytes).unwrap();
        let parts = [
            SourceFile::Whole(SharedSource::here(&bytes)),
            SourceFile::at(file.path()).unwrap(),
            packed(&bytes),
        ];
        for part in parts {
            assert!(part.bytes().unwrap() == bytes);
            assert_eq!(part.head(9).ok().as_deref(), bytes.get(..9));
            let tail = part.read(300, |mut input| {
                assert!(input.seek(SeekFrom::Start(700)).is_ok());
                input.fill_buf().unwrap();
                input.consume(1);
                assert_eq!(input.seek(SeekFrom::Start(99_000)).unwrap(), 99_000);
                assert!(input.seek(SeekFrom::Start(5)).is_err());
                let mut tail = Vec::new();
                input.read_to_end(&mut tail).unwrap();
                tail
            });
            assert!(bytes.get(99_000..) == Some(&*tail.unwrap()));
        }
    }

    #[test]
    fn what_unpacks_to_more_than_it_says_is_refused() {
        let mut short = LengthChecked {
            entry: &b"12345"[..],
            left: 4,
        };
        assert!(short.read_to_end(&mut Vec::new()).is_err());
    }
}
