//! What comes as a file, a directory or a ZIP archive.

use std::fs;
use std::path::{Path, PathBuf};

use crate::code::ErrorCode;

use zip::ZipArchive;

use super::part::{Part, Raw};
use super::{Error, Place};

/// Where an export is.
#[derive(Clone, Copy)]
pub(super) enum Bytes<'a> {
    /// A file or a directory.
    At(&'a Path),
    /// What a file holds, which is nowhere else in the clear.
    Here(&'a [u8]),
}

/// The files of an export whose last name is asked for, with their whole names, sorted: of a file,
/// a directory or a ZIP archive. Nothing outside is ever opened.
pub(super) struct Files {
    place: Location,
    /// The names, and the number that each has there.
    names: Vec<(String, usize)>,
}

enum Location {
    Folder(Vec<PathBuf>),
    One(Part),
    Zip(ZipArchive<Raw>),
}

impl Files {
    /// Lists them.
    ///
    /// # Errors
    /// `PROVIDER_ZIP`, `ERR_IO`.
    pub(super) fn list(export: Bytes<'_>, wanted: fn(&str) -> bool) -> Result<Self, Error> {
        match export {
            Bytes::At(path) if path.is_dir() => Self::list_folder(path, wanted),
            Bytes::At(path) => {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                Self::of(Part::at(path).map_err(io)?, &name, wanted)
            }
            Bytes::Here(bytes) => Self::of(Part::Whole(Raw::here(bytes)), "", wanted),
        }
    }

    /// Lists the files of one that is open: those inside, if it is an archive.
    ///
    /// # Errors
    /// As [`Files::list`].
    pub(super) fn of(part: Part, name: &str, wanted: fn(&str) -> bool) -> Result<Self, Error> {
        match part {
            Part::Whole(raw) if raw.is_zip().map_err(io)? => Self::list_zip(raw, wanted),
            part => Ok(Self {
                place: Location::One(part),
                names: vec![(name.to_owned(), 0)],
            }),
        }
    }

    fn list_folder(folder: &Path, wanted: fn(&str) -> bool) -> Result<Self, Error> {
        let mut paths = Vec::new();
        walk(folder, DEPTH_MAX, wanted, &mut paths)?;
        let names = paths.iter().map(|path: &PathBuf| {
            let name = path.strip_prefix(folder).unwrap_or(path);
            name.to_string_lossy().into_owned()
        });
        let mut names: Vec<_> = names.zip(0..).collect();
        names.sort();
        Ok(Self {
            place: Location::Folder(paths),
            names,
        })
    }

    fn list_zip(raw: Raw, wanted: fn(&str) -> bool) -> Result<Self, Error> {
        let file = |error: zip::result::ZipError| broken("", error.to_string());
        let archive = ZipArchive::new(raw).map_err(file)?;
        let mut names = Vec::new();
        let mut left = UNPACKED_LEN_MAX;
        for index in 0..archive.len() {
            let entry = archive.by_index_data(index).map_err(file)?;
            let name = entry.name().map_err(file)?.into_owned();
            // Nothing is written under these names, but whoever made such a name meant harm.
            if !is_below(&name) {
                return Err(broken(&name, "the name leads out of the archive".into()));
            }
            let last = name.rsplit('/').next().unwrap_or_default();
            if entry.is_dir() || !wanted(last) {
                continue;
            }
            left = left
                .checked_sub(entry.size())
                .ok_or_else(|| broken(&name, "unpacks to more than 2 GiB".into()))?;
            names.push((name, index));
        }
        names.sort();
        Ok(Self {
            place: Location::Zip(archive),
            names,
        })
    }

    /// Returns the one of a name; none that is not listed.
    ///
    /// # Errors
    /// `ERR_IO`.
    pub(super) fn part(&self, name: &str) -> Result<Option<Part>, Error> {
        let found = self.names.binary_search_by(|(it, _)| it.as_str().cmp(name));
        let found = found.ok().and_then(|at| self.names.get(at));
        found.map(|(_, index)| self.numbered(*index)).transpose()
    }

    /// Opens each of them, one after the other.
    pub(super) fn each(&self) -> impl Iterator<Item = Result<(&str, Part), Error>> {
        let names = self.names.iter();
        names.map(|(name, index)| Ok((name.as_str(), self.numbered(*index)?)))
    }

    fn numbered(&self, index: usize) -> Result<Part, Error> {
        Ok(match &self.place {
            Location::Folder(paths) => {
                let path = paths.get(index).map(PathBuf::as_path);
                Part::at(path.unwrap_or(Path::new(""))).map_err(io)?
            }
            Location::One(part) => part.clone(),
            Location::Zip(archive) => Part::Packed(archive.clone(), index),
        })
    }
}

/// Returns whether a file starts as a ZIP archive does.
pub(super) fn is_zip(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

fn walk(
    folder: &Path,
    depth_left: usize,
    wanted: fn(&str) -> bool,
    found: &mut Vec<PathBuf>,
) -> Result<(), Error> {
    for entry in fs::read_dir(folder).map_err(io)? {
        let entry = entry.map_err(io)?;
        // Links are not followed: an export that somebody else made may point anywhere.
        let kind = entry.file_type().map_err(io)?;
        if kind.is_dir() {
            if let Some(below) = depth_left.checked_sub(1) {
                walk(&entry.path(), below, wanted, found)?;
            }
        } else if kind.is_file() && wanted(&entry.file_name().to_string_lossy()) {
            found.push(entry.path());
        }
    }
    Ok(())
}

/// Tells what is wrong with an archive, or with one file of it.
pub(super) fn broken(name: &str, message: String) -> Error {
    Error::Format {
        code: ErrorCode::ProviderZip,
        place: if name.is_empty() {
            Place::File
        } else {
            Place::Pointer(name.to_owned())
        },
        message,
    }
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
/// A few bytes of an archive may unpack to all the time there is.
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
