//! The lock of the vault: of several processes, and of several stores of one process, one changes its
//! files at a time, for one operation, while nobody reads them; readers share them.

use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::ledger::{self, DiskFile, OpenMode};
use crate::vault::{Error, VaultFiles};

/// The locked file `vault/LOCK`, released when dropped; the system releases it when a process dies.
#[must_use = "the files of the vault are another's when it is dropped"]
pub(crate) struct FileLock(Option<Arc<dyn DiskFile>>);

impl FileLock {
    /// Waits for the files of a vault, to change them.
    ///
    /// # Errors
    /// `ERR_STORE_LOCKED` after the wait of the files; storage errors.
    pub(crate) fn take(files: &VaultFiles) -> Result<Self, Error> {
        Self::wait(files, |file| file.try_lock())
    }

    /// Waits for the files of a vault, to read them beside others who read.
    ///
    /// # Errors
    /// As [`FileLock::take`].
    pub(crate) fn share(files: &VaultFiles) -> Result<Self, Error> {
        Self::wait(files, |file| file.try_lock_shared())
    }

    fn wait(
        files: &VaultFiles,
        try_lock: impl Fn(&dyn DiskFile) -> io::Result<bool>,
    ) -> Result<Self, Error> {
        let file = open(files).map_err(|source| Error::io("open", NAME, source))?;
        let Some(file) = file else {
            return Ok(Self(None));
        };
        let (mut waited, mut pause) = (Duration::ZERO, FIRST_PAUSE);
        loop {
            let locked = try_lock(&*file);
            if locked.map_err(|source| Error::io("lock", NAME, source))? {
                return Ok(Self(Some(file)));
            }
            if waited >= files.lock_wait {
                return Err(ledger::Error::Locked { holder: None }.into());
            }
            thread::sleep(pause);
            waited = waited.saturating_add(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.0.as_ref().map(|file| file.unlock()) {
            tracing::warn!(%error, "the lock of the vault is released by closing its file");
        }
    }
}

/// Opens the file, and creates it if it is missing; `None` where a process that only reads finds
/// none: no process has written the vault in this place.
fn open(files: &VaultFiles) -> io::Result<Option<Arc<dyn DiskFile>>> {
    let mode = match files.is_writer {
        true => OpenMode::Write,
        false => OpenMode::Read,
    };
    match files.disk.open(NAME, mode) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && !files.is_writer => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => match files.disk.create(NAME) {
            // Another process has created it meanwhile.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                files.disk.open(NAME, mode).map(Some)
            }
            created => created.map(Some),
        },
        opened => opened.map(Some),
    }
}

const NAME: &str = "vault/LOCK";
const FIRST_PAUSE: Duration = Duration::from_micros(50);
const LONGEST_PAUSE: Duration = Duration::from_millis(1);
