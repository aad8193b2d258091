//! TAR archives that are compressed with gzip: which of their files may be read, and where each begins.
//!
//! Nothing is unpacked to disk. Such an archive has no directory: its files are listed in one pass, which
//! keeps the beginning of each, and each is decompressed from the front of the archive when more of it is
//! read. Names are checked as those of a ZIP archive are, links and devices are no files, and no length that
//! the archive declares is allocated.

use std::io::{self, BufReader, Read};
use std::sync::Arc;

use flate2::read::MultiGzDecoder;
use tar::EntryType;

use crate::interchange::Error;

use super::listing::{LeftOut, Names, UNPACKED_LEN_MAX, is_below, leave_out, zip_error};
use super::source_file::SharedSource;

/// Returns whether a file starts as one that gzip has compressed.
pub(crate) fn is_gzip(head: &[u8]) -> bool {
    head.starts_with(&[0x1f, 0x8b])
}

/// An archive whose files are listed; clones share it.
#[derive(Clone)]
pub(crate) struct TarArchive {
    source: SharedSource,
    files: Arc<Vec<Packed>>,
}

/// A file of an archive: where it begins once all is decompressed, how long it is, and its first bytes.
struct Packed {
    at: u64,
    len: u64,
    head: Vec<u8>,
}

/// A file of an archive that is read from its beginning.
pub(super) struct TarredFile<'a> {
    archive: &'a TarArchive,
    file: &'a Packed,
    read: u64,
    /// `None` until more is read than the archive keeps.
    rest: Option<io::Take<Decoder>>,
}

type Decoder = MultiGzDecoder<BufReader<SharedSource>>;

/// Lists the files of an archive whose names are `wanted`, each with its number, and the others by their
/// endings.
///
/// # Errors
/// `PROVIDER_ZIP`.
pub(super) fn list_files(
    source: SharedSource,
    wanted: fn(&str) -> bool,
) -> Result<(TarArchive, Names, LeftOut), Error> {
    let invalid = |error: io::Error| zip_error("", error.to_string());
    if !is_tar(&source).map_err(invalid)? {
        let message =
            "is one file that gzip has compressed: unpack it first, as with `gunzip --keep`";
        return Err(zip_error("", message.into()));
    }
    let unpacked = decoder(&source).take(UNPACKED_LEN_MAX);
    let mut archive = tar::Archive::new(unpacked);
    let (mut names, mut left_out, mut files) = (Names::new(), LeftOut::new(), Vec::new());
    let (mut long_name, mut heads_len) = (None, 0_usize);
    // Raw, since otherwise a name is read into memory as long as it says it is.
    let entries = archive.entries().map_err(invalid)?.raw(true);
    for entry in entries {
        let mut entry = entry.map_err(invalid)?;
        let kind = entry.header().entry_type();
        if matches!(kind, EntryType::GNULongName | EntryType::XHeader) {
            long_name = name_of(&mut entry, kind).map_err(invalid)?.or(long_name);
            continue;
        }
        let own = entry.path_bytes();
        let name = long_name.take().unwrap_or_else(|| own.into_owned());
        let name = String::from_utf8_lossy(&name);
        let name = name.strip_prefix("./").unwrap_or(&name).to_owned();
        if !is_below(&name) {
            return Err(zip_error(&name, "the name leads out of the archive".into()));
        }
        let last = name.rsplit('/').next().unwrap_or_default();
        if !matches!(kind, EntryType::Regular | EntryType::Continuous) || last.is_empty() {
            continue;
        }
        if !wanted(last) || is_hidden(last) {
            leave_out(&mut left_out, name);
            continue;
        }
        if files.len() >= FILES_MAX {
            let message = format!("holds more than {FILES_MAX} files");
            return Err(zip_error("", message));
        }
        let (at, len) = (entry.raw_file_position(), entry.size());
        let mut head = Vec::new();
        let kept = if heads_len < HEADS_LEN_MAX {
            HEAD_LEN
        } else {
            0
        };
        entry.take(kept).read_to_end(&mut head).map_err(invalid)?;
        heads_len = heads_len.saturating_add(head.len());
        names.push((name, files.len()));
        files.push(Packed { at, len, head });
    }
    // The checksum of the compression stands behind the end of the archive.
    let mut end = archive.into_inner();
    io::copy(&mut end, &mut io::sink()).map_err(invalid)?;
    if end.limit() == 0 {
        return Err(zip_error("", "unpacks to more than 2 GiB".into()));
    }
    let files = Arc::new(files);
    Ok((TarArchive { source, files }, names, left_out))
}

/// Returns the name that an entry gives to the next one.
fn name_of(entry: &mut impl Read, kind: EntryType) -> io::Result<Option<Vec<u8>>> {
    let mut text = Vec::new();
    entry
        .take(NAME_LEN_MAX.saturating_add(1))
        .read_to_end(&mut text)?;
    if u64::try_from(text.len()).is_ok_and(|len| len > NAME_LEN_MAX) {
        return Err(io::Error::other("a name is longer than any path"));
    }
    if kind == EntryType::GNULongName {
        while text.last() == Some(&0) {
            text.pop();
        }
        return Ok(Some(text));
    }
    let mut found = None;
    for extension in tar::PaxExtensions::new(&text) {
        let extension = extension?;
        match extension.key_bytes() {
            b"path" => found = Some(extension.value_bytes().to_owned()),
            b"size" => return Err(io::Error::other("a file is longer than a header says")),
            _ => {}
        }
    }
    Ok(found)
}

/// Files that macOS adds beside those that they describe.
fn is_hidden(name: &str) -> bool {
    name.starts_with("._")
}

/// Returns whether what is compressed can begin an archive: at least one block, whose checksum holds. A
/// stream that breaks before is left to the reader of the archive.
fn is_tar(source: &SharedSource) -> io::Result<bool> {
    let mut block = [0; 512];
    match decoder(source).read_exact(&mut block) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
        Err(_) => return Ok(true),
        Ok(()) => {}
    }
    let said = tar::Header::from_byte_slice(&block).cksum().ok();
    let sum = |at: usize, byte: u8| match (148..156).contains(&at) {
        true => u32::from(b' '),
        false => u32::from(byte),
    };
    let counted: u32 = block
        .iter()
        .enumerate()
        .map(|(at, byte)| sum(at, *byte))
        .sum();
    Ok(block == [0; 512] || said == Some(counted))
}

fn decoder(source: &SharedSource) -> Decoder {
    MultiGzDecoder::new(BufReader::with_capacity(BUFFER_LEN, source.clone()))
}

impl TarArchive {
    /// Returns a file by its number.
    pub(super) fn file(&self, index: usize) -> Option<TarredFile<'_>> {
        let file = self.files.get(index)?;
        Some(TarredFile {
            archive: self,
            file,
            read: 0,
            rest: None,
        })
    }
}

impl Read for TarredFile<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let at = usize::try_from(self.read).unwrap_or(usize::MAX);
        let mut head = self.file.head.get(at..).unwrap_or_default();
        let len = if head.is_empty() && self.read < self.file.len && !out.is_empty() {
            let rest = match &mut self.rest {
                Some(rest) => rest,
                None => self.rest.insert(self.archive.from(self.file, self.read)?),
            };
            match rest.read(out)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                len => len,
            }
        } else {
            head.read(out)?
        };
        let read = u64::try_from(len).unwrap_or(u64::MAX);
        self.read = self.read.saturating_add(read);
        Ok(len)
    }
}

impl TarArchive {
    /// Returns what a file has from a place on.
    fn from(&self, file: &Packed, at: u64) -> io::Result<io::Take<Decoder>> {
        let mut unpacked = decoder(&self.source);
        let before = file.at.saturating_add(at);
        let skipped = io::copy(&mut (&mut unpacked).take(before), &mut io::sink())?;
        if skipped < before {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(unpacked.take(file.len.saturating_sub(at)))
    }
}

/// More files than any archive of a memory has.
const FILES_MAX: usize = 100_000;
/// The bytes that are kept of each file, and of all: enough to tell what they are.
const HEAD_LEN: u64 = 64 * 1024;
const HEADS_LEN_MAX: usize = 8 * 1024 * 1024;
/// The longest name, or extended header with one.
const NAME_LEN_MAX: u64 = 64 * 1024;
const BUFFER_LEN: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::super::source_file::Input;
    use super::*;

    fn packed(build: impl FnOnce(&mut tar::Builder<&mut GzEncoder<Vec<u8>>>)) -> SharedSource {
        let mut gz = GzEncoder::new(Vec::new(), Compression::fast());
        let mut tar = tar::Builder::new(&mut gz);
        build(&mut tar);
        tar.finish().unwrap();
        drop(tar);
        Input::Bytes(&gz.finish().unwrap()).open().unwrap()
    }

    fn add(tar: &mut tar::Builder<&mut GzEncoder<Vec<u8>>>, name: &str, bytes: &[u8]) {
        let mut header = tar::Header::new_gnu();
        header.set_size(u64::try_from(bytes.len()).unwrap());
        header.set_mode(0o600);
        // The library refuses a name that leads out of an archive, and an attacker does not.
        let places = header.as_mut_bytes().iter_mut().zip(name.bytes());
        places.for_each(|(place, byte)| *place = byte);
        header.set_cksum();
        tar.append(&header, bytes).unwrap();
    }

    #[test]
    fn a_file_reads_as_it_was_packed_each_time() {
        let long = vec![b'x'; 300_000];
        let name = format!("{}/c.json", "n".repeat(150));
        let archive = packed(|tar| {
            add(tar, "./a.json", b"one");
            add(tar, "b.json", &long);
            add(tar, "b.png", b"a picture");
            let mut header = tar::Header::new_gnu();
            header.set_size(4);
            tar.append_data(&mut header, &name, &b"four"[..]).unwrap();
        });
        let (archive, names, left_out) =
            list_files(archive, |name| name.ends_with(".json")).unwrap();
        let list: Vec<_> = names.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(list, ["a.json", "b.json", &name]);
        assert_eq!(left_out.len(), 1);
        for _ in 0..2 {
            for (index, expected) in [&b"one"[..], &long, b"four"].into_iter().enumerate() {
                let mut bytes = Vec::new();
                archive
                    .file(index)
                    .unwrap()
                    .read_to_end(&mut bytes)
                    .unwrap();
                assert!(bytes == expected, "{index}");
            }
        }
    }

    #[test]
    fn an_archive_that_was_made_to_do_harm_is_refused() {
        for name in ["../x.json", "/etc/x.json", "a/../../x.json"] {
            let archive = packed(|tar| add(tar, name, b"{}"));
            assert!(list_files(archive, |_| true).is_err(), "{name}");
        }
        let long_name = packed(|tar| {
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(EntryType::GNULongName);
            header.set_size(1 << 20);
            header.set_cksum();
            tar.append(&header, &vec![b'a'; 1 << 20][..]).unwrap();
        });
        assert!(list_files(long_name, |_| true).is_err());
        let linked = packed(|tar| {
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(EntryType::Symlink);
            header.set_size(0);
            tar.append_link(&mut header, "x.json", "/etc/passwd")
                .unwrap();
        });
        assert!(list_files(linked, |_| true).unwrap().1.is_empty());
        let mut cut = GzEncoder::new(Vec::new(), Compression::fast());
        cut.write_all(&[7; 1000]).unwrap();
        let cut = Input::Bytes(&cut.finish().unwrap()).open().unwrap();
        assert!(list_files(cut, |_| true).is_err());
    }
}
