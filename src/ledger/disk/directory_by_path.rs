//! A directory whose files are opened by path, for systems without handles of directories.
//!
//! Each name is looked at before it is opened. A program that replaces it between the two is not
//! noticed.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::{Access, Watch, not_a_directory, not_a_file};

/// A directory of the file system.
#[derive(Debug)]
pub(super) struct Directory {
    path: PathBuf,
}

impl Directory {
    pub(super) fn new(path: &Path) -> Self {
        Self {
            path: path.to_path_buf(),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of a name whose folder is no link.
    fn place(&self, name: &str) -> io::Result<PathBuf> {
        match name.split_once('/') {
            None => Ok(self.path.join(name)),
            Some((folder, name)) => Ok(self.folder(folder)?.join(name)),
        }
    }

    fn folder(&self, folder: &str) -> io::Result<PathBuf> {
        if folder.is_empty() {
            return Ok(self.path.clone());
        }
        let path = self.path.join(folder);
        if fs::symlink_metadata(&path)?.is_dir() {
            Ok(path)
        } else {
            Err(not_a_directory(folder))
        }
    }

    /// Opens a regular file.
    pub(super) fn open(&self, name: &str, access: Access) -> io::Result<File> {
        let path = self.place(name)?;
        match fs::symlink_metadata(&path) {
            Ok(found) if !found.is_file() && access != Access::CreateNew => {
                return Err(not_a_file(name));
            }
            _ => {}
        }
        OpenOptions::new()
            .read(true)
            .write(access != Access::Read)
            .create(access == Access::Create)
            .create_new(access == Access::CreateNew)
            .truncate(false)
            .open(path)
    }

    /// Creates a folder, unless it exists.
    pub(super) fn create_folder(&self, folder: &str) -> io::Result<()> {
        match fs::create_dir(self.path.join(folder)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                self.folder(folder).map(drop)
            }
            made => made,
        }
    }

    pub(super) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.place(from)?, self.place(to)?)
    }

    pub(super) fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.place(name)?)
    }

    /// Returns the names of all but directories in a folder: a link has the name of a file, and is
    /// refused when it is opened and gone when it is removed.
    pub(super) fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(self.folder(folder)?)? {
            let entry = entry?;
            // A store writes no name that is not UTF-8.
            if !entry.file_type()?.is_dir()
                && let Ok(name) = entry.file_name().into_string()
            {
                names.push(name);
            }
        }
        Ok(names)
    }

    /// Windows cannot open a directory to sync it; NTFS journals names itself.
    pub(super) fn sync(&self, folder: &str) -> io::Result<()> {
        self.folder(folder).map(drop)
    }

    /// Refuses a name that is taken by anything but a folder, or a regular file.
    pub(super) fn check_kind(&self, name: &str, is_folder: bool) -> io::Result<()> {
        match fs::symlink_metadata(self.path.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
            Ok(found) if is_folder && !found.is_dir() => Err(not_a_directory(name)),
            Ok(found) if !is_folder && !found.is_file() => Err(not_a_file(name)),
            Ok(_) => Ok(()),
        }
    }

    /// An open file cannot be replaced here.
    pub(super) fn watch(
        self: &Arc<Self>,
        _: &str,
        _: &File,
    ) -> io::Result<impl Fn() -> bool + Send + Sync + use<>> {
        Ok(|| true)
    }

    /// Closed segments that are not open can be replaced here, which is not noticed.
    #[expect(clippy::unused_self, reason = "the other implementation looks")]
    #[expect(
        clippy::unnecessary_wraps,
        reason = "the other implementation may fail"
    )]
    pub(super) fn watch_all(
        self: &Arc<Self>,
        _: &str,
        _: Vec<String>,
        _: Duration,
    ) -> io::Result<Option<Watch>> {
        Ok(None)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::sync::Arc;
    use std::time::Duration;

    use super::super::Access;

    /// Both implementations keep the same promises.
    macro_rules! follows_no_link {
        ($name:ident, $directory:ty) => {
            #[test]
            fn $name() {
                let home = tempfile::tempdir().unwrap();
                let (root, outside) = (home.path().join("s"), home.path().join("outside"));
                fs::create_dir_all(root.join("ledger")).unwrap();
                fs::create_dir(&outside).unwrap();
                fs::write(outside.join("file"), "mine").unwrap();
                symlink(&outside, root.join("index")).unwrap();
                symlink(outside.join("file"), root.join("ledger/link")).unwrap();
                symlink(outside.join("missing"), root.join("ledger/dangling")).unwrap();
                let directory = Arc::new(<$directory>::new(&root));
                assert_eq!(directory.path(), root);
                for access in [Access::Read, Access::Write, Access::Create] {
                    for name in ["index/file", "ledger/link", "ledger/dangling"] {
                        let error = directory.open(name, access).unwrap_err();
                        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput, "{name}");
                    }
                }
                for name in ["index/new", "ledger/link", "ledger/dangling"] {
                    assert!(directory.open(name, Access::CreateNew).is_err(), "{name}");
                }
                assert!(directory.create_folder("index").is_err());
                assert!(directory.list("index").is_err());
                assert!(directory.remove("index/file").is_err());
                assert!(directory.rename("index/file", "ledger/new").is_err());
                assert!(directory.check_kind("index", true).is_err());
                assert!(directory.check_kind("ledger", false).is_err());
                assert!(directory.check_kind("ledger", true).is_ok());
                assert!(directory.check_kind("absent", false).is_ok());
                let mut names = directory.list("ledger").unwrap();
                names.sort_unstable();
                assert_eq!(names, ["dangling", "link"]);
                // The link goes, and what it names stays.
                directory.remove("ledger/link").unwrap();
                directory.remove("ledger/dangling").unwrap();
                let file = directory.open("ledger/new", Access::CreateNew).unwrap();
                let is_in_place = directory.watch("ledger/new", &file).unwrap();
                assert!(is_in_place());
                let names = vec!["ledger/new".into()];
                let watch = directory.watch_all("ledger", names, Duration::ZERO);
                assert_eq!(watch.unwrap().and_then(|mut watch| watch()), None);
                directory.rename("ledger/new", "ledger/old").unwrap();
                directory.sync("ledger").unwrap();
                assert_eq!(directory.list("ledger").unwrap(), ["old"]);
                assert_eq!(fs::read(outside.join("file")).unwrap(), b"mine");
                assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
            }
        };
    }

    follows_no_link!(a_directory_by_path_follows_no_link, super::Directory);
    follows_no_link!(
        an_open_directory_follows_no_link,
        super::super::directory::Directory
    );
}
