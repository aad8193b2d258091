//! Reading one file of settings: only a regular one, under its own name, of this user.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// What there is at a path.
#[derive(Debug)]
pub(super) enum Found {
    Nothing,
    /// A file that is passed over, and why.
    Skipped(&'static str),
    Text(String),
}

/// Reads a file. A link or a pipe may have been put there to be followed or to halt the command.
///
/// # Errors
/// Errors of the system.
pub(super) fn read(path: &Path) -> io::Result<Found> {
    match path.symlink_metadata() {
        Ok(found) if !found.is_file() => {
            return Ok(Found::Skipped("it is a link, a pipe or a directory"));
        }
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
        // A path through a file, or a folder that nobody shows.
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Ok(Found::Nothing),
        Err(error) => return Err(error),
    }
    let file = open(path)?;
    if !file.metadata()?.is_file() {
        return Ok(Found::Skipped("it is a link, a pipe or a directory"));
    }
    if !is_trusted(&file)? {
        return Ok(Found::Skipped("another user owns it or may write it"));
    }
    let mut text = String::new();
    file.take(LEN_MAX).read_to_string(&mut text)?;
    Ok(Found::Text(text))
}

#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Returns whether only this user or the administrator can have written the file.
#[cfg(unix)]
fn is_trusted(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let found = file.metadata()?;
    let me = rustix::process::geteuid().as_raw();
    Ok(is_safe(found.uid(), found.mode(), me))
}

#[cfg(not(unix))]
fn is_trusted(_: &File) -> io::Result<bool> {
    Ok(true)
}

#[cfg(unix)]
const fn is_safe(owner: u32, mode: u32, me: u32) -> bool {
    (owner == me || owner == 0) && mode & 0o022 == 0
}

/// Longer than any file of settings.
const LEN_MAX: u64 = 64 << 10;

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_others_may_write_is_not_read() {
        for (owner, mode, is_read) in [
            (1000, 0o100_600, true),
            (1000, 0o100_644, true),
            (0, 0o100_644, true),
            (1001, 0o100_644, false),
            (1000, 0o100_664, false),
            (0, 0o100_646, false),
        ] {
            assert_eq!(is_safe(owner, mode, 1000), is_read, "{owner} {mode:o}");
        }
    }
}
