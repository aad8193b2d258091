//! What comes as a file, a directory or a ZIP archive.

use std::fs::{self, File};
use std::io::{BufReader, Cursor, Read, Seek};
use std::path::Path;

use zip::ZipArchive;

use super::{Error, Place};

/// Where an export is.
#[derive(Clone, Copy)]
pub(super) enum Bytes<'a> {
    /// A file or a directory.
    At(&'a Path),
    /// What a file holds, which is nowhere else in the clear.
    Here(&'a [u8]),
}

/// Returns the files of an export whose last name is asked for, with their whole names, sorted: of
/// a file, a directory or a ZIP archive. Nothing outside is ever opened.
pub(super) fn files(
    export: Bytes<'_>,
    wanted: fn(&str) -> bool,
) -> Result<Vec<(String, Vec<u8>)>, Error> {
    let mut found = Vec::new();
    let path = match export {
        Bytes::At(path) => path,
        Bytes::Here(bytes) => {
            if is_zip_here(bytes) {
                unpack(Cursor::new(bytes), wanted, &mut found)?;
                found.sort_by(|a, b| a.0.cmp(&b.0));
            } else {
                found.push((String::new(), bytes.to_vec()));
            }
            return Ok(found);
        }
    };
    if path.is_dir() {
        walk(path, path, DEPTH_MAX, wanted, &mut found)?;
    } else {
        let mut file = File::open(path).map_err(io)?;
        if is_zip(&mut file).map_err(io)? {
            unpack(BufReader::new(file), wanted, &mut found)?;
        } else {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            found.push((name.into_owned(), fs::read(path).map_err(io)?));
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found)
}

/// Returns whether a file starts as a ZIP archive does, and goes back to its beginning.
pub(super) fn is_zip(file: &mut File) -> std::io::Result<bool> {
    let mut magic = Vec::new();
    file.take(4).read_to_end(&mut magic)?;
    file.rewind()?;
    Ok(magic == MAGIC)
}

/// Returns whether bytes start as a ZIP archive does.
pub(super) fn is_zip_here(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

fn walk(
    root: &Path,
    folder: &Path,
    depth_left: usize,
    wanted: fn(&str) -> bool,
    found: &mut Vec<(String, Vec<u8>)>,
) -> Result<(), Error> {
    for entry in fs::read_dir(folder).map_err(io)? {
        let entry = entry.map_err(io)?;
        // Links are not followed: an export that somebody else made may point anywhere.
        let kind = entry.file_type().map_err(io)?;
        let path = entry.path();
        let name = entry.file_name();
        if kind.is_dir() {
            if let Some(below) = depth_left.checked_sub(1) {
                walk(root, &path, below, wanted, found)?;
            }
        } else if kind.is_file() && wanted(&name.to_string_lossy()) {
            let name = path.strip_prefix(root).unwrap_or(&path);
            found.push((
                name.to_string_lossy().into_owned(),
                fs::read(&path).map_err(io)?,
            ));
        }
    }
    Ok(())
}

fn unpack(
    file: impl Read + Seek,
    wanted: fn(&str) -> bool,
    found: &mut Vec<(String, Vec<u8>)>,
) -> Result<(), Error> {
    let broken = |name: &str, message: String| Error::Format {
        code: "PROVIDER_ZIP",
        place: if name.is_empty() {
            Place::File
        } else {
            Place::Pointer(name.to_owned())
        },
        message,
    };
    let mut archive = ZipArchive::new(file).map_err(|error| broken("", error.to_string()))?;
    let mut left = UNPACKED_LEN_MAX;
    for index in 0..archive.len() {
        let mut entry = archive
            .by_index(index)
            .map_err(|error| broken("", error.to_string()))?;
        let name = entry
            .name()
            .map_err(|error| broken("", error.to_string()))?
            .into_owned();
        // Nothing is written under these names, but whoever made such a name meant harm.
        if !is_below(&name) {
            return Err(broken(&name, "the name leads out of the archive".into()));
        }
        let last = name.rsplit('/').next().unwrap_or_default();
        if entry.is_dir() || !wanted(last) {
            continue;
        }
        let mut bytes = Vec::new();
        (&mut entry)
            .take(left.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|error| broken(&name, error.to_string()))?;
        let len = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        left = left
            .checked_sub(len)
            .ok_or_else(|| broken(&name, "unpacks to more than 2 GiB".into()))?;
        found.push((name, bytes));
    }
    Ok(())
}

/// Judges the name of an entry by its spelling alone.
fn is_below(name: &str) -> bool {
    !name.starts_with('/')
        && !name.contains(['\\', '\0'])
        && name.split('/').all(|part| part != "..")
        && name.as_bytes().get(1) != Some(&b':')
}

const fn io(source: std::io::Error) -> Error {
    Error::Io {
        place: Place::File,
        source,
    }
}

const MAGIC: &[u8] = b"PK\x03\x04";
/// A few bytes of an archive may unpack to all the memory there is.
const UNPACKED_LEN_MAX: u64 = 2 * 1024 * 1024 * 1024;
/// Deeper than any export nests its folders.
const DEPTH_MAX: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_leads_out_of_its_archive_is_refused() {
        for name in [
            "../x",
            "a/../../x",
            "/etc/x",
            "C:/x",
            "a\\..\\x",
            "a\0b",
            "..",
            "a/..",
        ] {
            assert!(!is_below(name), "{name:?}");
        }
        for name in ["x", "a/b/c.json", "a..b/c", "Takeout/My Activity/x é.json"] {
            assert!(is_below(name), "{name}");
        }
    }
}
