//! An open directory: every file of a store is opened relative to it and never through a link.
//!
//! A store may lie in a directory that another program has prepared: a cloned repository, an
//! unpacked archive. A link among its names would lead writes and removals to files outside. Names
//! are checked by the caller and lie at most one folder deep.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::{Access, Watch, not_a_directory, not_a_file, second_name};

/// A directory, opened when it is first used. Only the path to it may lead through links.
#[derive(Debug)]
pub(super) struct Directory {
    path: PathBuf,
    handle: OnceLock<OwnedFd>,
}

impl Directory {
    pub(super) fn new(path: &Path) -> Self {
        Self {
            path: path.to_path_buf(),
            handle: OnceLock::new(),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn root(&self) -> io::Result<&OwnedFd> {
        if let Some(handle) = self.handle.get() {
            return Ok(handle);
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = rustix::fs::open(&self.path, flags, Mode::empty())?;
        Ok(self.handle.get_or_init(|| handle))
    }

    /// Opens a folder; `""` is the directory itself.
    fn folder(&self, folder: &str) -> io::Result<OwnedFd> {
        // Another handle of the directory itself, since a listing moves the place of the first.
        let name = if folder.is_empty() { "." } else { folder };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::openat(self.root()?, name, flags, Mode::empty()) {
            Err(Errno::LOOP | Errno::MLINK | Errno::NOTDIR) => Err(not_a_directory(folder)),
            opened => Ok(opened?),
        }
    }

    /// Calls `then` with the handle of the folder of `name` and the rest of the name.
    fn within<T>(
        &self,
        name: &str,
        then: impl FnOnce(&OwnedFd, &str) -> io::Result<T>,
    ) -> io::Result<T> {
        match name.split_once('/') {
            None => then(self.root()?, name),
            Some((folder, name)) => then(&self.folder(folder)?, name),
        }
    }

    /// Opens a regular file; one that is created is readable by its owner only.
    pub(super) fn open(&self, name: &str, access: Access) -> io::Result<File> {
        let wanted = match access {
            Access::Read => OFlags::RDONLY,
            Access::Write => OFlags::RDWR,
            Access::CreateNew => OFlags::RDWR | OFlags::CREATE | OFlags::EXCL,
            Access::Create => OFlags::RDWR | OFlags::CREATE,
        };
        // Without NONBLOCK a named pipe would halt the opening.
        let flags = wanted | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let private = Mode::RUSR | Mode::WUSR;
        let opened = self.within(name, |folder, base| {
            Ok(rustix::fs::openat(folder, base, flags, private))
        })?;
        let file = match opened {
            Err(Errno::LOOP | Errno::MLINK | Errno::NXIO | Errno::ISDIR) => {
                return Err(not_a_file(name));
            }
            opened => opened?,
        };
        let found = rustix::fs::fstat(&file)?;
        if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
            return Err(not_a_file(name));
        }
        // A hard link leads out of the directory too, and nothing says where to.
        if access != Access::Read && found.st_nlink > 1 {
            return Err(second_name(name));
        }
        Ok(file.into())
    }

    /// Returns whether anything has a name, in one call to the system.
    pub(super) fn exists(&self, name: &str) -> io::Result<bool> {
        Ok(file_type(self.root()?, name)?.is_some())
    }

    /// Creates a folder that only its owner can enter, unless it exists.
    pub(super) fn create_folder(&self, folder: &str) -> io::Result<()> {
        match rustix::fs::mkdirat(self.root()?, folder, Mode::RWXU) {
            Err(Errno::EXIST) => self.folder(folder).map(drop),
            made => Ok(made?),
        }
    }

    pub(super) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.within(from, |old, from| {
            self.within(to, |new, to| Ok(rustix::fs::renameat(old, from, new, to)?))
        })
    }

    pub(super) fn remove(&self, name: &str) -> io::Result<()> {
        self.within(name, |folder, name| {
            Ok(rustix::fs::unlinkat(folder, name, AtFlags::empty())?)
        })
    }

    /// Returns the names of all but directories in a folder: a link has the name of a file, and is
    /// refused when it is opened and gone when it is removed.
    pub(super) fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        let folder = self.folder(folder)?;
        let mut names = Vec::new();
        for entry in Dir::read_from(&folder)? {
            let entry = entry?;
            let kind = match entry.file_type() {
                // Some file systems do not say.
                FileType::Unknown => file_type(&folder, entry.file_name())?,
                known => Some(known),
            };
            // A store writes no name that is not UTF-8.
            if kind.is_some_and(|kind| kind != FileType::Directory)
                && let Ok(name) = entry.file_name().to_str()
            {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    pub(super) fn sync(&self, folder: &str) -> io::Result<()> {
        Ok(rustix::fs::fsync(self.folder(folder)?)?)
    }

    /// Refuses a name that is taken by anything but a folder, or a regular file.
    pub(super) fn check_kind(&self, name: &str, is_folder: bool) -> io::Result<()> {
        match (file_type(self.root()?, name)?, is_folder) {
            (None | Some(FileType::Directory), true)
            | (None | Some(FileType::RegularFile), false) => Ok(()),
            (_, true) => Err(not_a_directory(name)),
            (_, false) => Err(not_a_file(name)),
        }
    }

    /// Returns the test whether `file` is still the one of the name that it was opened by.
    pub(super) fn watch(
        self: &Arc<Self>,
        name: &str,
        file: &File,
    ) -> io::Result<impl Fn() -> bool + Send + Sync + use<>> {
        let opened = rustix::fs::fstat(file)?;
        let (directory, name) = (Arc::clone(self), name.to_owned());
        let is_same =
            move |found: Stat| (found.st_dev, found.st_ino) == (opened.st_dev, opened.st_ino);
        Ok(move || {
            let root = directory.handle.get();
            let found =
                root.map(|root| rustix::fs::statat(root, name.as_str(), AtFlags::SYMLINK_NOFOLLOW));
            matches!(found, Some(Ok(found)) if is_same(found))
        })
    }
}

impl Directory {
    /// Returns the test whether files of a folder are still those that have these names now. Names
    /// that change give the folder another time, so that the files are looked at only then, and
    /// until the time is so old that no later change can have the same.
    #[expect(
        clippy::disallowed_types,
        reason = "the clock of the file system, by which its times are old, is the machine's"
    )]
    pub(super) fn watch_all(
        self: &Arc<Self>,
        folder: &str,
        names: Vec<String>,
        settled_after: Duration,
    ) -> io::Result<Option<Watch>> {
        let root = self.root()?;
        let identity = |name: String| {
            let found = rustix::fs::statat(root, name.as_str(), AtFlags::SYMLINK_NOFOLLOW)?;
            Ok((name, found.st_dev, found.st_ino))
        };
        let files = names.into_iter().map(identity);
        let files: Vec<_> = files.collect::<io::Result<_>>()?;
        let directory = Arc::clone(self);
        let folder = if folder.is_empty() { "." } else { folder }.to_owned();
        let mut seen = None;
        let mut since = std::time::Instant::now();
        let mut is_settled = false;
        Ok(Some(Box::new(move || {
            let root = directory.handle.get()?;
            let found = |name: &str| rustix::fs::statat(root, name, AtFlags::SYMLINK_NOFOLLOW).ok();
            let of = |stat: Stat| (stat.st_dev, stat.st_ino, stat.st_ctime, stat.st_ctime_nsec);
            let stamp = found(&folder).map(of);
            if stamp.is_none() || stamp != seen {
                (seen, since, is_settled) = (stamp, std::time::Instant::now(), false);
            }
            if is_settled {
                return None;
            }
            // Asked before the files are looked at: a change after that has another time.
            let is_old = since.elapsed() >= settled_after;
            let gone = files.iter().position(|(name, device, inode)| {
                found(name).is_none_or(|stat| (stat.st_dev, stat.st_ino) != (*device, *inode))
            });
            is_settled = is_old && gone.is_none();
            gone
        })))
    }
}

/// Returns the kind of what has a name, which may be a link; `None` if nothing has it.
fn file_type(folder: impl AsFd, name: impl rustix::path::Arg) -> io::Result<Option<FileType>> {
    match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) => Ok(Some(FileType::from_raw_mode(found.st_mode))),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_that_is_replaced_is_noticed_by_the_time_of_its_folder() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("ledger")).unwrap();
        let paths = ["a", "b"].map(|name| home.path().join("ledger").join(name));
        for path in &paths {
            fs::write(path, "mine").unwrap();
        }
        let directory = Arc::new(Directory::new(home.path()));
        let names = vec!["ledger/a".into(), "ledger/b".into()];
        let watch = directory.watch_all("ledger", names, Duration::ZERO);
        let mut watch = watch.unwrap().unwrap();
        assert_eq!((watch(), watch()), (None, None));
        // Settled at once, it may miss a change in the same step of the clock, and no later one.
        let aside = home.path().join("aside");
        let is_noticed = (0..1_000_000).any(|_| {
            fs::rename(&paths[1], &aside).unwrap();
            fs::copy(&aside, &paths[1]).unwrap();
            let gone = watch();
            fs::rename(&aside, &paths[1]).unwrap();
            assert!(gone.is_none_or(|gone| gone == 1));
            gone.is_some()
        });
        assert!(is_noticed);
        assert_eq!(watch(), None);
    }
}
