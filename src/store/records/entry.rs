//! What the bodies of ledger entries other than grains say: canonical MessagePack maps whose keys
//! are the specification's short ones where it has some (docs/format.md, "Entry bodies").
//!
//! Readers pass over keys they do not know, so that later versions may add some.

use crate::codec::{self, Canonical, ContentAddress, Encoding, Map, Profile, Value};
use crate::grain::{Grain, Lifecycle, StatusChange, Time, Verification};

use crate::store::state::vectors::Embedding;

/// A change of the status of one grain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StatusEntry {
    pub(crate) of: ContentAddress,
    pub(crate) change: StatusChange,
    pub(crate) justification: Option<String>,
    /// Whether an import says so, and nobody here decided it.
    pub(crate) is_imported: bool,
    /// The erased entry that this one stands for.
    pub(crate) instead_of: Option<u64>,
}

impl StatusEntry {
    /// Refuses a justification that has no canonical form.
    pub(crate) fn encode(&self) -> Result<Vec<u8>, codec::Error> {
        let change = &self.change;
        let mut map = Map::from_iter([("a", bytes(&self.of))]);
        let mut set = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                map.insert(key, value);
            }
        };
        set("sb", change.superseded_by.as_ref().map(bytes));
        set("svt", change.system_valid_to.map(|time| time.ms().into()));
        set(
            "vstatus",
            change.verification.map(|status| status.name().into()),
        );
        set("ct", change.contradicted.map(Value::Bool));
        set("lc", change.lifecycle.map(|state| state.name().into()));
        set("sj", self.justification.clone().map(Value::Text));
        set("im", self.is_imported.then_some(Value::Bool(true)));
        set(
            "io",
            self.instead_of
                .and_then(|row| i64::try_from(row).ok())
                .map(Value::from),
        );
        encode(map)
    }

    pub(crate) fn decode(body: &[u8]) -> Option<Self> {
        let map = decode(body)?;
        let text = |key: &str| map.get(key).and_then(Value::as_text);
        Some(Self {
            of: address(&map, "a")?,
            change: StatusChange {
                superseded_by: address(&map, "sb"),
                system_valid_to: map.get("svt").and_then(Value::as_i64).map(Time::from_ms),
                verification: text("vstatus").and_then(Verification::named),
                contradicted: map.get("ct").and_then(Value::as_bool),
                lifecycle: text("lc").and_then(Lifecycle::named),
            },
            justification: text("sj").map(str::to_owned),
            is_imported: map.get("im").and_then(Value::as_bool) == Some(true),
            instead_of: map
                .get("io")
                .and_then(Value::as_i64)
                .and_then(|row| row.try_into().ok()),
        })
    }
}

/// A name that one grain has in a foreign format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AliasEntry {
    pub(crate) of: ContentAddress,
    pub(crate) format: String,
    pub(crate) scope: String,
    pub(crate) id: String,
}

impl AliasEntry {
    /// Foreign names are kept byte for byte: normalised, two of theirs could become one of ours.
    pub(crate) fn encode(&self) -> Result<Vec<u8>, codec::Error> {
        let raw = |text: &str| Value::Bytes(text.as_bytes().to_vec());
        encode(Map::from_iter([
            ("a", bytes(&self.of)),
            ("f", raw(&self.format)),
            ("s", raw(&self.scope)),
            ("i", raw(&self.id)),
        ]))
    }

    pub(crate) fn decode(body: &[u8]) -> Option<Self> {
        let map = decode(body)?;
        let raw = |key: &str| String::from_utf8(map.get(key)?.as_bytes()?.to_vec()).ok();
        Some(Self {
            of: address(&map, "a")?,
            format: raw("f")?,
            scope: raw("s")?,
            id: raw("i")?,
        })
    }

    pub(crate) fn name(&self) -> [&str; 3] {
        [&self.format, &self.scope, &self.id]
    }
}

/// The signature of the grain in the entry before it: a COSE_Sign1 without its payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SignatureEntry {
    pub(crate) of: ContentAddress,
    pub(crate) envelope: Vec<u8>,
}

impl SignatureEntry {
    /// Returns the entry that goes behind a grain, if it is signed.
    pub(crate) fn of(grain: &Grain) -> Result<Option<Vec<u8>>, codec::Error> {
        let body = |envelope: &[u8]| {
            encode(Map::from_iter([
                ("a", bytes(&grain.address())),
                ("sig", Value::Bytes(envelope.to_vec())),
            ]))
        };
        grain.envelope().map(body).transpose()
    }

    pub(crate) fn decode(body: &[u8]) -> Option<Self> {
        let map = decode(body)?;
        Some(Self {
            of: address(&map, "a")?,
            envelope: map.get("sig")?.as_bytes()?.to_vec(),
        })
    }
}

/// A vector that a model made of one grain.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EmbeddingEntry {
    pub(crate) of: ContentAddress,
    pub(crate) model: String,
    pub(crate) vector: Vec<f32>,
    /// What the file said about it that it came from.
    pub(crate) record: Option<String>,
}

impl EmbeddingEntry {
    pub(crate) fn encode(
        embedding: &Embedding,
        record: Option<&str>,
    ) -> Result<Vec<u8>, codec::Error> {
        let numbers = embedding.vector.iter();
        let vector = numbers.flat_map(|number| number.to_be_bytes()).collect();
        let mut map = Map::from_iter([
            ("a", bytes(&embedding.of)),
            ("m", embedding.model.as_str().into()),
            ("v", Value::Bytes(vector)),
        ]);
        if let Some(record) = record {
            map.insert("r", record);
        }
        encode(map)
    }

    pub(crate) fn decode(body: &[u8]) -> Option<Self> {
        let map = decode(body)?;
        let (numbers, rest) = map.get("v")?.as_bytes()?.as_chunks();
        rest.is_empty().then_some(())?;
        Some(Self {
            of: address(&map, "a")?,
            model: map.get("m").and_then(Value::as_text)?.to_owned(),
            vector: numbers.iter().copied().map(f32::from_be_bytes).collect(),
            record: map.get("r").and_then(Value::as_text).map(str::to_owned),
        })
    }
}

/// Whether the owner of one grain allows it to be exported.
pub(crate) fn encode_exportable(
    of: &ContentAddress,
    exportable: bool,
) -> Result<Vec<u8>, codec::Error> {
    encode(Map::from_iter([
        ("a", bytes(of)),
        ("ex", Value::Bool(exportable)),
    ]))
}

/// Somebody who acts; other entries name it by its sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ActorEntry {
    pub(crate) did: String,
}

impl ActorEntry {
    pub(crate) fn encode(&self) -> Result<Vec<u8>, codec::Error> {
        encode(Map::from_iter([("did", self.did.as_str())]))
    }

    pub(crate) fn decode(body: &[u8]) -> Option<Self> {
        let map = decode(body)?;
        let did = map.get("did").and_then(Value::as_text)?.to_owned();
        Some(Self { did })
    }
}

/// The mark of a grain that came in a file and would open something here (ruling I18).
pub(crate) fn encode_from_file(of: &ContentAddress) -> Result<Vec<u8>, codec::Error> {
    encode(Map::from_iter([
        ("a", bytes(of)),
        ("im", Value::Bool(true)),
    ]))
}

/// Returns whether a flag is the mark of [`encode_from_file`] on a grain.
pub(crate) fn is_from_file(body: &[u8], of: &ContentAddress) -> bool {
    decode(body).is_some_and(|map| {
        let came = map.get("im").and_then(Value::as_bool) == Some(true);
        came && address(&map, "a").as_ref() == Some(of)
    })
}

/// A refused operation on nothing that is here: the rule that spoke.
pub(crate) fn encode_refusal(operation: &str, rule: &str) -> Result<Vec<u8>, codec::Error> {
    encode(Map::from_iter([("op", operation), ("rule", rule)]))
}

/// Whether a grain contradicts another of its foreign name.
pub(crate) fn encode_conflict(
    of: &ContentAddress,
    conflict: bool,
) -> Result<Vec<u8>, codec::Error> {
    encode(Map::from_iter([
        ("a", bytes(of)),
        ("cf", Value::Bool(conflict)),
    ]))
}

/// A mark of one grain; what it does not say stays as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FlagEntry {
    pub(crate) of: ContentAddress,
    pub(crate) exportable: Option<bool>,
    pub(crate) conflict: Option<bool>,
}

impl FlagEntry {
    pub(crate) fn decode(body: &[u8]) -> Option<Self> {
        let map = decode(body)?;
        let flag = |key: &str| map.get(key).and_then(Value::as_bool);
        Some(Self {
            of: address(&map, "a")?,
            exportable: flag("ex"),
            conflict: flag("cf"),
        })
    }
}

/// A refused operation: the rule that spoke, and nothing of what was to be written.
pub(crate) fn encode_denial(
    of: &ContentAddress,
    operation: &str,
    rule: &str,
) -> Result<Vec<u8>, codec::Error> {
    encode(Map::from_iter([
        ("a", bytes(of)),
        ("op", operation.into()),
        ("rule", rule.into()),
    ]))
}

/// An import that is complete: what format, and how many records came of it.
pub(crate) fn encode_import(
    format: &str,
    signature: Option<&str>,
    counts: [(&str, u64); 5],
) -> Result<Vec<u8>, codec::Error> {
    let signature = signature.map(|word| ("sig", word));
    let mut map = Map::from_iter([("f", format)].into_iter().chain(signature));
    for (name, count) in counts {
        map.insert(name, count);
    }
    encode(map)
}

/// An erasure that has begun: what it blanks, and what it leaves so that nothing comes back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ErasingEntry {
    pub(crate) rows: Vec<u64>,
    pub(crate) tombstones: Vec<[u8; 32]>,
    pub(crate) reason: String,
    pub(crate) authority: String,
}

impl ErasingEntry {
    pub(crate) fn encode(&self) -> Result<Vec<u8>, codec::Error> {
        let rows = self.rows.iter().flat_map(|row| row.to_be_bytes());
        encode(Map::from_iter([
            ("r", Value::Bytes(rows.collect())),
            ("t", Value::Bytes(self.tombstones.concat())),
            ("why", self.reason.as_str().into()),
            ("by", self.authority.as_str().into()),
        ]))
    }

    pub(crate) fn decode(body: &[u8]) -> Option<Self> {
        let map = decode(body)?;
        let text = |key: &str| map.get(key).and_then(Value::as_text).map(str::to_owned);
        let (tombstones, rest) = map.get("t")?.as_bytes()?.as_chunks();
        rest.is_empty().then_some(())?;
        Some(Self {
            rows: erased_rows(body),
            tombstones: tombstones.to_vec(),
            reason: text("why")?,
            authority: text("by")?,
        })
    }
}

/// An erasure that is complete; `begun` is the sequence of its [`ErasingEntry`].
pub(crate) fn encode_erased(begun: u64) -> Result<Vec<u8>, codec::Error> {
    encode(Map::from_iter([("e", begun)]))
}

/// Returns which erasure an `erased` entry completes.
pub(crate) fn completed_by(body: &[u8]) -> Option<u64> {
    decode(body)?.get("e")?.as_i64()?.try_into().ok()
}

/// Returns the entries that the body of an `erasing` entry lists; none of one that is malformed,
/// so that what it erased shows as damage.
pub(crate) fn erased_rows(body: &[u8]) -> Vec<u64> {
    let map = decode(body);
    let rows = map.as_ref().and_then(|map| map.get("r")?.as_bytes());
    let (rows, rest) = rows.unwrap_or_default().as_chunks();
    if !rest.is_empty() {
        return Vec::new();
    }
    rows.iter().copied().map(u64::from_be_bytes).collect()
}

/// Returns the grain an entry is about, if it names one.
pub(crate) fn subject_of(body: &[u8]) -> Option<ContentAddress> {
    let map = decode(body)?;
    address(&map, "a")
}

pub(crate) fn encode(map: Map) -> Result<Vec<u8>, codec::Error> {
    // An entry that cannot be read again would keep the store from opening, so it is not written.
    let map = Canonical::new(map, Profile::Extended)?;
    Ok(Encoding::MessagePack.encode(&map))
}

pub(crate) fn decode(body: &[u8]) -> Option<Canonical> {
    Encoding::MessagePack.decode(body, Profile::Extended).ok()
}

pub(crate) fn bytes(address: &ContentAddress) -> Value {
    Value::Bytes(address.as_bytes().to_vec())
}

pub(crate) fn address(map: &Map, key: &str) -> Option<ContentAddress> {
    let bytes: [u8; 32] = map.get(key)?.as_bytes()?.try_into().ok()?;
    Some(ContentAddress::new(bytes))
}
