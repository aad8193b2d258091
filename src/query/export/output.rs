//! Output files: written under a temporary name, and renamed when they are whole.
//!
//! Only a regular file is ever replaced. A device or a pipe is written to as it is: `-o /dev/null`
//! must not put a file in its place. The temporary name is never followed if it is a link.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// A file that is being written. Dropped before it is finished, it leaves nothing.
pub(super) struct Output {
    file: File,
    /// The temporary name and the final one; `None` for a device or a pipe.
    names: Option<(PathBuf, PathBuf)>,
}

impl Output {
    /// Opens the output of this name.
    ///
    /// # Errors
    /// Those of the system, and for a name that is taken by anything but a file, a device or a pipe.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let link = match fs::symlink_metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            found => Some(found?),
        };
        match link {
            Some(link) if !link.is_file() => Self::direct(path),
            _ => Self::whole(path),
        }
    }

    fn direct(path: &Path) -> io::Result<Self> {
        // A link to a file is not followed: another program may have put it there.
        let found = fs::metadata(path).ok();
        if !found.is_some_and(|found| is_stream(&found)) {
            return Err(refused("is no regular file, device or pipe"));
        }
        let file = OpenOptions::new().write(true).open(path)?;
        if !is_stream(&file.metadata()?) {
            return Err(refused("was replaced while it was opened"));
        }
        Ok(Self { file, names: None })
    }

    fn whole(path: &Path) -> io::Result<Self> {
        let mut temporary = OsString::from(path);
        temporary.push(".partial");
        let temporary = PathBuf::from(temporary);
        remove_remains(&temporary)?;
        let mut options = OpenOptions::new();
        // A link of this name would be refused, not followed.
        options.write(true).create_new(true);
        // Exported memories are personal: only the owner of the file may read it.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&temporary)?;
        // Held while it is written, so that another export does not take it for remains.
        file.try_lock()?;
        Ok(Self {
            file,
            names: Some((temporary, path.to_owned())),
        })
    }

    pub(super) const fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Makes the file durable and gives it its name.
    pub(super) fn finish(mut self) -> io::Result<()> {
        if let Some((temporary, path)) = &self.names {
            self.file.sync_all()?;
            fs::rename(temporary, path)?;
            self.names = None;
        }
        Ok(())
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some((temporary, _)) = &self.names {
            // A file that stays is removed by the next export of this name.
            drop(fs::remove_file(temporary));
        }
    }
}

/// Removes what a killed export left under the temporary name.
pub(super) fn remove_remains(temporary: &Path) -> io::Result<()> {
    match fs::symlink_metadata(temporary) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
        Ok(found) if found.is_file() => {}
        Ok(_) => return Err(refused("has a temporary name that is no regular file")),
    }
    if let Err(fs::TryLockError::WouldBlock) = File::open(temporary)?.try_lock() {
        return Err(refused("is being written by another export"));
    }
    fs::remove_file(temporary)
}

fn refused(reason: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, format!("the output {reason}"))
}

#[cfg(unix)]
fn is_stream(found: &fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;

    let kind = found.file_type();
    kind.is_char_device() || kind.is_block_device() || kind.is_fifo()
}

#[cfg(not(unix))]
fn is_stream(_: &fs::Metadata) -> bool {
    false
}
