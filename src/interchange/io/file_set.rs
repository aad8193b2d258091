//! The files of an export, which comes as one file, a directory or a ZIP archive.

use std::fs;
use std::path::{Path, PathBuf};

use zip::ZipArchive;

use crate::interchange::Error;

use super::source_file::{Input, SharedSource, SourceFile};
use super::zip::{Names, list_entries};

/// The files whose names are wanted, with their paths, sorted. Nothing outside the export is ever
/// opened.
pub(crate) struct FileSet {
    location: Location,
    names: Names,
}

enum Location {
    Folder(Vec<PathBuf>),
    One(SourceFile),
    Zip(ZipArchive<SharedSource>),
}

impl FileSet {
    /// Lists the files of an export.
    pub(crate) fn list(export: Input<'_>, wanted: fn(&str) -> bool) -> Result<Self, Error> {
        match export {
            Input::Path(path) if path.is_dir() => Self::list_folder(path, wanted),
            Input::Path(path) => {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                Self::of(export.open()?, &name, wanted)
            }
            Input::Bytes(_) | Input::Shared(_) => Self::of(export.open()?, "", wanted),
        }
    }

    /// Lists the one file that is open, or the files inside it if it is a ZIP archive.
    pub(crate) fn of(
        source: SharedSource,
        name: &str,
        wanted: fn(&str) -> bool,
    ) -> Result<Self, Error> {
        if !source.is_zip()? {
            return Ok(Self {
                location: Location::One(SourceFile::Whole(source)),
                names: vec![(name.to_owned(), 0)],
            });
        }
        let (archive, names) = list_entries(source, wanted)?;
        Ok(Self::sorted(Location::Zip(archive), names))
    }

    fn list_folder(folder: &Path, wanted: fn(&str) -> bool) -> Result<Self, Error> {
        let mut paths = Vec::new();
        walk(folder, DEPTH_MAX, wanted, &mut paths)?;
        let names = paths.iter().map(|path: &PathBuf| {
            let name = path.strip_prefix(folder).unwrap_or(path);
            name.to_string_lossy().into_owned()
        });
        let names = names.zip(0..).collect();
        Ok(Self::sorted(Location::Folder(paths), names))
    }

    fn sorted(location: Location, mut names: Names) -> Self {
        names.sort();
        Self { location, names }
    }

    /// Returns the file of a name; `None` if it is not listed.
    pub(crate) fn get(&self, name: &str) -> Result<Option<SourceFile>, Error> {
        let found = self.names.binary_search_by(|(it, _)| it.as_str().cmp(name));
        let found = found.ok().and_then(|at| self.names.get(at));
        found.map(|(_, index)| self.numbered(*index)).transpose()
    }

    /// Opens each of them, one after the other.
    pub(crate) fn each(&self) -> impl Iterator<Item = Result<(&str, SourceFile), Error>> {
        let names = self.names.iter();
        names.map(|(name, index)| Ok((name.as_str(), self.numbered(*index)?)))
    }

    fn numbered(&self, index: usize) -> Result<SourceFile, Error> {
        Ok(match &self.location {
            Location::Folder(paths) => {
                let path = paths.get(index).map(PathBuf::as_path);
                SourceFile::open(path.unwrap_or(Path::new("")))?
            }
            Location::One(file) => file.clone(),
            Location::Zip(archive) => SourceFile::Packed(archive.clone(), index),
        })
    }
}

fn walk(
    folder: &Path,
    depth_left: usize,
    wanted: fn(&str) -> bool,
    found: &mut Vec<PathBuf>,
) -> Result<(), Error> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        // Links are not followed: a link in a foreign export may point anywhere.
        let kind = entry.file_type()?;
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

/// Deeper than any export nests its folders.
const DEPTH_MAX: usize = 8;
