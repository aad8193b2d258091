//! One file of an export, read from its beginning as often as needed.
//!
//! It may be a file, bytes in memory, or an entry of a ZIP or TAR archive, which is decompressed anew
//! each time. Directories are for [`FileSet`](super::file_set::FileSet).

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use zip::ZipArchive;

use crate::interchange::Error;
use crate::interchange::json::VALUE_LEN_MAX;
use crate::process::Mutex;

use super::listing::zip_error;
use super::tar::{TarArchive, is_gzip};
use super::zip::is_zip;

/// The input of a reader.
#[derive(Clone, Copy)]
pub(crate) enum Input<'a> {
    /// A file or a directory.
    Path(&'a Path),
    /// The content of a file.
    Bytes(&'a [u8]),
    /// An open file, such as one that is decrypted while it is read.
    Shared(&'a SharedSource),
}

impl Input<'_> {
    /// Opens a file.
    pub(crate) fn open(self) -> io::Result<SharedSource> {
        match self {
            Self::Path(path) => match held(path)? {
                Some(bytes) => Ok(SharedSource::of(Bytes::InMemory(bytes.into()))),
                None => Ok(SharedSource::of_file(File::open(path)?)),
            },
            Self::Bytes(bytes) => Ok(SharedSource::of(Bytes::InMemory(bytes.into()))),
            Self::Shared(source) => Ok(SharedSource::of(source.bytes.clone())),
        }
    }

    /// Opens a file behind a buffer.
    pub(crate) fn buffered(self) -> io::Result<BufReader<SharedSource>> {
        Ok(BufReader::with_capacity(BUFFER_LEN, self.open()?))
    }
}

/// Returns the content of what cannot be read twice, such as a pipe; `None` for a file or a
/// directory.
///
/// # Errors
/// Why it cannot be read; `FileTooLarge` past [`HELD_LEN_MAX`], since a device has no end.
fn held(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let kind = std::fs::metadata(path)?.file_type();
    if kind.is_file() || kind.is_dir() {
        return Ok(None);
    }
    let what = "a pipe or a device";
    up_to(File::open(path)?, HELD_LEN_MAX, what).map(Some)
}

/// Reads all bytes of an input, or refuses it.
pub(crate) fn up_to(input: impl Read, len_max: usize, what: &str) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(len_max).unwrap_or(u64::MAX).saturating_add(1);
    input.take(limit).read_to_end(&mut bytes)?;
    if bytes.len() > len_max {
        let message = format!("{what} of more than {} MiB is not read", len_max >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

/// A file, wherever it is.
#[derive(Clone)]
pub(crate) enum SourceFile {
    Whole(SharedSource),
    Packed(ZipArchive<SharedSource>, usize),
    Tarred(TarArchive, usize),
}

/// An open file or bytes in memory; clones share it, and each has a position of its own.
#[derive(Clone)]
pub(crate) struct SharedSource {
    bytes: Bytes,
    at: u64,
}

#[derive(Clone)]
enum Bytes {
    File(Arc<File>),
    InMemory(Arc<[u8]>),
    Decrypted(Arc<Mutex<Decrypted>>),
}

/// An encrypted file in the clear, a chunk at a time.
struct Decrypted {
    clear: Box<dyn ReadSeek>,
    /// The position of `clear`, and its length: both in bytes.
    at: u64,
    len: u64,
}

/// A reader that can go back.
pub(super) trait ReadSeek: Read + Seek + Send {}

impl<T: Read + Seek + Send> ReadSeek for T {}

impl Decrypted {
    fn read_at(&mut self, out: &mut [u8], at: u64) -> io::Result<usize> {
        if at >= self.len {
            return Ok(0);
        }
        if at != self.at {
            // Until the position is known again.
            self.at = u64::MAX;
            self.clear.seek(SeekFrom::Start(at))?;
            self.at = at;
        }
        let len = self.clear.read(out)?;
        self.at = at.saturating_add(u64::try_from(len).unwrap_or(u64::MAX));
        Ok(len)
    }
}

/// A reader that can skip bytes.
trait Skip: BufRead {
    fn skip(&mut self, len: u64) -> io::Result<()>;
}

/// A file read from front to back; it seeks forwards only.
pub(crate) struct ForwardReader<'a> {
    input: &'a mut dyn Skip,
    at: u64,
}

impl SourceFile {
    /// Opens a file.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Input::Path(path).open().map(Self::Whole)
    }

    /// Reads the file from its beginning, through a buffer of that size.
    ///
    /// # Errors
    /// Why it cannot be opened; what happens after that is for `work`.
    pub(crate) fn read<T>(
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
                // An entry that decompresses to more than it declares must not fill the memory.
                let len = entry.size();
                let entry = LengthChecked { entry, left: len };
                let mut input = Decompressed(BufReader::with_capacity(buffer_len, entry));
                Ok(work(ForwardReader::new(&mut input)))
            }
            Self::Tarred(archive, index) => {
                let file = archive.file(*index).ok_or(io::ErrorKind::NotFound)?;
                let mut input = Decompressed(BufReader::with_capacity(buffer_len, file));
                Ok(work(ForwardReader::new(&mut input)))
            }
        }
    }

    /// Returns the first bytes.
    pub(crate) fn head(&self, len: u64) -> io::Result<Vec<u8>> {
        let mut head = Vec::new();
        self.read(HEAD_BUFFER_LEN, |input| {
            input.take(len).read_to_end(&mut head)
        })??;
        Ok(head)
    }

    /// Returns all bytes of a file that is parsed as a whole.
    ///
    /// # Errors
    /// Why it cannot be read; `FileTooLarge` past the length of a value.
    pub(crate) fn bytes(&self) -> io::Result<Vec<u8>> {
        let what = "a document without an array of records";
        self.read(HEAD_BUFFER_LEN, |input| up_to(input, VALUE_LEN_MAX, what))?
    }

    /// Returns the error of a failure to read; a failure inside an archive is the archive's.
    pub(crate) fn error(&self, name: &str, source: io::Error) -> Error {
        match self {
            Self::Whole(_) => source.into(),
            Self::Packed(..) | Self::Tarred(..) => zip_error(name, source.to_string()),
        }
    }
}

impl SharedSource {
    const fn of(bytes: Bytes) -> Self {
        Self { bytes, at: 0 }
    }

    pub(crate) fn of_file(file: File) -> Self {
        Self::of(Bytes::File(Arc::new(file)))
    }

    /// Shares the content of an encrypted file; every byte of it is authenticated first.
    ///
    /// # Errors
    /// Why it cannot be decrypted.
    pub(super) fn decrypted(mut clear: Box<dyn ReadSeek>) -> io::Result<Self> {
        let len = io::copy(&mut clear, &mut io::sink())?;
        let at = len;
        let decrypted = Decrypted { clear, at, len };
        Ok(Self::of(Bytes::Decrypted(Arc::new(Mutex::new(decrypted)))))
    }

    /// Holds the first bytes of a reader in memory, at most so many.
    ///
    /// # Errors
    /// As the reader.
    #[cfg(feature = "sealing")]
    pub(super) fn held(input: impl Read, len_max: u64) -> io::Result<Self> {
        let mut bytes = Vec::new();
        input.take(len_max).read_to_end(&mut bytes)?;
        Ok(Self::of(Bytes::InMemory(bytes.into())))
    }

    /// Returns whether the content is in memory.
    pub(crate) const fn is_held(&self) -> bool {
        matches!(self.bytes, Bytes::InMemory(_))
    }

    /// Returns whether this starts as a ZIP archive does.
    pub(crate) fn is_zip(&self) -> io::Result<bool> {
        Ok(is_zip(&SourceFile::Whole(self.clone()).head(4)?))
    }

    /// Returns whether this starts as a file that gzip has compressed.
    pub(super) fn is_gzip(&self) -> io::Result<bool> {
        Ok(is_gzip(&SourceFile::Whole(self.clone()).head(4)?))
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
            Bytes::InMemory(bytes) => {
                let at = usize::try_from(self.at).unwrap_or(usize::MAX);
                bytes.get(at..).unwrap_or_default().read(out)?
            }
            Bytes::Decrypted(file) => file.lock().read_at(out, self.at)?,
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
            (SeekFrom::End(by), Bytes::InMemory(bytes)) => {
                let len = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
                len.checked_add_signed(by)
            }
            (SeekFrom::End(by), Bytes::Decrypted(file)) => file.lock().len.checked_add_signed(by),
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

/// A compressed file: bytes that are skipped must be decompressed all the same.
struct Decompressed<R: Read>(BufReader<R>);

impl<R: Read> Read for Decompressed<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.0.read(out)
    }
}

impl<R: Read> BufRead for Decompressed<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.0.fill_buf()
    }

    fn consume(&mut self, len: usize) {
        self.0.consume(len);
    }
}

impl<R: Read> Skip for Decompressed<R> {
    fn skip(&mut self, len: u64) -> io::Result<()> {
        io::copy(&mut (&mut self.0).take(len), &mut io::sink()).map(drop)
    }
}

/// Refuses to return more bytes than the entry declares.
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

/// The most bytes of a pipe or a device; they are copied once.
const HELD_LEN_MAX: usize = 32 * 1024 * 1024;
const HEAD_BUFFER_LEN: usize = 8 * 1024;
/// Large enough that system calls cost nothing beside the rest.
const BUFFER_LEN: usize = 256 * 1024;

/// Returns the only entry of an archive.
#[cfg(test)]
pub(crate) fn packed(bytes: &[u8]) -> SourceFile {
    let mut zip = zip::ZipWriter::new(io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    zip.start_file("x", options).unwrap();
    io::Write::write_all(&mut zip, bytes).unwrap();
    let zip = Input::Bytes(zip.finish().unwrap().get_ref())
        .open()
        .unwrap();
    SourceFile::Packed(ZipArchive::new(zip).unwrap(), 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_reads_the_same_each_time_and_skips_forwards() {
        let bytes: Vec<u8> = (0..=255).cycle().take(100_000).collect();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &bytes).unwrap();
        let files = [
            SourceFile::Whole(Input::Bytes(&bytes).open().unwrap()),
            SourceFile::open(file.path()).unwrap(),
            packed(&bytes),
        ];
        for part in files {
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
