//! The file system that the root lies on: whether overwriting a file there overwrites its old bytes.
//!
//! A file system that copies on writing, or that journals data, keeps the old root after an erasure.
//! The mount table tells on Linux; elsewhere it is unknown.

use std::path::Path;

/// A file system, as the mount table names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Medium {
    pub(crate) name: String,
    /// Whether bytes are overwritten in place; `None` of a file system not known here.
    pub(crate) overwrites: Option<bool>,
}

impl Medium {
    /// Returns the file system of a file, which need not exist yet.
    #[cfg(target_os = "linux")]
    pub(crate) fn of(file: &Path) -> Option<Self> {
        let mut folders = file.ancestors().skip(1);
        let folder = folders.find_map(|folder| {
            // The parent of a plain name is the empty path.
            let is_here = folder.as_os_str().is_empty();
            let folder = if is_here { Path::new(".") } else { folder };
            folder.canonicalize().ok()
        })?;
        Self::in_table(
            &std::fs::read_to_string("/proc/self/mountinfo").ok()?,
            &folder,
        )
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn of(_: &Path) -> Option<Self> {
        None
    }

    /// Finds the file system of a folder in a mount table (proc_pid_mountinfo(5)).
    #[cfg(any(target_os = "linux", test))]
    fn in_table(table: &str, folder: &Path) -> Option<Self> {
        let mounts = table.lines().filter_map(|line| {
            let (mount, source) = line.split_once(" - ")?;
            let point = unescaped(mount.split(' ').nth(4)?);
            let mut source = source.split(' ');
            let (name, options) = (source.next()?, source.nth(1).unwrap_or_default());
            let depth = Path::new(&point).components().count();
            folder
                .starts_with(&point)
                .then(|| (depth, Self::named(name, options)))
        });
        // Of two mounts at one point the later one hides the earlier.
        mounts
            .max_by_key(|(depth, _)| *depth)
            .map(|(_, found)| found)
    }

    #[cfg(any(target_os = "linux", test))]
    fn named(name: &str, options: &str) -> Self {
        let journals = options.split(',').any(|option| option == "data=journal");
        Self {
            name: match journals {
                true => format!("{name} data=journal"),
                false => name.to_owned(),
            },
            overwrites: match name {
                _ if journals => Some(false),
                _ if COPIES.contains(&name) => Some(false),
                _ if OVERWRITES.contains(&name) => Some(true),
                _ => None,
            },
        }
    }
}

/// Returns a path of the table, in which white space and backslashes are octal.
#[cfg(any(target_os = "linux", test))]
fn unescaped(text: &str) -> String {
    let escapes = [
        ("\\040", " "),
        ("\\011", "\t"),
        ("\\012", "\n"),
        ("\\134", "\\"),
    ];
    let mut path = text.to_owned();
    for (escape, character) in escapes {
        path = path.replace(escape, character);
    }
    path
}

/// They write every change to another place.
#[cfg(any(target_os = "linux", test))]
const COPIES: [&str; 9] = [
    "btrfs", "zfs", "overlay", "bcachefs", "f2fs", "nilfs2", "ubifs", "jffs2", "aufs",
];

#[cfg(any(target_os = "linux", test))]
const OVERWRITES: [&str; 11] = [
    "ext2", "ext3", "ext4", "xfs", "jfs", "vfat", "exfat", "ntfs3", "tmpfs", "ramfs", "hfsplus",
];

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
23 22 0:21 / /home rw - btrfs /dev/sdb rw,space_cache
24 22 8:3 / /var/my\\040data rw - ext4 /dev/sdc rw,data=journal
25 22 0:30 / /srv rw - nfs4 host:/srv rw
26 22 0:31 / /mnt rw - overlay overlay rw
27 26 8:4 / /mnt rw - xfs /dev/sdd rw
";

    #[test]
    fn the_nearest_mount_says_whether_bytes_are_overwritten() {
        for (folder, name, overwrites) in [
            ("/etc", "ext4", Some(true)),
            ("/homes", "ext4", Some(true)),
            ("/home/ada/memory", "btrfs", Some(false)),
            ("/var/my data/x", "ext4 data=journal", Some(false)),
            ("/srv", "nfs4", None),
            ("/mnt", "xfs", Some(true)),
        ] {
            let found = Medium::in_table(TABLE, Path::new(folder)).unwrap();
            assert_eq!(
                (&*found.name, found.overwrites),
                (name, overwrites),
                "{folder}"
            );
        }
        assert_eq!(Medium::in_table("", Path::new("/")), None);
    }
}
