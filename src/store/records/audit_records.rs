//! Records for auditors: actors, imports, exports, checkpoints, and reads that a regime requires to be
//! recorded (45 CFR 164.312(b), PCI DSS 10.2.1).

use std::fmt;

use data_encoding::HEXLOWER;

use crate::codec::{ContentAddress, Map, Value};
use crate::crypto::Did;
use crate::grain::Time;
use crate::ledger::EntryId;
use crate::policy::Capability;
use crate::store::records::fields::{bytes, count, row, sequence, text, texts, time, to_address};

/// An actor; other entries name it by the sequence of this one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct ActorRecord {
    /// Empty for a handle without an author.
    pub(crate) did: String,
    /// The person that the handle is confined to.
    pub(crate) user: Option<String>,
    /// The name of the token.
    pub(crate) token: Option<String>,
}

impl ActorRecord {
    /// Returns the actor of a handle.
    pub(crate) fn of(capability: &Capability) -> Self {
        Self {
            did: capability.acts_as().map_or("", Did::as_str).to_owned(),
            user: capability.user().map(str::to_owned),
            token: capability.token().map(str::to_owned),
        }
    }

    pub(super) fn to_map(&self) -> Map {
        let user = self.user.as_deref().map(|user| ("user", user));
        let token = self.token.as_deref().map(|token| ("token", token));
        let did = ("did", self.did.as_str());
        Map::from_iter([did].into_iter().chain(user).chain(token))
    }

    pub(super) fn from_map(map: &Map) -> Option<Self> {
        let optional = |name| text(map, name).map(str::to_owned);
        Some(Self {
            did: text(map, "did")?.to_owned(),
            user: optional("user"),
            token: optional("token"),
        })
    }
}

/// An import that is complete: its format and the outcome of its records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ImportRecord {
    pub(crate) format: String,
    /// The signature decision, where the format has signatures (AIMEM 5.3).
    pub(crate) signature: Option<String>,
    /// The checksum in the footer of an archive (OMS 11.5).
    pub(crate) footer: Option<[u8; 32]>,
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
        if let Some(footer) = &self.footer {
            map.insert("h", Value::Bytes(footer.to_vec()));
        }
        map
    }

    pub(super) fn from_map(map: &Map) -> Option<Self> {
        Some(Self {
            format: text(map, "f")?.to_owned(),
            signature: text(map, "sig").map(str::to_owned),
            footer: match map.get("h") {
                Some(footer) => Some(footer.as_bytes()?.try_into().ok()?),
                None => None,
            },
            counts: Self::OUTCOMES.map(|outcome| count(map, outcome).unwrap_or_default()),
        })
    }
}

impl fmt::Display for ImportRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.format)?;
        for (outcome, count) in Self::OUTCOMES.into_iter().zip(self.counts) {
            write!(f, ", {count} {outcome}")?;
        }
        if let Some(signature) = &self.signature {
            write!(f, ", signature {signature}")?;
        }
        if let Some(footer) = &self.footer {
            write!(f, ", footer {}", HEXLOWER.encode(footer))?;
        }
        Ok(())
    }
}

/// An export: its format, its extent, and how much it held. It names no grain and no value of a
/// condition, which could be a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ExportRecord {
    pub(crate) format: String,
    /// The names of the conditions that grains had to meet; none for all grains.
    pub(crate) scope: Vec<String>,
    pub(crate) grains: u64,
    pub(crate) files: u64,
    /// The number of facts that the file does not have: withheld grains, and what the format cannot
    /// carry.
    pub(crate) withheld: u64,
}

impl ExportRecord {
    pub(super) fn to_map(&self) -> Map {
        let mut map = Map::from_iter([("f", Value::from(self.format.as_str()))]);
        map.insert("by", self.scope.clone());
        for (key, count) in [("n", self.grains), ("m", self.files), ("w", self.withheld)] {
            map.insert(key, count);
        }
        map
    }

    pub(super) fn from_map(map: &Map) -> Option<Self> {
        Some(Self {
            format: text(map, "f")?.to_owned(),
            scope: texts(map, "by")?,
            grains: count(map, "n")?,
            files: count(map, "m")?,
            withheld: count(map, "w")?,
        })
    }
}

impl fmt::Display for ExportRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (grains, withheld) = (self.grains, self.withheld);
        let scope = match self.scope.is_empty() {
            true => "all".to_owned(),
            false => format!("by {}", self.scope.join(" and ")),
        };
        write!(
            f,
            "{}, {scope}, {grains} grains, {withheld} withheld or lost",
            self.format
        )
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
