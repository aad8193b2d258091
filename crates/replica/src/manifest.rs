//! Manifests: which objects make the ledger, up to which entry and head.
//!
//! A manifest is never changed. Its name is its number and its hash, so the newest is found by a list
//! of names, and a name proves its content.

use grainstore::ledger::{LedgerPosition, StoreId};
use serde::{Deserialize, Serialize};

use crate::{Error, Hash};

/// The copy at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub(crate) format: String,
    pub(crate) version: u32,
    /// The id of the store, in hexadecimal digits.
    pub(crate) store: String,
    /// One more than that of the manifest before.
    pub(crate) number: u64,
    /// Where the copy ends.
    pub(crate) end: Position,
    /// The time of the newest entry, in milliseconds since 1970.
    pub(crate) newest_ms: i64,
    /// The object that holds the `MANIFEST` of the store.
    pub(crate) identity: Hash,
    /// Whether objects are encrypted.
    pub(crate) sealed: bool,
    /// The parts of the ledger, in order.
    pub(crate) parts: Vec<Part>,
    /// Entries that an erasure lists, and that an object may still hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) waits: Vec<u64>,
    /// The signature of all this without it: a COSE_Sign1 message in hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) signature: Option<String>,
}

/// A position in the ledger between two frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Position {
    pub(crate) entries: u64,
    pub(crate) head: Hash,
    pub(crate) segment: u32,
    pub(crate) offset: u64,
}

/// A part of the ledger: an object with frames of one segment, or a list of parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Part {
    /// 0 for frames; n for a list of parts of level n - 1.
    pub(crate) level: u8,
    /// The name of its object.
    pub(crate) hash: Hash,
    /// Its first entry.
    pub(crate) first: u64,
    /// The entry after its last.
    pub(crate) end: u64,
    /// Where its frames begin.
    pub(crate) segment: u32,
    pub(crate) offset: u64,
    /// The length of its frames in bytes; of a list, of all of them.
    pub(crate) bytes: u64,
}

impl Part {
    /// Returns the folder and the name of its object.
    pub(crate) fn name(&self) -> String {
        match self.level {
            0 => object_name(&self.hash),
            _ => list_name(&self.hash),
        }
    }
}

impl Manifest {
    /// Returns the manifest of a copy without entries.
    pub(crate) fn empty(store: &StoreId, identity: Hash, sealed: bool) -> Self {
        let beginning = grainstore::store::replica::beginning(store);
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            store: store.to_string(),
            number: 0,
            end: beginning.into(),
            newest_ms: i64::MIN,
            identity,
            sealed,
            parts: Vec::new(),
            waits: Vec::new(),
            signature: None,
        }
    }

    /// Returns its bytes.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("texts, numbers and lists are JSON")
    }

    /// Reads its bytes, which the name has proven.
    pub(crate) fn parse(name: &str, bytes: &[u8]) -> Result<Self, Error> {
        let read: Result<Self, _> = serde_json::from_slice(bytes);
        let manifest = read.map_err(|error| Error::damaged(name, &error))?;
        if manifest.format != FORMAT {
            return Err(Error::damaged(name, &"it is another program's"));
        }
        if manifest.version > VERSION {
            return Err(Error::damaged(name, &"it is of a newer version"));
        }
        Ok(manifest)
    }
}

/// The number and the hash of a manifest: its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct ManifestName {
    pub(crate) number: u64,
    pub(crate) hash: Hash,
}

impl ManifestName {
    pub(crate) fn of(number: u64, bytes: &[u8]) -> Self {
        let hash = Hash::of(bytes);
        Self { number, hash }
    }

    /// Reads the last part of a name; `None` for another file.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        let (number, hash) = name.strip_suffix(".json")?.split_once('-')?;
        let found = Self {
            number: number.parse().ok()?,
            hash: hash.parse().ok()?,
        };
        (found.to_string() == format!("{MANIFESTS}/{name}")).then_some(found)
    }
}

impl std::fmt::Display for ManifestName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{MANIFESTS}/{:016}-{}.json", self.number, self.hash)
    }
}

impl From<LedgerPosition> for Position {
    fn from(position: LedgerPosition) -> Self {
        Self {
            entries: position.entries,
            head: Hash::new(position.head),
            segment: position.segment,
            offset: position.offset,
        }
    }
}

impl From<Position> for LedgerPosition {
    fn from(position: Position) -> Self {
        Self {
            entries: position.entries,
            head: position.head.to_bytes(),
            segment: position.segment,
            offset: position.offset,
        }
    }
}

/// Returns the name of an object with frames.
pub(crate) fn object_name(hash: &Hash) -> String {
    format!("{OBJECTS}/{hash}")
}

/// Returns the name of a list of parts.
pub(crate) fn list_name(hash: &Hash) -> String {
    format!("{LISTS}/{hash}")
}

pub(crate) const MANIFESTS: &str = "manifests";
pub(crate) const OBJECTS: &str = "objects";
pub(crate) const LISTS: &str = "lists";
const FORMAT: &str = "grainstore-replica";
const VERSION: u32 = 1;
