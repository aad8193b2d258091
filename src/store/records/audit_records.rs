//! Records for auditors: actors, imports, checkpoints, and reads that a regime requires to be
//! recorded (45 CFR 164.312(b), PCI DSS 10.2.1).

use crate::codec::{ContentAddress, Map, Value};
use crate::grain::Time;
use crate::ledger::EntryId;

use super::fields::{bytes, count, row, sequence, text, texts, time, to_address};

/// An actor; other entries name it by the sequence of this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ActorRecord {
    pub(crate) did: String,
}

impl ActorRecord {
    pub(super) fn to_map(&self) -> Map {
        Map::from_iter([("did", self.did.as_str())])
    }

    pub(super) fn from_map(map: &Map) -> Option<Self> {
        let did = text(map, "did")?.to_owned();
        Some(Self { did })
    }
}

/// An import that is complete: its format and the outcome of its records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ImportRecord {
    pub(crate) format: String,
    /// The signature decision, where the format has signatures (AIMEM 5.3).
    pub(crate) signature: Option<String>,
    /// Records by outcome, in the order of [`ImportRecord::OUTCOMES`].
    pub(crate) counts: [u64; 5],
}

impl ImportRecord {
    const OUTCOMES: [&'static str; 5] = ["new", "upd", "old", "conflict", "refused"];

    pub(super) fn to_map(&self) -> Map {
        let signature = self.signature.as_deref().map(|word| ("sig", word));
        let format = ("f", self.format.as_str());
        let mut map = Map::from_iter([format].into_iter().chain(signature));
        for (outcome, count) in Self::OUTCOMES.into_iter().zip(self.counts) {
            map.insert(outcome, count);
        }
        map
    }

    pub(super) fn from_map(map: &Map) -> Option<Self> {
        Some(Self {
            format: text(map, "f")?.to_owned(),
            signature: text(map, "sig").map(str::to_owned),
            counts: Self::OUTCOMES.map(|outcome| count(map, outcome).unwrap_or_default()),
        })
    }
}

/// A read of some grains, or of all that were stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReadRecord {
    pub(crate) operation: String,
    /// The clauses that require the record, each as `REGIME/CLAUSE`.
    pub(crate) clauses: Vec<String>,
    /// Empty for a read of all grains.
    pub(crate) addresses: Vec<ContentAddress>,
    /// The erased entry that this one stands for, and its time.
    pub(crate) replaces: Option<(EntryId, Time)>,
}

impl ReadRecord {
    pub(crate) fn new(operation: &str, clauses: &[String], addresses: &[ContentAddress]) -> Self {
        Self {
            operation: operation.to_owned(),
            clauses: clauses.to_vec(),
            addresses: addresses.to_vec(),
            replaces: None,
        }
    }

    pub(super) fn to_map(&self) -> Map {
        let mut map = Map::from_iter([("op", Value::from(self.operation.as_str()))]);
        map.insert("for", self.clauses.clone());
        if !self.addresses.is_empty() {
            let addresses: Vec<Value> = self.addresses.iter().map(bytes).collect();
            map.insert("l", Value::Array(addresses));
        }
        if let Some((row, at)) = self.replaces {
            map.insert("io", sequence(row));
            map.insert("t", at.ms());
        }
        map
    }

    pub(super) fn from_map(map: &Map) -> Option<Self> {
        let addresses = map.get("l").and_then(Value::as_array).unwrap_or_default();
        Some(Self {
            operation: text(map, "op")?.to_owned(),
            clauses: texts(map, "for")?,
            addresses: addresses.iter().map(to_address).collect::<Option<_>>()?,
            replaces: row(map, "io").zip(time(map, "t")),
        })
    }
}

/// A signed statement of the ledger's root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CheckpointRecord {
    pub(crate) message: Vec<u8>,
}

impl CheckpointRecord {
    pub(super) fn to_map(&self) -> Map {
        Map::from_iter([("c", Value::Bytes(self.message.clone()))])
    }

    pub(super) fn from_map(map: &Map) -> Option<Self> {
        let message = map.get("c")?.as_bytes()?.to_vec();
        Some(Self { message })
    }
}
