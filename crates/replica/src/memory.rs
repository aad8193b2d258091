//! The memory of one place: the last manifest that was seen there, in a file of the store's folder,
//! so that a copy that was rolled back is not believed.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::bucket::{Bucket, Named};
use crate::manifest::{Manifest, ManifestName};
use crate::{Error, Hash};

/// How far the copy in one place is, as this store knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// The place.
    pub url: String,
    /// The number of entries that the copy has.
    pub entries: u64,
    /// The number of erased entries that objects of the copy may still hold.
    pub waits: u64,
    /// Whether a process ships there now.
    #[serde(skip)]
    pub is_shipping: bool,
    pub(crate) manifest: ManifestName,
    /// The manifest that is being written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<ManifestName>,
}

impl Seen {
    pub(crate) fn of(url: &str, name: ManifestName, manifest: &Manifest) -> Self {
        Self {
            url: url.to_owned(),
            entries: manifest.end.entries,
            waits: manifest.waits.len() as u64,
            is_shipping: false,
            manifest: name,
            next: None,
        }
    }

    /// Returns what the store in a directory knows of its copies.
    ///
    /// # Errors
    /// `ERR_STORAGE_IO`; a file that says nothing is passed over.
    pub fn all(store: &Path) -> Result<Vec<Self>, Error> {
        let folder = store.join(FOLDER);
        let failed = |error| Error::file("read", &folder, error);
        let items = match folder.read_dir() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            items => items.map_err(failed)?,
        };
        let mut found = Vec::new();
        for item in items {
            let path = item.map_err(failed)?.path();
            if path.extension().is_some_and(|ending| ending == "json") {
                let seen = read(&path).ok().flatten();
                found.extend(seen.map(|seen| Self {
                    is_shipping: is_locked(&path),
                    ..seen
                }));
            }
        }
        found.sort_by(|a, b| a.url.cmp(&b.url));
        Ok(found)
    }
}

/// Returns the newest manifest of a copy, which is not older than the one that was seen, and not another
/// in its place; `None` if nothing was seen and nothing is there.
///
/// # Errors
/// `ERR_BACKUP_DIVERGED` for a copy that was rolled back or is forked; `ERR_STORAGE_IO`.
pub(crate) async fn current(bucket: &Bucket, seen: Option<&Seen>) -> Result<Option<Named>, Error> {
    let mut pause = FIRST_PAUSE;
    for _ in 1..LOOKS {
        match look(bucket, seen).await {
            // The one that was seen is removed when there are newer ones, which a list may lack.
            Err(Error::RolledBack { .. }) => tokio::time::sleep(pause).await,
            found => return found,
        }
        pause *= 2;
    }
    look(bucket, seen).await
}

async fn look(bucket: &Bucket, seen: Option<&Seen>) -> Result<Option<Named>, Error> {
    let mut newest = bucket.newest().await?;
    let Some(seen) = seen else {
        return Ok(newest);
    };
    // A list may lack what was written last, and the process may have ended before it knew.
    for name in [Some(seen.manifest), seen.next].into_iter().flatten() {
        let is_known = |(newest, _): &Named| newest.number >= name.number;
        if newest.as_ref().is_some_and(is_known) {
            continue;
        }
        match bucket.manifest(&name).await {
            Ok(Some(manifest)) => newest = Some((name, manifest)),
            Ok(None) | Err(Error::Damaged { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    let found = newest.as_ref().map_or(0, |(name, _)| name.number);
    let seen_number = seen.manifest.number;
    let Some((name, manifest)) = newest.filter(|(name, _)| name.number >= seen_number) else {
        return Err(Error::RolledBack {
            seen: seen_number,
            found,
        });
    };
    let forked = |reason| Error::Forked {
        number: name.number,
        reason,
    };
    if name.number == seen_number && name != seen.manifest {
        return Err(forked("another was seen"));
    }
    if manifest.end.entries < seen.entries {
        return Err(forked("it has fewer entries than an earlier one"));
    }
    Ok(Some((name, manifest)))
}

/// The file of a [`Seen`], held by one process.
#[derive(Debug)]
pub(crate) struct Memory {
    path: PathBuf,
    _lock: File,
}

impl Memory {
    /// Opens the memory of a store for a place to which it is shipped.
    pub(crate) fn of_source(store: &Path, url: &str) -> Result<Self, Error> {
        let digits = Hash::of(url.as_bytes()).to_string();
        Self::open(store, &format!("{}.json", &digits[..16]))
    }

    /// Opens the memory of a directory that follows.
    pub(crate) fn of_follower(folder: &Path) -> Result<Self, Error> {
        Self::open(folder, FOLLOWS)
    }

    fn open(store: &Path, name: &str) -> Result<Self, Error> {
        let folder = store.join(FOLDER);
        create_private(&folder).map_err(|error| Error::file("create", &folder, error))?;
        let path = folder.join(name);
        let lock_path = lock_of(&path);
        let failed = |error| Error::file("lock", &lock_path, error);
        let lock = File::create(&lock_path).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path, _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(Error::Busy),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }

    /// Reads it; `None` if nothing was seen yet.
    pub(crate) fn read(&self) -> Result<Option<Seen>, Error> {
        read(&self.path).map_err(|error| Error::file("read", &self.path, error))
    }

    /// Writes it as a whole.
    pub(crate) fn write(&self, seen: &Seen) -> Result<(), Error> {
        let text = serde_json::to_string(seen).expect("texts and numbers are JSON");
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let write = || -> io::Result<()> {
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            file.write_all(text.as_bytes())?;
            file.as_file().sync_data()?;
            // An older one after a power failure is still true.
            file.persist(&self.path).map_err(|error| error.error)?;
            Ok(())
        };
        write().map_err(|error| Error::file("write", &self.path, error))
    }
}

/// Returns whether a directory follows a copy.
pub(crate) fn is_follower(folder: &Path) -> bool {
    folder.join(FOLDER).join(FOLLOWS).exists()
}

fn is_locked(path: &Path) -> bool {
    let lock = File::open(lock_of(path));
    lock.is_ok_and(|lock| matches!(lock.try_lock(), Err(TryLockError::WouldBlock)))
}

/// Returns the name of the file that the process holds.
fn lock_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    PathBuf::from(name)
}

fn read(path: &Path) -> io::Result<Option<Seen>> {
    match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
        Err(error) => Err(error),
    }
}

/// Creates a folder that its owner alone reads.
fn create_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// How often a copy is looked at before it counts as rolled back.
const LOOKS: u32 = 4;
const FIRST_PAUSE: Duration = Duration::from_millis(200);

/// The folder of the store; docs/format.md names it.
const FOLDER: &str = "replica";
/// The engine opens no directory with it for writing.
const FOLLOWS: &str = "FOLLOWS";
