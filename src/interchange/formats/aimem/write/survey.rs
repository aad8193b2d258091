//! The first reading of the grains of a bundle: which are records of it, and of which kind.

use std::collections::{BTreeSet, HashMap};

use crate::codec::{ContentAddress, Map, Value};
use crate::grain::{Grain, Status, Time};
use crate::interchange::entries::{Newest, each};
use crate::interchange::model::compact_table::CompactTable;
use crate::interchange::{Entries, Entry, Error, Loss, StoredVector, WriteOptions};

use super::super::code;
use super::super::envelope::Scope;
use super::super::member::Urn;
use super::super::residual::{DNA, Kind, record};
use super::bundle::{OWN, fault, mixed};
use super::foreign;

/// The length of a vector, and its model.
type Described = (u64, String);

/// The records of a bundle by their numbers, before they are written.
pub(super) struct Survey {
    pub(super) newest: Newest,
    pub(super) loss: Loss,
    envelopes: Vec<(Time, Map)>,
    chunks: Vec<Chunk>,
    /// The edges, those made from relations of other formats, the entities, and the mentions.
    edges: Vec<u32>,
    relations: Vec<u32>,
    entities: Vec<u32>,
    mentions: Vec<u32>,
    producers: Interned<String>,
    tenants: Interned<String>,
    vectors: Interned<Described>,
    /// The ids of the chunks and of the entities in the bundle.
    chunk_ids: CompactTable<()>,
    entity_ids: CompactTable<()>,
}

/// A chunk that is not read yet: 28 bytes, since there may be millions.
struct Chunk {
    number: u32,
    /// `None` for a grain of another origin.
    producer: Option<u32>,
    tenant: Option<u32>,
    vector: Option<u32>,
}

/// The kind of a grain, as the first reading finds it.
enum Found {
    Envelope(Time, Map),
    NotCurrent,
    Edge,
    Entity,
    Mention,
    Relation,
    /// Neither a record nor in the scope.
    Nothing(Loss),
    Chunk(Box<FoundChunk>),
}

struct FoundChunk {
    producer: Option<String>,
    tenant: Option<String>,
    vector: Option<Described>,
}

impl Found {
    fn in_grain(grain: &Grain, status: &Status, scope: Scope) -> Self {
        let mut loss = Loss::default();
        let found = record(grain);
        if let Some((Kind::Envelope, Value::Map(map))) = found {
            return Self::Envelope(grain.created_at(), map);
        }
        if !status.is_current() {
            return Self::NotCurrent;
        }
        let mut chunk = FoundChunk {
            producer: None,
            tenant: grain.text("user_id").map(str::to_owned),
            vector: None,
        };
        let is_dna = match found {
            Some((Kind::Edge, _)) => return Self::Edge,
            Some((Kind::Entity, _)) => return Self::Entity,
            Some((Kind::Mention, _)) => return Self::Mention,
            Some((_, Value::Map(map))) => {
                let urn = map.get("id").and_then(Value::as_text).and_then(Urn::parse);
                chunk.producer = urn.map(|urn| urn.producer.to_owned());
                chunk.vector = described(grain);
                is_dna(&map)
            }
            _ if foreign::relation(grain).is_some() => return Self::Relation,
            _ if !foreign::is_chunk(grain, &mut loss) => return Self::Nothing(loss),
            _ => DNA.contains(&foreign::memory_type(grain)),
        };
        let is_in_scope = match scope {
            Scope::Full => true,
            Scope::DnaOnly => is_dna,
            Scope::Since(since) => grain.created_at() >= since,
        };
        if is_in_scope {
            Self::Chunk(Box::new(chunk))
        } else {
            Self::Nothing(loss)
        }
    }
}

fn is_dna(chunk: &Map) -> bool {
    let kind = chunk.get("memory_type").and_then(Value::as_text);
    let is_pinned = chunk.get("is_pinned") == Some(&Value::Bool(true));
    is_pinned || kind.is_some_and(|kind| DNA.contains(&kind))
}

/// Returns the vector that the record of a grain carries.
fn described(grain: &Grain) -> Option<Described> {
    let references = grain.field("embedding_refs").and_then(Value::as_array)?;
    let map = references.first()?.as_map()?;
    let model = map.get("model")?.as_text()?.to_owned();
    Some((u64::try_from(map.get("dimensions")?.as_i64()?).ok()?, model))
}

impl Survey {
    /// Reads the grains once.
    pub(super) fn of<E: Entries + ?Sized>(
        entries: &E,
        options: &WriteOptions,
    ) -> Result<Self, E::Error> {
        let mut survey = Self {
            newest: Newest::default(),
            loss: Loss::default(),
            envelopes: Vec::new(),
            chunks: Vec::new(),
            edges: Vec::new(),
            relations: Vec::new(),
            entities: Vec::new(),
            mentions: Vec::new(),
            producers: Interned::default(),
            tenants: Interned::default(),
            vectors: Interned::default(),
            chunk_ids: CompactTable::new(),
            entity_ids: CompactTable::new(),
        };
        let scope = options.scope;
        let make = |number: u32, (grain, status): Entry| {
            let mut found = Found::in_grain(&grain, &status, scope);
            if let Found::Chunk(chunk) = &mut found
                && chunk.vector.is_none()
            {
                chunk.vector = entries
                    .vector(number)?
                    .map(|vector| length_and_model(&vector));
            }
            Ok((number, grain.created_at(), found))
        };
        each(
            entries,
            0..entries.count(),
            make,
            |(number, time, found)| {
                survey.newest.add(time);
                survey.add(number, found);
                Ok(())
            },
        )?;
        Ok(survey)
    }

    fn add(&mut self, number: u32, found: Found) {
        match found {
            Found::Envelope(time, map) => self.envelopes.push((time, map)),
            Found::NotCurrent => self.loss.count("not current"),
            Found::Nothing(loss) => self.loss.merge(&loss),
            Found::Edge => self.edges.push(number),
            Found::Entity => self.entities.push(number),
            Found::Mention => self.mentions.push(number),
            Found::Relation => self.relations.push(number),
            Found::Chunk(found) => {
                self.chunks.push(Chunk {
                    number,
                    producer: found.producer.map(|name| self.producers.add(name)),
                    tenant: found.tenant.map(|name| self.tenants.add(name)),
                    vector: found.vector.map(|vector| self.vectors.add(vector)),
                });
            }
        }
    }

    /// Keeps the chunks of one producer: a bundle has one (AIMEM 2.3).
    pub(super) fn choose_producer(&mut self, wanted: Option<&str>) -> Result<String, Error> {
        self.envelopes.sort_by_key(|(time, _)| *time);
        let of_chunks = self.chunks.iter().map(|chunk| self.producer(chunk));
        let all: BTreeSet<&str> = of_chunks.map(|name| name.unwrap_or(OWN)).collect();
        let from_envelope = self
            .envelopes
            .iter()
            .filter_map(|(_, map)| map.get("producer")?.as_text())
            .next_back();
        let chosen = match (wanted, all.len()) {
            (Some(wanted), _) => wanted.to_owned(),
            (None, 0) => from_envelope.unwrap_or(OWN).to_owned(),
            (None, 1) => all.into_iter().next().unwrap_or_default().to_owned(),
            (None, _) => {
                let names: Vec<_> = all.into_iter().map(str::to_owned).collect();
                return Err(mixed(code::MIXED_PRODUCERS, "producers", &names));
            }
        };
        if !super::super::member::is_producer(&chosen) {
            let message = "a producer must match ^[a-z0-9-]{1,63}$";
            return Err(fault(code::INVALID_PRODUCER, message.into()));
        }
        // A chosen name that no chunk has names this store's own grains.
        let known = self.producers.find(&chosen);
        let is_foreign = known.is_some()
            && self
                .chunks
                .iter()
                .any(|chunk| chunk.producer.is_some() && chunk.producer == known);
        let before = self.chunks.len();
        self.chunks.retain(|chunk| match chunk.producer {
            Some(_) => chunk.producer == known,
            None => !is_foreign || chosen == OWN,
        });
        (self.chunks.len()..before).for_each(|_| self.loss.count("of another producer"));
        self.envelopes
            .retain(|(_, map)| map.get("producer").and_then(Value::as_text) == Some(&chosen));
        Ok(chosen)
    }

    fn producer(&self, chunk: &Chunk) -> Option<&str> {
        self.producers.get(chunk.producer?).map(String::as_str)
    }

    /// Returns whether all chunks came in one bundle.
    pub(super) fn is_one_bundle(&self) -> bool {
        self.envelopes.len() == 1 && self.chunks.iter().all(|chunk| chunk.producer.is_some())
    }

    pub(super) fn last_envelope(&mut self) -> Option<Map> {
        self.envelopes.pop().map(|(_, map)| map)
    }

    /// Returns the users of the chunks.
    pub(super) fn tenants(&self) -> impl Iterator<Item = &str> {
        let of_chunks = self.chunks.iter().filter_map(|chunk| chunk.tenant);
        let of_chunks: BTreeSet<u32> = of_chunks.collect();
        let names = of_chunks.into_iter();
        names.filter_map(|name| self.tenants.get(name).map(String::as_str))
    }

    /// Chooses the vectors that the envelope describes, if any are wanted: those like the first.
    pub(super) fn choose_vectors(
        &mut self,
        bundle: &mut Map,
        is_wanted: bool,
    ) -> Option<(u64, String)> {
        let first = self.chunks.iter().find_map(|chunk| chunk.vector);
        let described = first.filter(|_| is_wanted);
        let described = described
            .and_then(|vector| self.vectors.get(vector))
            .cloned();
        if let Some((dim, model)) = &described {
            bundle.insert("embedding_dim", *dim);
            // The envelope may hold text that a grain cannot.
            if !bundle.contains("embedding_model") {
                bundle.insert("embedding_model", model.as_str());
            }
        } else if !is_wanted {
            bundle.remove("embedding_dim");
            bundle.remove("embedding_model");
        }
        described
    }

    /// Finds the edges, mentions and entities whose ends are in the bundle.
    pub(super) fn join<E: Entries + ?Sized>(
        &mut self,
        entries: &E,
        producer: &str,
        scope: Scope,
    ) -> Result<(), E::Error> {
        let has_graph = !self.edges.is_empty() || !self.mentions.is_empty();
        if has_graph || !self.entities.is_empty() {
            let chunks = self.chunks.iter().map(|chunk| chunk.number);
            let table = &mut self.chunk_ids;
            each(
                entries,
                chunks.collect::<Vec<_>>(),
                |_, (grain, _)| Ok(chunk_id(&grain, producer)),
                |id| {
                    let key = table.key(id.unwrap_or_default());
                    table.add(key);
                    Ok(())
                },
            )?;
        }
        let is_full = scope == Scope::Full;
        // The entities that mentions name, where not all are written.
        let mut linked = CompactTable::new();
        if !is_full {
            let ids = &self.chunk_ids;
            let make = |_, (grain, _): Entry| {
                let map = map_of(&grain);
                Ok(map.filter(|map| is_in(ids, map, "chunk_id")))
            };
            each(entries, self.mentions.iter().copied(), make, |map| {
                let id = map.as_ref().and_then(|map| map.get("entity_id")?.as_text());
                if let Some(id) = id {
                    let key = linked.key(id);
                    linked.add(key);
                }
                Ok(())
            })?;
        }
        let make = |number: u32, (grain, _): Entry| {
            let id = map_of(&grain).and_then(|map| map.get("id")?.as_text().map(str::to_owned));
            Ok(id.map(|id| (number, id)))
        };
        let mut entities = Vec::new();
        let table = &mut self.entity_ids;
        each(entries, self.entities.iter().copied(), make, |found| {
            let Some((number, id)) = found else {
                return Ok(());
            };
            let is_own = || Urn::parse(&id).is_some_and(|urn| urn.producer == producer);
            if (is_full && is_own()) || (!is_full && linked.get(linked.key(&id)).is_some()) {
                entities.push(number);
                let key = table.key(&id);
                table.add(key);
            }
            Ok(())
        })?;
        self.entities = entities;
        Ok(())
    }

    /// Returns the numbers of the records of an array, and of those that may become one.
    pub(super) fn numbers(&self, array: usize) -> Vec<u32> {
        match array {
            0 => self.chunks.iter().map(|chunk| chunk.number).collect(),
            1 => [self.edges.as_slice(), &self.relations].concat(),
            2 => self.entities.clone(),
            _ => self.mentions.clone(),
        }
    }

    /// Returns the record of a grain; `None` for one that is not in the bundle.
    pub(super) fn record<E: Entries + ?Sized>(
        &self,
        entries: &E,
        number: u32,
        (grain, _): Entry,
        (producer, described_by): (&str, Option<&Described>),
        loss: &mut Loss,
    ) -> Result<Option<Map>, E::Error> {
        let Some((kind, Value::Map(mut map))) = record(&grain) else {
            if let Some(relation) = foreign::relation(&grain) {
                let id = |end: &ContentAddress| self.id_of(entries, end, producer);
                let edge = relation.edge(id, loss)?;
                if edge.is_none() {
                    loss.count("relation");
                }
                return Ok(edge);
            }
            let chunk = foreign::chunk(&grain, producer, loss);
            let vector = entries.vector(number)?;
            return Ok(chunk.map(|map| with_vector(map, vector, described_by, loss)));
        };
        let is_written = match kind {
            Kind::Edge => {
                let ids = &self.chunk_ids;
                is_in(ids, &map, "source_id") && is_in(ids, &map, "target_id")
            }
            Kind::Mention => {
                is_in(&self.chunk_ids, &map, "chunk_id")
                    && is_in(&self.entity_ids, &map, "entity_id")
            }
            _ => true,
        };
        let has_vector = map.get("embedding").is_some_and(|it| *it != Value::Nil);
        if kind == Kind::Chunk
            && has_vector
            && (described_by.is_none() || described(&grain).as_ref() != described_by)
        {
            map.remove("embedding");
            loss.count("embedding");
        }
        if kind == Kind::Chunk && !has_vector {
            map = with_vector(map, entries.vector(number)?, described_by, loss);
        }
        Ok(is_written.then_some(map))
    }

    /// Returns the id of a chunk of the bundle.
    fn id_of<E: Entries + ?Sized>(
        &self,
        entries: &E,
        address: &ContentAddress,
        producer: &str,
    ) -> Result<Option<String>, E::Error> {
        let Some(number) = entries.find(address)? else {
            return Ok(None);
        };
        let is_in = self
            .chunks
            .binary_search_by_key(&number, |chunk| chunk.number);
        if is_in.is_err() {
            return Ok(None);
        }
        let found = entries.read(number)?;
        Ok(found.and_then(|(grain, _)| chunk_id(&grain, producer)))
    }
}

/// Returns the record of a grain.
fn map_of(grain: &Grain) -> Option<Map> {
    match record(grain) {
        Some((_, Value::Map(map))) => Some(map),
        _ => None,
    }
}

/// Returns the id of the chunk of a grain.
fn chunk_id(grain: &Grain, producer: &str) -> Option<String> {
    match map_of(grain) {
        Some(map) => Some(map.get("id")?.as_text()?.to_owned()),
        None => Some(foreign::chunk_id(grain, producer)),
    }
}

/// Adds a stored vector to a chunk that carries none, if it is like those that the envelope describes.
fn with_vector(
    mut chunk: Map,
    vector: Option<StoredVector>,
    described_by: Option<&Described>,
    loss: &mut Loss,
) -> Map {
    let Some(vector) = vector else { return chunk };
    if Some(&length_and_model(&vector)) == described_by {
        let numbers = vector
            .numbers
            .iter()
            .flat_map(|number| number.to_le_bytes());
        let bytes: Vec<u8> = numbers.collect();
        chunk.insert("embedding", data_encoding::BASE64.encode(&bytes));
    } else {
        loss.count("embedding");
    }
    chunk
}

fn length_and_model(vector: &StoredVector) -> Described {
    let len = u64::try_from(vector.numbers.len()).unwrap_or(u64::MAX);
    (len, vector.model.clone())
}

fn is_in(ids: &CompactTable<()>, map: &Map, name: &str) -> bool {
    let id = map.get(name).and_then(Value::as_text);
    id.is_some_and(|id| ids.get(ids.key(id)).is_some())
}

/// Values that repeat, each once.
struct Interned<T> {
    numbers: HashMap<T, u32>,
    values: Vec<T>,
}

impl<T> Default for Interned<T> {
    fn default() -> Self {
        Self {
            numbers: HashMap::new(),
            values: Vec::new(),
        }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Interned<T> {
    fn add(&mut self, value: T) -> u32 {
        let next = u32::try_from(self.values.len()).unwrap_or(u32::MAX);
        *self.numbers.entry(value.clone()).or_insert_with(|| {
            self.values.push(value);
            next
        })
    }

    fn find<Q: Eq + std::hash::Hash + ?Sized>(&self, value: &Q) -> Option<u32>
    where
        T: std::borrow::Borrow<Q>,
    {
        self.numbers.get(value).copied()
    }

    fn get(&self, number: u32) -> Option<&T> {
        self.values.get(usize::try_from(number).ok()?)
    }
}
