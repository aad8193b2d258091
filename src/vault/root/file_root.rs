//! The root in a file of two slots of 4 KiB, overwritten in place.
//!
//! A file that is replaced by another leaves its blocks behind; one that is overwritten in place
//! does not, on a file system that writes in place. The file is readable by its owner only, is never
//! opened through a link, and is in no backup.

use std::io;
use std::sync::Arc;

use zeroize::Zeroizing;

use crate::crypto::Random;
use crate::ledger::{Disk, DiskFile, OpenMode};
use crate::vault::Error;

use super::record::{self, SLOT_LEN};
use super::{Root, ShredRoot};

/// A [`ShredRoot`] in a file of the store's disk, `vault/root` by default.
#[derive(Debug)]
pub struct FileShredRoot {
    disk: Arc<dyn Disk>,
    name: String,
    store: [u8; 16],
    random: Arc<dyn Random>,
}

impl FileShredRoot {
    /// Returns the root of a store in a file that need not exist yet.
    pub fn new(
        disk: Arc<dyn Disk>,
        name: impl Into<String>,
        store: [u8; 16],
        random: Arc<dyn Random>,
    ) -> Self {
        Self {
            disk,
            name: name.into(),
            store,
            random,
        }
    }

    fn failed(&self, action: &'static str) -> impl Fn(io::Error) -> Error + '_ {
        move |source| Error::io(action, &self.name, source)
    }

    fn open(&self, mode: OpenMode) -> Result<Option<Arc<dyn DiskFile>>, Error> {
        match self.disk.open(&self.name, mode) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.failed("open")(error)),
        }
    }

    fn create(&self) -> Result<Arc<dyn DiskFile>, Error> {
        let folder = self.name.split_once('/').map_or("", |(folder, _)| folder);
        let create = || {
            let file = self.disk.create(&self.name)?;
            file.set_len(2 * SLOT_LEN as u64)?;
            file.sync()?;
            self.disk.sync_folder(folder)?;
            Ok(file)
        };
        create().map_err(self.failed("create"))
    }

    /// Reads a slot; one that the file is too short for is empty.
    fn slot(&self, file: &dyn DiskFile, slot: Slot) -> Result<Zeroizing<Vec<u8>>, Error> {
        let mut bytes = Zeroizing::new(vec![0; SLOT_LEN]);
        match file.read_at(&mut bytes, slot.offset()) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {}
            outcome => outcome.map_err(self.failed("read"))?,
        }
        Ok(bytes)
    }

    fn write(&self, file: &dyn DiskFile, slot: Slot, bytes: &[u8]) -> Result<(), Error> {
        let written = file.write_at(bytes, slot.offset());
        written
            .and_then(|()| file.sync())
            .map_err(self.failed("write"))
    }
}

/// One of the two slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slot {
    Even,
    Odd,
}

impl Slot {
    const fn of(epoch: u64) -> Self {
        match epoch % 2 {
            0 => Self::Even,
            _ => Self::Odd,
        }
    }

    const fn offset(self) -> u64 {
        match self {
            Self::Even => 0,
            Self::Odd => SLOT_LEN as u64,
        }
    }
}

impl ShredRoot for FileShredRoot {
    fn read(&self) -> Result<Vec<Root>, Error> {
        let Some(file) = self.open(OpenMode::Read)? else {
            return Ok(Vec::new());
        };
        let mut roots = Vec::new();
        for slot in [Slot::Even, Slot::Odd] {
            roots.extend(record::read(&self.store, &self.slot(&*file, slot)?));
        }
        Ok(roots)
    }

    fn stage(&self, next: &Root) -> Result<(), Error> {
        let file = match self.open(OpenMode::Write)? {
            Some(file) => file,
            None => self.create()?,
        };
        let bytes = record::written(&self.store, next);
        self.write(&*file, Slot::of(next.epoch), &bytes)
    }

    fn keep_only(&self, epoch: u64) -> Result<(), Error> {
        let Some(file) = self.open(OpenMode::Write)? else {
            return Err(Error::RootMissing { epoch });
        };
        for slot in [Slot::Even, Slot::Odd] {
            let bytes = self.slot(&*file, slot)?;
            let mut roots = record::read(&self.store, &bytes);
            let count = roots.len();
            roots.retain(|root| root.epoch == epoch);
            match roots.first() {
                // Losing a root to rot would lose every key: its copies are kept complete.
                Some(root) if slot == Slot::of(epoch) => {
                    if roots.len() < record::copies() {
                        self.write(&*file, slot, &record::written(&self.store, root))?;
                    }
                }
                _ if count == 0 && record::is_noise(&bytes) => {}
                _ => self.write(&*file, slot, &record::noise(&*self.random)?)?,
            }
        }
        Ok(())
    }
}
