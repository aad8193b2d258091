//! `MANIFEST`: the file that makes a directory a store (docs/format.md, "The store directory").
//!
//! It holds the identity of the store and the secrets of its derived files, and no settings. It is
//! written once, last when a store is created, and never changed.

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

    /// Writes the file atomically.
    pub(crate) fn write(&self, disk: &dyn Disk) -> Result<(), Error> {
        self.announce(disk)?;
        Self::publish(disk)
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

    /// Reads the file of the store at `path`; `None` if no store was created there.
    pub(crate) fn read(disk: &dyn Disk, path: &Path) -> Result<Option<Self>, Error> {
        let failed = |source| ledger::Error::Io {
            action: "read",
            name: MANIFEST.into(),
            source,
        };
        let file = match disk.open(MANIFEST, OpenMode::Read) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(failed(source).into()),
        };
        let len = file.len_bytes().map_err(failed)?.min(LEN_MAX);
        let mut bytes = vec![0; usize::try_from(len).unwrap_or_default()];
        file.read_at(&mut bytes, 0).map_err(failed)?;
        let text = String::from_utf8(bytes)
            .map_err(|error| Error::damaged(MANIFEST, error.to_string()))?;
        Self::from_json(&text, path).map(Some)
    }

    /// Opens the file, to tell later whether it is still in place.
    pub(crate) fn open(disk: &dyn Disk) -> Result<Arc<dyn DiskFile>, Error> {
        let opened = disk.open(MANIFEST, OpenMode::Read);
        Ok(opened.map_err(|source| ledger::Error::io("open", MANIFEST, source))?)
    }

    fn to_json(&self) -> String {
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

    fn from_json(text: &str, path: &Path) -> Result<Self, Error> {
        let value =
            Value::from_json(text).map_err(|error| Error::damaged(MANIFEST, error.to_string()))?;
        let Value::Map(mut map) = value else {
            return Err(Error::damaged(MANIFEST, "not an object"));
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
            _ => return Err(Error::damaged(MANIFEST, "no version")),
        }
        let stated = map.remove("check");
        if stated != Some(Value::from(check(&map))) {
            return Err(Error::damaged(MANIFEST, "its check does not hold"));
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
        parsed().ok_or_else(|| Error::damaged(MANIFEST, "a member is missing or malformed"))
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
const FORMAT: &str = "grainstore";
const VERSION: u64 = 1;
const LEN_MAX: u64 = 64 * 1024;
