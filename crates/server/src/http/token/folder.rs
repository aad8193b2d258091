//! The folder of the tokens: its files are opened never through a link, and only regular ones.
//!
//! A store may come with a repository of another: a link in the place of a file would lead what is
//! written elsewhere, and a pipe would halt the server.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// An open folder. Names are those of files in it, without a separator.
#[derive(Debug)]
pub(crate) struct Folder {
    #[cfg(unix)]
    handle: std::os::fd::OwnedFd,
    #[cfg(not(unix))]
    path: PathBuf,
}

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Open {
    /// To read, if it is there.
    Read,
    /// To write behind what is there; made, for the owner alone, if it is not there.
    Append,
    /// To write it anew.
    Replace,
}

/// Where the folder is: one that the operator names, or one inside a store.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// The path of the operator, which may lead through links.
    pub(crate) given: PathBuf,
    /// The folder in it, which is no link.
    pub(crate) inside: Option<&'static str>,
}

impl Place {
    pub(crate) fn path(&self) -> PathBuf {
        self.inside
            .map_or_else(|| self.given.clone(), |name| self.given.join(name))
    }

    /// Opens the folder; `None` if it is not there.
    pub(crate) fn open(&self) -> io::Result<Option<Folder>> {
        let opened = Folder::open(&self.given, self.inside);
        match opened {
            Ok(folder) => Ok(Some(folder)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Opens the folder, and makes it for its owner alone if it is not there.
    pub(crate) fn make(&self) -> io::Result<Folder> {
        if let Some(folder) = self.open()? {
            return Ok(folder);
        }
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(self.path())?;
        Folder::open(&self.given, self.inside)
    }
}

fn irregular() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        "not a regular file of one name: a link, a pipe or a device is not used",
    )
}

#[cfg(unix)]
impl Folder {
    fn open(given: &Path, inside: Option<&str>) -> io::Result<Self> {
        use rustix::fs::{Mode, OFlags, open, openat};
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let given = if given.as_os_str().is_empty() {
            Path::new(".")
        } else {
            given
        };
        let mut handle = open(given, flags, Mode::empty())?;
        if let Some(name) = inside {
            handle = openat(&handle, name, flags | OFlags::NOFOLLOW, Mode::empty())?;
        }
        Ok(Self { handle })
    }

    /// Opens a file; `None` for one to read that is not there.
    pub(crate) fn file(&self, name: &str, how: Open) -> io::Result<Option<File>> {
        use std::os::unix::fs::MetadataExt;

        use rustix::fs::{Mode, OFlags, openat};
        let how = match how {
            Open::Read => OFlags::RDONLY,
            Open::Append => OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE,
            Open::Replace => OFlags::WRONLY | OFlags::CREATE,
        };
        // A pipe that nobody reads or writes must not halt the opening.
        let flags = how | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = match openat(&self.handle, name, flags, Mode::RUSR | Mode::WUSR) {
            Ok(opened) => File::from(opened),
            Err(rustix::io::Errno::NOENT) => return Ok(None),
            Err(rustix::io::Errno::LOOP | rustix::io::Errno::NXIO) => return Err(irregular()),
            Err(error) => return Err(error.into()),
        };
        let found = opened.metadata()?;
        // A second name may be that of a file elsewhere.
        if !found.is_file() || found.nlink() != 1 {
            return Err(irregular());
        }
        Ok(Some(opened))
    }

    pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.handle, from, &self.handle, to)?)
    }

    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        let flags = rustix::fs::AtFlags::empty();
        Ok(rustix::fs::unlinkat(&self.handle, name, flags)?)
    }

    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.handle)?)
    }
}

#[cfg(not(unix))]
impl Folder {
    fn open(given: &Path, inside: Option<&str>) -> io::Result<Self> {
        let path = inside.map_or_else(|| given.to_owned(), |name| given.join(name));
        match path.symlink_metadata()?.is_dir() || inside.is_none() {
            true => Ok(Self { path }),
            false => Err(irregular()),
        }
    }

    pub(crate) fn file(&self, name: &str, how: Open) -> io::Result<Option<File>> {
        let path = self.path.join(name);
        match path.symlink_metadata() {
            Ok(found) if !found.is_file() => return Err(irregular()),
            Err(error) if error.kind() == io::ErrorKind::NotFound && how == Open::Read => {
                return Ok(None);
            }
            _ => {}
        }
        let mut options = File::options();
        match how {
            Open::Read => options.read(true),
            Open::Append => options.append(true).create(true),
            Open::Replace => options.write(true).create(true),
        };
        options.open(path).map(Some)
    }

    pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        std::fs::rename(self.path.join(from), self.path.join(to))
    }

    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        std::fs::remove_file(self.path.join(name))
    }

    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}
