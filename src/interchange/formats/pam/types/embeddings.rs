//! The embeddings file: vectors of memories, which are never part of a memory's content (PAM 12).

use crate::codec::{Map, Value};
use crate::interchange::formats::shape::number;
use crate::interchange::io::source_file::SourceFile;
use crate::interchange::json::{Position, stream_file};
use crate::interchange::model::compact_table::CompactTable;
use crate::interchange::model::normalize::ascii_json;
use crate::interchange::model::rfc3339::envelope_time;
use crate::interchange::{Diagnostics, Error, Loss, StoredVector};

use super::super::code;
use super::super::json::{broken_in, outline};
use super::super::schema::tables::{self, EMBEDDINGS};
use super::head::head;
use super::object::{Object, fault, reported};

/// The name of the file beside a store (PAM 2).
pub(crate) const FILE: &str = "embeddings.json";

/// The schema of the file.
const SCHEMA: &str = "portable-ai-memory-embeddings";

/// An embeddings file.
pub(crate) struct Embeddings {
    pub(crate) part: SourceFile,
    /// Its name; empty for a file without its store.
    pub(crate) file: String,
    /// The version that it must have.
    pub(crate) version: Option<String>,
}

/// The memory of each embedding, also of those that cannot be stored.
pub(crate) struct Ids {
    of: CompactTable<u64>,
    memories: CompactTable<()>,
}

impl Ids {
    pub(crate) fn new() -> Self {
        Self {
            of: CompactTable::new(),
            memories: CompactTable::new(),
        }
    }

    /// Returns whether an embedding is of a memory; `None` if no embedding has this id.
    pub(crate) fn is_of(&self, id: &str, memory: &str) -> Option<bool> {
        let of = self.of.get(self.of.key(id));
        of.map(|of| *of == self.memories.key(memory))
    }
}

/// A vector that can be stored.
pub(crate) struct Embedding {
    pub(crate) memory_id: String,
    pub(crate) model: String,
    pub(crate) numbers: Vec<f32>,
    /// The other members, as JSON.
    pub(crate) record: String,
    pub(crate) at: String,
}

/// A validated element of the file.
struct Validated {
    at: String,
    id: Option<String>,
    memory: Option<String>,
    read: Result<Option<Embedding>, Error>,
    schema: Diagnostics,
    loss: Loss,
}

impl Embeddings {
    /// Reads a file; `take` gets the vectors that can be stored, until it returns `false`.
    ///
    /// A vector that cannot be stored is a violation and counted: it can be computed again from its
    /// memory.
    ///
    /// # Errors
    /// `PAM_JSON`, `PAM_SCHEMA_ID`, `PAM_VERSION`, `PAM_SCHEMA` if nothing of it can be read.
    pub(crate) fn read(
        &self,
        non_fatal: &mut Diagnostics,
        loss: &mut Loss,
        take: &mut dyn FnMut(Embedding) -> bool,
    ) -> Result<Ids, Error> {
        let flaw = |error| broken_in(&self.part, &self.file, error);
        let value = outline(&self.part, &ARRAY).map_err(flaw)?;
        let (root, said) = head(&value, SCHEMA, &self.at())?;
        if self.version.as_ref().is_some_and(|it| it != said) {
            let message = "is not that of the store";
            return Err(root.member_fault("schema_version", code::VERSION, message));
        }
        root.elements("embeddings").map(drop)?;
        let mut schema = Diagnostics::default();
        EMBEDDINGS.validate(&value, &self.at(), &mut reported(&mut schema));
        let at = self.at();
        let make = |value: Value, position: Position| {
            validate_record(&value, format!("{at}/embeddings/{}", position.number))
        };
        let mut ids = Ids::new();
        let take = |validated| {
            let embedding = ids.add(validated, non_fatal, loss);
            embedding.is_none_or(&mut *take)
        };
        stream_file(&self.part, &ARRAY, |_| true, make, take).map_err(flaw)?;
        non_fatal.append(schema);
        Ok(ids)
    }

    /// Returns the prefix of its places.
    fn at(&self) -> String {
        if self.file.is_empty() {
            String::new()
        } else {
            format!("{}#", self.file)
        }
    }
}

impl Ids {
    /// Adds an element; returns the vector to be stored.
    fn add(
        &mut self,
        seen: Validated,
        non_fatal: &mut Diagnostics,
        loss: &mut Loss,
    ) -> Option<Embedding> {
        let duplicate = |name: &str| {
            let at = format!("{}/{name}", seen.at);
            fault(code::DUPLICATE_ID, at, "another one has this id")
        };
        let of = self
            .memories
            .key(seen.memory.as_deref().unwrap_or_default());
        if let Some(id) = &seen.id {
            let key = self.of.key(id.as_str());
            if let Some(before) = self.of.get_mut(key) {
                *before = of;
                non_fatal.push(duplicate("id"));
            } else {
                self.of.insert(key, of);
            }
        }
        let is_second = seen.memory.is_some() && !self.memories.add(of);
        if is_second {
            non_fatal.push(duplicate("memory_id"));
        }
        loss.merge(&seen.loss);
        let kept = match seen.read {
            Ok(Some(embedding)) if !is_second => Some(embedding),
            Ok(Some(_)) => {
                loss.count(EMBEDDING);
                None
            }
            Ok(None) => None,
            Err(error) => {
                non_fatal.push(error);
                loss.count(EMBEDDING);
                None
            }
        };
        non_fatal.append(seen.schema);
        kept
    }
}

fn validate_record(value: &Value, at: String) -> Validated {
    let text = |name: &str| Some(value.as_map()?.get(name)?.as_text()?.to_owned());
    let (mut schema, mut loss) = (Diagnostics::default(), Loss::default());
    tables::EMBEDDING.validate(value, &at, &mut reported(&mut schema));
    let object = Object::new(value, at.clone());
    Validated {
        id: text("id"),
        memory: text("memory_id"),
        read: object.and_then(|object| Embedding::read(object, &mut loss)),
        at,
        schema,
        loss,
    }
}

impl Embedding {
    /// Reads one; `None` for one whose vector is elsewhere, which is counted.
    fn read(object: Object<'_>, loss: &mut Loss) -> Result<Option<Self>, Error> {
        object.required_text("id")?;
        let memory_id = object.required_text("memory_id")?.to_owned();
        let model = object.required_text("model")?.to_owned();
        object.required_time("created_at")?;
        let stated = object.get("dimensions");
        let stated = stated.ok_or_else(|| object.missing("dimensions"))?;
        let Some(vector) = object.get("vector") else {
            loss.count("embedding.storage");
            return Ok(None);
        };
        let items = vector.as_array();
        let items =
            items.ok_or_else(|| object.member_fault("vector", code::SCHEMA, "must be an array"))?;
        if number(stated) != u32::try_from(items.len()).ok().map(f64::from) {
            let message = format!("the vector has {} numbers", items.len());
            return Err(object.member_fault("dimensions", code::EMBEDDING_REF, message));
        }
        let numbers = numbers(items, &object, loss)?;
        let mut record = object.map.clone();
        record.remove("vector");
        Ok(Some(Self {
            memory_id,
            model,
            numbers,
            record: ascii_json(&Value::Map(record)),
            at: object.at,
        }))
    }
}

fn numbers(items: &[Value], object: &Object<'_>, loss: &mut Loss) -> Result<Vec<f32>, Error> {
    let mut numbers = Vec::with_capacity(items.len());
    let mut is_exact = true;
    for (index, item) in items.iter().enumerate() {
        let at = || format!("{}/vector/{index}", object.at);
        let number = number(item).ok_or_else(|| fault(code::SCHEMA, at(), "must be a number"))?;
        let single = to_checksum_form(number);
        if !single.is_finite() {
            let message = "is larger than a number of single precision can be";
            return Err(fault(code::EMBEDDING, at(), message));
        }
        is_exact &= f64::from(single) == number || widen(single) == number;
        numbers.push(single);
    }
    if numbers.iter().all(|number| *number == 0.0) {
        let message = "has no direction: it is empty, or all zeros";
        return Err(object.member_fault("vector", code::EMBEDDING, message));
    }
    if !is_exact {
        loss.count("embedding.vector past single precision");
    }
    Ok(numbers)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "models make numbers of this width; what is too large becomes infinite and is refused"
)]
const fn to_checksum_form(number: f64) -> f32 {
    number as f32
}

/// Returns the shortest decimal of a number.
fn widen(number: f32) -> f64 {
    let shortest = number.to_string().parse();
    shortest.unwrap_or_else(|_| f64::from(number))
}

/// Returns the entry of a vector in an embeddings file.
pub(crate) fn entry(id: &str, memory_id: &str, vector: &StoredVector) -> Value {
    let record = vector.record.as_deref();
    let record = record.and_then(|record| Value::from_json(record).ok());
    let mut entry = match record {
        Some(Value::Map(record)) => record,
        _ => Map::from_iter([("created_at", envelope_time(vector.at))]),
    };
    entry.insert("id", id);
    entry.insert("memory_id", memory_id);
    entry.insert("model", vector.model.as_str());
    let len = u64::try_from(vector.numbers.len()).unwrap_or(u64::MAX);
    entry.insert("dimensions", len);
    let numbers = vector.numbers.iter().copied().map(widen);
    entry.insert("vector", numbers.map(Value::from).collect::<Vec<_>>());
    Value::Map(entry)
}

/// Returns an embeddings file.
pub(crate) fn file(version: &Value, entries: Vec<Value>) -> Value {
    let mut file = Map::from_iter([("schema", SCHEMA)]);
    file.insert("schema_version", version.clone());
    file.insert("embeddings", entries);
    Value::Map(file)
}

const ARRAY: [&str; 1] = ["embeddings"];
/// The loss that a vector is counted under.
pub(crate) const EMBEDDING: &str = "embedding";
