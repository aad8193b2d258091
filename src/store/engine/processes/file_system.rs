//! File systems whose locks hold on one machine only, or not at all: two processes could write one
//! store at once.
//!
//! Known on Linux alone, from the table of mounts; elsewhere nothing is refused.

use std::path::{Path, PathBuf};

use crate::store::Error;

/// Refuses a directory on a file system whose locks cannot be trusted.
///
/// # Errors
/// `ERR_UNSUPPORTED`.
pub(crate) fn authorize_locks(path: &Path) -> Result<(), Error> {
    let Ok(mounts) = std::fs::read_to_string("/proc/self/mountinfo") else {
        return Ok(());
    };
    // The directory may not be there yet.
    let Ok(absolute) = std::path::absolute(path) else {
        return Ok(());
    };
    let mut parents = absolute.ancestors();
    let Some(found) = parents.find_map(|path| path.canonicalize().ok()) else {
        return Ok(());
    };
    match untrusted_file_system(&mounts, &found) {
        None => Ok(()),
        Some(kind) => Err(Error::FileSystem {
            path: path.to_owned(),
            kind,
        }),
    }
}

/// Returns the type of the file system of a path, if its locks cannot be trusted. `mounts` is the
/// text of `/proc/self/mountinfo`, and the path is absolute and has no links.
#[doc(hidden)]
pub fn untrusted_file_system(mounts: &str, path: &Path) -> Option<String> {
    let mounts = mounts.lines().filter_map(mount);
    let around = mounts.filter(|(point, _)| path.starts_with(point));
    // Of two mounts at one point the later one hides the earlier.
    let (_, kind) = around.max_by_key(|(point, _)| point.components().count())?;
    let is_untrusted = UNTRUSTED.contains(&kind) || kind.starts_with("nfs");
    is_untrusted.then(|| kind.to_owned())
}

/// Returns the mount point and the type of a line: `36 35 98:0 /root /mnt options … - type source`.
fn mount(line: &str) -> Option<(PathBuf, &str)> {
    let (before, after) = line.split_once(" - ")?;
    let point = before.split(' ').nth(4)?;
    Some((PathBuf::from(unescaped(point)), after.split(' ').next()?))
}

/// Returns a mount point as it is: the kernel writes spaces and the like as `\\040`.
fn unescaped(point: &str) -> String {
    let escapes = [
        ("\\040", " "),
        ("\\011", "\t"),
        ("\\012", "\n"),
        ("\\134", "\\"),
    ];
    let escaped = escapes.iter();
    escaped.fold(point.to_owned(), |point, (from, to)| {
        point.replace(from, to)
    })
}

/// Types whose locks are not those of the other machines, or whose files are not seen at once.
const UNTRUSTED: [&str; 23] = [
    "9p",
    "afs",
    "cifs",
    "coda",
    "davfs",
    "fuse.curlftpfs",
    "fuse.davfs",
    "fuse.gcsfuse",
    "fuse.goofys",
    "fuse.mount-s3",
    "fuse.mountpoint-s3",
    "fuse.prl_fsd",
    "fuse.rclone",
    "fuse.s3fs",
    "fuse.smbnetfs",
    "fuse.sshfs",
    "fuse.vmhgfs-fuse",
    "ncpfs",
    "prl_fs",
    "smb2",
    "smb3",
    "smbfs",
    "vboxsf",
];
