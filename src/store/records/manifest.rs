//! `MANIFEST`: the file that makes a directory a store (docs/format.md, "The store directory").
//!
//! It holds the identity of the store and the secrets of its derived files, and no settings. It is
//! written once, last when a store is created, and never changed. Nothing else of a store opens
//! without it, so there is a copy, which is used when the file is damaged or missing.

use std::io;
use std::path::Path;
use std::sync::Arc;

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

use crate::codec::{Map, Value};
use crate::crypto::{Random, TombstoneKey};
use crate::grain::Time;
use crate::index::TermKey;
use crate::ledger::{self, Disk, DiskFile, OpenMode, StoreId};
use crate::store::Error;

/// The identity of a store, and the secrets that its derived files use.
///
/// It is JSON, so that a person can read which version a store has. It is written last when a
/// store is created, so a directory without it holds no store.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Manifest {
    pub(crate) store_id: StoreId,
    pub(crate) created_at: Time,
    term_secret: [u8; 16],
    tombstone_secret: [u8; 32],
}

impl Manifest {
    pub(crate) fn new(random: &dyn Random, now: Time) -> Result<Self, Error> {
        let (mut id, mut term_secret, mut tombstone_secret) = ([0; 16], [0; 16], [0; 32]);
        random.fill(&mut id)?;
        random.fill(&mut term_secret)?;
        random.fill(&mut tombstone_secret)?;
        Ok(Self {
            store_id: StoreId::new(id),
            created_at: now,
            term_secret,
            tombstone_secret,
        })
    }

    pub(crate) fn term_key(&self) -> TermKey {
        TermKey::new(self.term_secret)
    }

    pub(crate) fn tombstone_key(&self) -> TombstoneKey {
        TombstoneKey::new(self.tombstone_secret)
    }

    /// Writes the file atomically, and then its copy: a copy alone would make a store of a directory
    /// in which one is being created.
    pub(crate) fn write(&self, disk: &dyn Disk) -> Result<(), Error> {
        self.announce(disk)?;
        Self::publish(disk)?;
        self.write_copy(disk)
    }

    fn write_copy(&self, disk: &dyn Disk) -> Result<(), Error> {
        let write = || -> io::Result<()> {
            drop(disk.remove(COPY_TEMPORARY));
            let file = disk.create(COPY_TEMPORARY)?;
            file.write_at(self.to_json().as_bytes(), 0)?;
            file.sync()?;
            disk.rename(COPY_TEMPORARY, COPY)?;
            disk.sync_folder("")
        };
        Ok(write().map_err(|source| ledger::Error::io("write", COPY, source))?)
    }

    /// Makes both files say what this says, and returns the fault of one that did not. A copy that is
    /// missing is no fault: earlier versions wrote none.
    ///
    /// # Errors
    /// `ERR_STORAGE_IO`, `ERR_STORAGE_FULL`.
    pub(crate) fn mend(&self, disk: &dyn Disk) -> Result<Option<String>, Error> {
        let fault = |name| match Self::read_file(disk, name, Path::new("")) {
            Ok(Some(found)) if found == *self => None,
            Ok(Some(_)) => Some(format!("{name} is of another store")),
            Ok(None) => Some(format!("{name} is missing")),
            Err(error) => Some(error.to_string()),
        };
        let first = fault(MANIFEST);
        if first.is_some() {
            self.announce(disk)?;
            Self::publish(disk)?;
        }
        let second = fault(COPY);
        if second.is_some() {
            self.write_copy(disk)?;
        }
        let is_new = second == Some(format!("{COPY} is missing"));
        Ok(first.or(second.filter(|_| !is_new)))
    }

    /// Writes the file beside its place. A directory with this file and without `MANIFEST` holds no
    /// store: all in it belongs to a creation or a copy of this store that is not finished.
    pub(crate) fn announce(&self, disk: &dyn Disk) -> Result<(), Error> {
        let write = || -> io::Result<()> {
            // A crash inside an earlier creation may have left it.
            drop(disk.remove(TEMPORARY));
            let file = disk.create(TEMPORARY)?;
            file.write_at(self.to_json().as_bytes(), 0)?;
            file.sync()
        };
        Ok(write().map_err(|source| ledger::Error::io("write", MANIFEST, source))?)
    }

    /// Puts the announced file into its place: from here on the directory holds a store.
    pub(crate) fn publish(disk: &dyn Disk) -> Result<(), Error> {
        let publish = || -> io::Result<()> {
            disk.rename(TEMPORARY, MANIFEST)?;
            disk.sync_folder("")
        };
        Ok(publish().map_err(|source| ledger::Error::io("write", MANIFEST, source))?)
    }

    /// Returns how much of the announced file is there: none of it, if it is absent; `None` if it
    /// is the file of another store.
    pub(crate) fn announced(&self, disk: &dyn Disk) -> Result<Option<Announced>, Error> {
        let failed = |source| ledger::Error::io("read", TEMPORARY, source);
        let file = match disk.open(TEMPORARY, OpenMode::Read) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Some(Announced::Partly));
            }
            Err(source) => return Err(failed(source).into()),
        };
        let len = file.len_bytes().map_err(failed)?.min(LEN_MAX);
        let mut bytes = vec![0; usize::try_from(len).unwrap_or_default()];
        file.read_at(&mut bytes, 0).map_err(failed)?;
        let expected = self.to_json();
        Ok(if bytes == expected.as_bytes() {
            Some(Announced::Wholly)
        } else {
            let is_start = expected.as_bytes().starts_with(&bytes);
            is_start.then_some(Announced::Partly)
        })
    }

    /// Makes the file durable: its writer may have been killed between the rename and the sync of
    /// the directory, and a later power failure would lose the store.
    pub(crate) fn settle(&self, disk: &dyn Disk) -> Result<(), Error> {
        let failed = |source| ledger::Error::Io {
            action: "sync the folder of",
            name: MANIFEST.into(),
            source,
        };
        Ok(disk.sync_folder("").map_err(failed)?)
    }

    /// Reads the file of the store at `path`, or its copy if the file is damaged or missing; `None`
    /// if no store was created there.
    ///
    /// # Errors
    /// Those of the file: `ERR_STORE_VERSION` also if there is a copy, since a newer version may write
    /// it differently.
    pub(crate) fn read(disk: &dyn Disk, path: &Path) -> Result<Option<Self>, Error> {
        match Self::read_file(disk, MANIFEST, path) {
            Ok(Some(found)) => Ok(Some(found)),
            Err(error @ Error::Version { .. }) => Err(error),
            // A fault of the copy hides none of the file.
            absent => match Self::read_file(disk, COPY, path) {
                Ok(Some(copy)) => Ok(Some(copy)),
                _ => absent,
            },
        }
    }

    /// Reads what is left of the file and its copy, for a store that is damaged: also a file of which
    /// one byte is not what was written. Returns the fault of the file with it.
    ///
    /// # Errors
    /// `ERR_STORE_VERSION` if both files are of a newer version.
    pub(crate) fn salvage(
        disk: &dyn Disk,
        path: &Path,
    ) -> Result<(Option<Self>, Option<String>), Error> {
        let first = Self::read_file(disk, MANIFEST, path);
        let fault = match first {
            Ok(Some(found)) => return Ok((Some(found), None)),
            Ok(None) => format!("{MANIFEST} is missing"),
            Err(ref error) => error.to_string(),
        };
        if let Ok(Some(copy)) = Self::read_file(disk, COPY, path) {
            return Ok((Some(copy), Some(fault)));
        }
        let mended = [MANIFEST, COPY].iter().find_map(|name| {
            let file = disk.open(name, OpenMode::Read).ok()?;
            let len = usize::try_from(file.len_bytes().ok()?).ok()?;
            let mut bytes = vec![0; len.min(MENDED_MAX)];
            file.read_at(&mut bytes, 0).ok()?;
            Self::with_one_other_byte(bytes)
        });
        match (mended, first) {
            (None, Err(error @ Error::Version { .. })) => Err(error),
            (mended, _) => Ok((mended, Some(fault))),
        }
    }

    /// Returns the manifest that differs from `bytes` in one byte: its check proves it.
    fn with_one_other_byte(mut bytes: Vec<u8>) -> Option<Self> {
        for at in 0..bytes.len() {
            let found = *bytes.get(at)?;
            // It is ASCII.
            for other in 0..128 {
                *bytes.get_mut(at)? = other;
                let text = std::str::from_utf8(&bytes).ok();
                let read =
                    text.and_then(|text| Self::from_json(text, MANIFEST, Path::new("")).ok());
                if read.is_some() {
                    return read;
                }
            }
            *bytes.get_mut(at)? = found;
        }
        None
    }

    /// Reads one of the two files.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED`, `ERR_NOT_A_STORE`, `ERR_STORE_VERSION`, `ERR_STORAGE_IO`.
    pub(crate) fn read_file(
        disk: &dyn Disk,
        name: &'static str,
        path: &Path,
    ) -> Result<Option<Self>, Error> {
        let failed = |source| ledger::Error::Io {
            action: "read",
            name: name.into(),
            source,
        };
        let file = match disk.open(name, OpenMode::Read) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(failed(source).into()),
        };
        let len = file.len_bytes().map_err(failed)?.min(LEN_MAX);
        let mut bytes = vec![0; usize::try_from(len).unwrap_or_default()];
        file.read_at(&mut bytes, 0).map_err(failed)?;
        let text =
            String::from_utf8(bytes).map_err(|error| Error::damaged(name, error.to_string()))?;
        Self::from_json(&text, name, path).map(Some)
    }

    /// Opens the file, to tell later whether it is still in place.
    pub(crate) fn open(disk: &dyn Disk) -> Result<Arc<dyn DiskFile>, Error> {
        let opened = disk.open(MANIFEST, OpenMode::Read);
        let opened = opened.or_else(|error| match error.kind() {
            // A store that is opened for reading is not mended.
            io::ErrorKind::NotFound => disk.open(COPY, OpenMode::Read),
            _ => Err(error),
        });
        Ok(opened.map_err(|source| ledger::Error::io("open", MANIFEST, source))?)
    }

    /// Reads the bytes of the file.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED`, `ERR_NOT_A_STORE`, `ERR_STORE_VERSION`.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let text = std::str::from_utf8(bytes);
        let text = text.map_err(|error| Error::damaged(MANIFEST, error.to_string()))?;
        Self::from_json(text, MANIFEST, Path::new(MANIFEST))
    }

    pub(crate) fn to_json(&self) -> String {
        let mut map = Map::from_iter([
            ("format", Value::from(FORMAT)),
            ("version", VERSION.into()),
            ("store_id", self.store_id.to_string().into()),
            ("created_at", self.created_at.to_string().into()),
            ("term_key", HEXLOWER.encode(&self.term_secret).into()),
            (
                "tombstone_key",
                HEXLOWER.encode(&self.tombstone_secret).into(),
            ),
        ]);
        map.insert("check", check(&map));
        format!("{}\n", Value::Map(map).to_json())
    }

    fn from_json(text: &str, file: &'static str, path: &Path) -> Result<Self, Error> {
        let damaged = |reason: &str| Error::damaged(file, reason);
        let value = Value::from_json(text).map_err(|error| damaged(&error.to_string()))?;
        let Value::Map(mut map) = value else {
            return Err(damaged("not an object"));
        };
        if map.get("format").and_then(Value::as_text) != Some(FORMAT) {
            return Err(Error::NotAStore {
                path: path.to_owned(),
                reason: "its MANIFEST is another program's".into(),
            });
        }
        // The version is checked first: a newer one may define the rest differently.
        match map.get("version") {
            Some(Value::Int(version)) if version.as_u64().is_some_and(|found| found > VERSION) => {
                return Err(Error::Version {
                    found: version.as_u64().unwrap_or_default(),
                    newest: VERSION,
                });
            }
            Some(Value::Int(_)) => {}
            _ => return Err(damaged("no version")),
        }
        let stated = map.remove("check");
        if stated != Some(Value::from(check(&map))) {
            return Err(damaged("its check does not hold"));
        }
        let text = |name: &str| map.get(name).and_then(Value::as_text);
        let parsed = || {
            Some(Self {
                store_id: StoreId::new(bytes(text("store_id")?)?),
                created_at: Time::parse(text("created_at")?).ok()?,
                term_secret: bytes(text("term_key")?)?,
                tombstone_secret: bytes(text("tombstone_key")?)?,
            })
        };
        parsed().ok_or_else(|| damaged("a member is missing or malformed"))
    }
}

/// How much of a MANIFEST that is not in its place yet a crash has left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Announced {
    /// A beginning of it: nothing else was written after it.
    Partly,
    Wholly,
}

fn bytes<const N: usize>(hex: &str) -> Option<[u8; N]> {
    HEXLOWER.decode(hex.as_bytes()).ok()?.try_into().ok()
}

/// Returns the checksum. It detects a flipped bit: with a wrong key every lookup would find
/// nothing.
fn check(map: &Map) -> String {
    let hash: [u8; 32] = Sha256::digest(Value::Map(map.clone()).to_json()).into();
    let [a, b, c, d, e, f, g, h, ..] = hash;
    HEXLOWER.encode(&[a, b, c, d, e, f, g, h])
}

pub(crate) const MANIFEST: &str = "MANIFEST";
pub(crate) const TEMPORARY: &str = "MANIFEST.new";
pub(crate) const COPY: &str = "MANIFEST.copy";
pub(crate) const COPY_TEMPORARY: &str = "MANIFEST.copy.new";
const FORMAT: &str = "grainstore";
const VERSION: u64 = 1;
const LEN_MAX: u64 = 64 * 1024;
/// The longest file of which every other byte is tried.
const MENDED_MAX: usize = 1024;
