//! Records of erasures: one that has begun, one that is complete, and the restoration of a ledger
//! that erasures behind the restored point are carried over to.

use crate::codec::{Map, Value};
use crate::grain::Time;
use crate::ledger::EntryId;
use crate::policy::Protection;

use super::Uid;
use super::fields::{count, decode, flag, row, sequence, text, uids};

/// An erasure that has begun: the entries it blanks, and the tombstones that keep their grains from
/// being stored again.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ErasingRecord {
    pub(crate) rows: Vec<EntryId>,
    pub(crate) tombstones: Vec<[u8; 32]>,
    /// The protections that other grains had from the erased ones.
    pub(crate) protections: Vec<ProtectionTombstone>,
    /// The sealed persons whose keys it destroys.
    pub(crate) persons: Vec<Uid>,
    /// Those of them whose entries that are not erased are kept under a hold key.
    pub(crate) held: Vec<Uid>,
    /// The other sealed persons of whom it erases an entry: their keys still open what a disk keeps
    /// of it.
    pub(crate) residue: Vec<Uid>,
    pub(crate) reason: String,
    pub(crate) authority: String,
}

/// A protection that outlives its grain (OMS 23.6).
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ProtectionTombstone {
    /// The tombstone of the erased grain, or of a grain of its lineage.
    pub(crate) of: [u8; 32],
    /// Whether it protects the grains derived from that grain, and not that grain itself.
    pub(crate) is_below: bool,
    pub(crate) protection: Protection,
}

impl ProtectionTombstone {
    fn to_map(&self) -> Map {
        Map::from_iter([
            ("h", Value::Bytes(self.of.to_vec())),
            ("d", Value::Bool(self.is_below)),
            ("ip", Value::Map(self.protection.to_tombstone())),
        ])
    }

    fn from_map(map: &Map) -> Option<Self> {
        let rule = map.get("ip").and_then(Value::as_map);
        Some(Self {
            of: map.get("h")?.as_bytes()?.try_into().ok()?,
            is_below: flag(map, "d")?,
            protection: Protection::from_tombstone(rule.unwrap_or(&Map::default())),
        })
    }
}

impl ErasingRecord {
    pub(super) fn to_map(&self) -> Map {
        let rows = self.rows.iter().flat_map(|row| row.get().to_be_bytes());
        let mut map = Map::from_iter([
            ("r", Value::Bytes(rows.collect())),
            ("t", Value::Bytes(self.tombstones.concat())),
            ("why", self.reason.as_str().into()),
            ("by", self.authority.as_str().into()),
        ]);
        if !self.protections.is_empty() {
            let left = self.protections.iter();
            let left = left.map(|left| Value::Map(left.to_map()));
            map.insert("p", Value::Array(left.collect()));
        }
        if !self.persons.is_empty() {
            map.insert("u", Value::Bytes(self.persons.concat()));
        }
        if !self.held.is_empty() {
            map.insert("h", Value::Bytes(self.held.concat()));
        }
        if !self.residue.is_empty() {
            map.insert("s", Value::Bytes(self.residue.concat()));
        }
        map
    }

    pub(super) fn from_map(map: &Map) -> Option<Self> {
        let (tombstones, rest) = map.get("t")?.as_bytes()?.as_chunks();
        rest.is_empty().then_some(())?;
        Some(Self {
            rows: rows_of(map).unwrap_or_default(),
            tombstones: tombstones.to_vec(),
            protections: match map.get("p") {
                Some(left) => {
                    let left = left.as_array()?.iter();
                    let left = left.map(|left| ProtectionTombstone::from_map(left.as_map()?));
                    left.collect::<Option<_>>()?
                }
                None => Vec::new(),
            },
            persons: uids(map, "u")?,
            held: uids(map, "h")?,
            residue: uids(map, "s")?,
            reason: text(map, "why")?.to_owned(),
            authority: text(map, "by")?.to_owned(),
        })
    }
}

/// Returns the entries that the body of an `erasing` entry lists; none for a malformed one, so that
/// the entries it blanked show as damage.
pub(crate) fn erased_rows(body: &[u8]) -> Vec<EntryId> {
    let map = decode(body);
    map.as_deref().and_then(rows_of).unwrap_or_default()
}

fn rows_of(map: &Map) -> Option<Vec<EntryId>> {
    let (rows, rest) = map.get("r")?.as_bytes()?.as_chunks();
    rest.is_empty().then_some(())?;
    let rows = rows.iter().copied().map(u64::from_be_bytes);
    Some(rows.map(EntryId::new).collect())
}

/// An erasure that is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ErasedRecord {
    /// The sequence of its [`ErasingRecord`].
    pub(crate) begun: EntryId,
}

impl ErasedRecord {
    pub(super) fn to_map(self) -> Map {
        Map::from_iter([("e", sequence(self.begun))])
    }

    pub(super) fn from_map(map: &Map) -> Option<Self> {
        let begun = row(map, "e")?;
        Some(Self { begun })
    }
}

/// The point up to which a ledger was restored.
///
/// Frames are restored whole: a batch is restored completely or not at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// The end of the source.
    End,
    /// The last frame at which the ledger had no more entries than this.
    Entries(u64),
    /// The entries written up to this time, by the clock of the store.
    Time(Time),
}

impl Until {
    pub(crate) fn keeps(self, entries: u64, time_ms: i64) -> bool {
        match self {
            Self::End => true,
            Self::Entries(most) => entries <= most,
            Self::Time(last) => time_ms <= last.ms(),
        }
    }
}

/// The restoration of a ledger: the head of the source, and the requested point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RestoredRecord {
    /// The last leaf of the source's hash chain.
    pub(crate) head: Vec<u8>,
    /// The number of entries of the source.
    pub(crate) entries: u64,
    pub(crate) until: String,
}

impl RestoredRecord {
    pub(crate) fn new(head: &[u8], entries: u64, until: Until) -> Self {
        Self {
            head: head.to_vec(),
            entries,
            until: match until {
                Until::End => "end".into(),
                Until::Entries(entries) => format!("entries {entries}"),
                Until::Time(time) => format!("time {time}"),
            },
        }
    }

    /// The recovery of a damaged ledger, of which `lost` entries did not come out; `head` is empty if
    /// that of the source is not known.
    pub(crate) fn recovered(head: Vec<u8>, entries: u64, lost: u64) -> Self {
        Self {
            head,
            entries,
            until: format!("recovered, {lost} lost"),
        }
    }

    /// The record in the place of an entry that did not come out of a damaged ledger.
    pub(crate) fn lost() -> Self {
        Self {
            head: Vec::new(),
            entries: 1,
            until: "lost".to_owned(),
        }
    }

    pub(super) fn to_map(&self) -> Map {
        Map::from_iter([
            ("h", Value::Bytes(self.head.clone())),
            ("n", self.entries.into()),
            ("why", self.until.as_str().into()),
        ])
    }

    pub(super) fn from_map(map: &Map) -> Option<Self> {
        Some(Self {
            head: map.get("h")?.as_bytes()?.to_vec(),
            entries: count(map, "n")?,
            until: text(map, "why")?.to_owned(),
        })
    }
}
