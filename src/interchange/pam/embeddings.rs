//! The embeddings file: vectors of memories, which are never what a memory says (PAM 12).

use std::collections::{HashMap, HashSet};

use crate::codec::{Map, Value};
use crate::interchange::spelling::ascii_json;
use crate::interchange::written::moment_text;
use crate::interchange::{Error, Loss, Place, StoredVector};

use super::code;
use super::document::head;
use super::object::{Object, fault};
use super::schema::number;
use super::shapes::EMBEDDINGS;

/// The name of the file beside a store (PAM 2).
pub(in crate::interchange) const FILE: &str = "embeddings.json";

/// What the file calls itself.
const SCHEMA: &str = "portable-ai-memory-embeddings";

/// An embeddings file.
#[derive(Default)]
pub(super) struct Embeddings<'a> {
    /// Of which memory each is, by its id; also those that cannot be kept.
    pub(super) ids: HashMap<&'a str, &'a str>,
    pub(super) kept: Vec<Embedding<'a>>,
}

/// A vector that can be kept.
pub(super) struct Embedding<'a> {
    pub(super) object: Object<'a>,
    pub(super) memory_id: &'a str,
    pub(super) model: &'a str,
    pub(super) numbers: Vec<f32>,
    /// What the file says besides.
    pub(super) record: String,
}

impl<'a> Embeddings<'a> {
    /// Reads a file; `at` is its name and `#`, or nothing for one that stands alone.
    ///
    /// A vector that cannot be kept is minded and counted: it can be made anew of its memory.
    ///
    /// # Errors
    /// `PAM_SCHEMA_ID`, `PAM_VERSION`, `PAM_SCHEMA` where nothing of it can be read.
    pub(super) fn read(
        value: &'a Value,
        at: &str,
        version: Option<&str>,
        minded: &mut Vec<Error>,
        loss: &mut Loss,
    ) -> Result<Self, Error> {
        let (root, said) = head(value, SCHEMA, at)?;
        if version.is_some_and(|version| version != said) {
            let message = "is not that of the store";
            return Err(root.member_fault("schema_version", code::VERSION, message));
        }
        let mut read = Self::default();
        let mut memories = HashSet::new();
        for object in root.objects("embeddings")? {
            let twice = |name: &str| {
                let message = "another one has this id";
                object.member_fault(name, code::DUPLICATE_ID, message)
            };
            let text = |name: &str| object.text(name).ok().flatten();
            let (id, memory) = (text("id"), text("memory_id"));
            let of = memory.unwrap_or_default();
            if id.is_some_and(|id| read.ids.insert(id, of).is_some()) {
                minded.push(twice("id"));
            }
            let is_second = memory.is_some_and(|memory| !memories.insert(memory));
            if is_second {
                minded.push(twice("memory_id"));
            }
            match Embedding::read(object, loss) {
                Ok(Some(embedding)) if !is_second => read.kept.push(embedding),
                Ok(Some(_)) => loss.count(EMBEDDING),
                Ok(None) => {}
                Err(error) => {
                    minded.push(error);
                    loss.count(EMBEDDING);
                }
            }
        }
        EMBEDDINGS.judge(value, at, minded);
        Ok(read)
    }
}

impl<'a> Embedding<'a> {
    /// Reads one; none for one whose vector is elsewhere, which is counted.
    fn read(object: Object<'a>, loss: &mut Loss) -> Result<Option<Self>, Error> {
        object.required_text("id")?;
        let memory_id = object.required_text("memory_id")?;
        let model = object.required_text("model")?;
        object.required_time("created_at")?;
        let stated = object
            .get("dimensions")
            .ok_or_else(|| object.missing("dimensions"))?;
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
        let mut numbers = Vec::with_capacity(items.len());
        let mut is_exact = true;
        for (index, item) in items.iter().enumerate() {
            let at = || format!("{}/vector/{index}", object.at);
            let number =
                number(item).ok_or_else(|| fault(code::SCHEMA, at(), "must be a number"))?;
            let single = narrow(number);
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
        let mut record = object.map.clone();
        record.remove("vector");
        Ok(Some(Self {
            memory_id,
            model,
            numbers,
            record: ascii_json(&Value::Map(record)),
            object,
        }))
    }

    pub(super) fn place(&self) -> Place {
        Place::Pointer(self.object.at.clone())
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "models make numbers of this width; what is too large becomes infinite and is refused"
)]
const fn narrow(number: f64) -> f32 {
    number as f32
}

/// Returns a number as it is written: the shortest decimal that means this one.
fn widen(number: f32) -> f64 {
    let shortest = number.to_string().parse();
    shortest.unwrap_or_else(|_| f64::from(number))
}

/// Returns the entry of a vector in an embeddings file.
pub(super) fn entry(id: &str, memory_id: &str, vector: &StoredVector) -> Value {
    let record = vector.record.as_deref();
    let record = record.and_then(|record| Value::from_json(record).ok());
    let mut entry = match record {
        Some(Value::Map(record)) => record,
        _ => Map::from_iter([("created_at", moment_text(vector.at))]),
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
pub(super) fn file(version: &Value, entries: Vec<Value>) -> Value {
    let mut file = Map::from_iter([("schema", SCHEMA)]);
    file.insert("schema_version", version.clone());
    file.insert("embeddings", entries);
    Value::Map(file)
}

/// What a vector that is not kept is counted under.
pub(super) const EMBEDDING: &str = "embedding";
