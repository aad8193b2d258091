//! Records about one grain: its status, its foreign identifiers, its signature, its vectors, its
//! flags.

use crate::codec::{ContentAddress, Map, Value};
use crate::grain::{ForeignId, Lifecycle, StatusChange, Time, Verification};
use crate::ledger::EntryId;

use super::fields::{address, bytes, flag, row, sequence, text, time};

/// A change of the index-layer status of one grain (OMS 28.3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StatusRecord {
    pub(crate) of: ContentAddress,
    pub(crate) change: StatusChange,
    pub(crate) justification: Option<String>,
    /// Whether the change is a claim of an imported file that no rule of this store decided.
    pub(crate) is_imported: bool,
    /// The erased entry that this one stands for.
    pub(crate) replaces: Option<EntryId>,
}

impl StatusRecord {
    /// Returns a change that this store decided.
    pub(crate) fn of(of: ContentAddress, change: StatusChange) -> Self {
        Self {
            of,
            change,
            justification: None,
            is_imported: false,
            replaces: None,
        }
    }

    /// Adds the reason that was given for the change.
    pub(crate) fn because(self, justification: Option<&str>) -> Self {
        let justification = justification.map(str::to_owned);
        Self {
            justification,
            ..self
        }
    }

    /// Returns the record that stands for this one, the entry `entry`, once the successor that it
    /// names is erased: the predecessor stays ended, without the address of its successor.
    pub(crate) fn without_successor(self, entry: EntryId, recorded_at: Time) -> Self {
        let change = StatusChange {
            superseded_by: None,
            system_valid_to: self.change.system_valid_to.or(Some(recorded_at)),
            ..self.change
        };
        Self {
            change,
            replaces: self.replaces.or(Some(entry)),
            ..self
        }
    }

    pub(super) fn to_map(&self) -> Map {
        let change = &self.change;
        let mut map = Map::from_iter([("a", bytes(&self.of))]);
        let mut set = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                map.insert(key, value);
            }
        };
        let verification = change.verification;
        set("sb", change.superseded_by.as_ref().map(bytes));
        set("svt", change.system_valid_to.map(|time| time.ms().into()));
        set("vstatus", verification.map(|status| status.name().into()));
        set("ct", change.contradicted.map(Value::Bool));
        set("lc", change.lifecycle.map(|state| state.name().into()));
        set("sj", self.justification.clone().map(Value::Text));
        set("im", self.is_imported.then_some(Value::Bool(true)));
        set("io", self.replaces.map(sequence));
        map
    }

    pub(super) fn from_map(map: &Map) -> Option<Self> {
        Some(Self {
            of: address(map, "a")?,
            change: StatusChange {
                superseded_by: address(map, "sb"),
                system_valid_to: time(map, "svt"),
                verification: text(map, "vstatus").and_then(Verification::named),
                contradicted: flag(map, "ct"),
                lifecycle: text(map, "lc").and_then(Lifecycle::named),
            },
            justification: text(map, "sj").map(str::to_owned),
            is_imported: flag(map, "im") == Some(true),
            replaces: row(map, "io"),
        })
    }
}

/// An identifier that one grain has in a foreign format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AliasRecord {
    pub(crate) of: ContentAddress,
    pub(crate) id: ForeignId,
}

impl AliasRecord {
    /// As bytes: the normalisation of text could merge two identifiers.
    pub(super) fn to_map(&self) -> Map {
        let raw = |text: &str| Value::Bytes(text.as_bytes().to_vec());
        let [format, scope, id] = self.id.parts().map(raw);
        Map::from_iter([
            ("a", bytes(&self.of)),
            ("f", format),
            ("s", scope),
            ("i", id),
        ])
    }

    pub(super) fn from_map(map: &Map) -> Option<Self> {
        let raw = |key: &str| String::from_utf8(map.get(key)?.as_bytes()?.to_vec()).ok();
        Some(Self {
            of: address(map, "a")?,
            id: ForeignId::new(raw("f")?, raw("s")?, raw("i")?),
        })
    }
}

/// The signature of the grain in the entry before it: a COSE_Sign1 without its payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SignatureRecord {
    pub(crate) of: ContentAddress,
    pub(crate) envelope: Vec<u8>,
}

impl SignatureRecord {
    pub(super) fn to_map(&self) -> Map {
        let envelope = Value::Bytes(self.envelope.clone());
        Map::from_iter([("a", bytes(&self.of)), ("sig", envelope)])
    }

    pub(super) fn from_map(map: &Map) -> Option<Self> {
        Some(Self {
            of: address(map, "a")?,
            envelope: map.get("sig")?.as_bytes()?.to_vec(),
        })
    }
}

/// A vector that a model made of one grain.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EmbeddingRecord {
    pub(crate) of: ContentAddress,
    pub(crate) model: String,
    pub(crate) vector: Vec<f32>,
    /// The other members of the file's record, as JSON.
    pub(crate) source: Option<String>,
}

impl EmbeddingRecord {
    pub(super) fn to_map(&self) -> Map {
        let numbers = self.vector.iter();
        let vector = numbers.flat_map(|number| number.to_be_bytes()).collect();
        let mut map = Map::from_iter([
            ("a", bytes(&self.of)),
            ("m", self.model.as_str().into()),
            ("v", Value::Bytes(vector)),
        ]);
        if let Some(source) = &self.source {
            map.insert("r", source.as_str());
        }
        map
    }

    pub(super) fn from_map(map: &Map) -> Option<Self> {
        let (numbers, rest) = map.get("v")?.as_bytes()?.as_chunks();
        rest.is_empty().then_some(())?;
        Some(Self {
            of: address(map, "a")?,
            model: text(map, "m")?.to_owned(),
            vector: numbers.iter().copied().map(f32::from_be_bytes).collect(),
            source: text(map, "r").map(str::to_owned),
        })
    }
}

/// Flags of one grain; a flag that a record does not carry stays as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FlagRecord {
    pub(crate) of: ContentAddress,
    /// Whether the owner of the grain allows it to be exported.
    pub(crate) exportable: Option<bool>,
    /// Whether the grain contradicts another of its foreign identifier.
    pub(crate) conflict: Option<bool>,
    /// Whether the grain is a delegation that came in a file (ruling I18).
    pub(crate) is_from_file: bool,
}

impl FlagRecord {
    #[cfg(feature = "interchange")]
    pub(crate) const fn of(of: ContentAddress) -> Self {
        Self {
            of,
            exportable: None,
            conflict: None,
            is_from_file: false,
        }
    }

    pub(super) fn to_map(self) -> Map {
        let mut map = Map::from_iter([("a", bytes(&self.of))]);
        let is_from_file = self.is_from_file.then_some(true);
        let flags = [
            ("ex", self.exportable),
            ("cf", self.conflict),
            ("im", is_from_file),
        ];
        for (key, flag) in flags {
            if let Some(flag) = flag {
                map.insert(key, Value::Bool(flag));
            }
        }
        map
    }

    pub(super) fn from_map(map: &Map) -> Option<Self> {
        Some(Self {
            of: address(map, "a")?,
            exportable: flag(map, "ex"),
            conflict: flag(map, "cf"),
            is_from_file: flag(map, "im") == Some(true),
        })
    }
}
