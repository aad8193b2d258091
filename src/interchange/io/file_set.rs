//! The files of an export, which comes as one file, a directory, a ZIP archive or a TAR
//! archive.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use zip::ZipArchive;

use crate::interchange::Error;

use super::listing::{LeftOut, Names, leave_out};
use super::source_file::{Input, SharedSource, SourceFile};
use super::tar::{TarArchive, list_files};
use super::zip::list_entries;

/// The files whose names are wanted, with their paths, sorted. Nothing outside the export is ever
/// opened.
pub(crate) struct FileSet {
    location: Location,
    names: Names,
    left_out: LeftOut,
}

#[derive(Clone)]
enum Location {
    Folder(Arc<Folder>),
    One(SourceFile),
    Zip(ZipArchive<SharedSource>),
    Tar(TarArchive),
}

/// A folder, whose files are found by their names below it: there may be hundreds of thousands.
struct Folder {
    root: PathBuf,
    /// The paths of those whose names are no text.
    odd: BTreeMap<usize, PathBuf>,
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

    /// Lists the one file that is open, or the files inside it if it is an archive.
    pub(crate) fn of(
        source: SharedSource,
        name: &str,
        wanted: fn(&str) -> bool,
    ) -> Result<Self, Error> {
        if source.is_gzip()? {
            let (archive, names, left_out) = list_files(source, wanted)?;
            return Ok(Self::sorted(Location::Tar(archive), names, left_out));
        }
        if !source.is_zip()? {
            return Ok(Self {
                location: Location::One(SourceFile::Whole(source)),
                names: vec![(name.to_owned(), 0)],
                left_out: LeftOut::new(),
            });
        }
        let (archive, names, left_out) = list_entries(source, wanted)?;
        Ok(Self::sorted(Location::Zip(archive), names, left_out))
    }

    fn list_folder(folder: &Path, wanted: fn(&str) -> bool) -> Result<Self, Error> {
        let name = |path: &PathBuf| {
            let name = path.strip_prefix(folder).unwrap_or(path);
            name.to_string_lossy().into_owned()
        };
        let (mut names, mut left_out) = (Names::new(), LeftOut::new());
        let mut odd = BTreeMap::new();
        walk(folder, DEPTH_MAX, &mut |path| {
            let last = path.file_name().unwrap_or_default().to_string_lossy();
            if wanted(&last) {
                let index = names.len();
                names.push((name(&path), index));
                if path.to_str().is_none() {
                    odd.insert(index, path);
                }
            } else {
                leave_out(&mut left_out, name(&path));
            }
        })?;
        let root = folder.to_owned();
        let location = Location::Folder(Arc::new(Folder { root, odd }));
        Ok(Self::sorted(location, names, left_out))
    }

    fn sorted(location: Location, mut names: Names, left_out: LeftOut) -> Self {
        names.sort();
        Self {
            location,
            names,
            left_out,
        }
    }

    /// Returns some of the files, chosen by number and name.
    pub(crate) fn subset(&self, wanted: impl Fn(usize, &str) -> bool) -> Self {
        let names = self.names.iter().enumerate();
        let names = names.filter(|(at, (name, _))| wanted(*at, name));
        Self {
            location: self.location.clone(),
            names: names.map(|(_, name)| name.clone()).collect(),
            left_out: LeftOut::new(),
        }
    }

    /// Returns the files by rank, and those of one rank in the order of their names. None of them is looked up
    /// by name afterwards.
    pub(crate) fn by_rank(mut self, rank: fn(&str) -> u8) -> Self {
        self.names.sort_by_key(|(name, _)| rank(name));
        self
    }

    /// Returns whether this is a file by itself.
    pub(crate) const fn is_one(&self) -> bool {
        matches!(self.location, Location::One(_))
    }

    /// Returns the names of the files, in the order of [`FileSet::each`].
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|(name, _)| name.as_str())
    }

    /// Returns the first file of each ending that is not wanted, and how many more there are.
    pub(crate) fn left_out(&self) -> impl Iterator<Item = (&str, u64)> {
        let files = self.left_out.values();
        files.map(|(name, more)| (name.as_str(), *more))
    }

    /// Returns the file of a name; `None` if it is not listed.
    pub(crate) fn get(&self, name: &str) -> Result<Option<SourceFile>, Error> {
        let found = self.names.binary_search_by(|(it, _)| it.as_str().cmp(name));
        let found = found.ok().and_then(|at| self.names.get(at));
        let open = |(name, index): &(String, usize)| self.file(name, *index);
        found.map(open).transpose()
    }

    /// Opens each of them, one after the other.
    pub(crate) fn each(&self) -> impl Iterator<Item = Result<(&str, SourceFile), Error>> {
        let names = self.names.iter();
        names.map(|(name, index)| Ok((name.as_str(), self.file(name, *index)?)))
    }

    fn file(&self, name: &str, index: usize) -> Result<SourceFile, Error> {
        Ok(match &self.location {
            Location::Folder(folder) => match folder.odd.get(&index) {
                Some(path) => SourceFile::open(path)?,
                None => SourceFile::open(&folder.root.join(name))?,
            },
            Location::One(file) => file.clone(),
            Location::Zip(archive) => SourceFile::Packed(archive.clone(), index),
            Location::Tar(archive) => SourceFile::Tarred(archive.clone(), index),
        })
    }
}

fn walk(folder: &Path, depth_left: usize, found: &mut dyn FnMut(PathBuf)) -> Result<(), Error> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        // Links are not followed: a link in a foreign export may point anywhere.
        let kind = entry.file_type()?;
        if kind.is_dir() {
            if let Some(below) = depth_left.checked_sub(1) {
                walk(&entry.path(), below, found)?;
            }
        } else if kind.is_file() {
            found(entry.path());
        }
    }
    Ok(())
}

/// Deeper than any export nests its folders.
const DEPTH_MAX: usize = 8;
