//! Writing a bundle: grains of one producer and one tenant, as a document or a stream.

use crate::code::ErrorCode;
use std::collections::{BTreeSet, HashSet};
use std::io::Write;

use crate::codec::{ContentAddress, Map, Value};
use crate::grain::{Time, user_urn};
use crate::interchange::export::only_one;
use crate::interchange::model::rfc3339::envelope_time;
use crate::interchange::{Entry, Error, Loss, Place, WriteOptions, Written};

use super::code;
use super::envelope::Scope;
use super::envelope::{checksum, is_tenant};
use super::foreign;
use super::member::Urn;
use super::residual::DNA;
use super::residual::{Kind, record};
use super::source::ARRAYS;

/// Writes a bundle as one JSON document.
///
/// Chunks that came from a bundle keep their names, in a bundle of their producer. Grains of any
/// other origin become chunks of this store, named by their addresses; AIMEM has no place for the
/// rest of them, which is counted. Grains that are not current are left out.
///
/// # Errors
/// `mixed_producers` when the chunks are those of several producers and none is chosen,
/// `mixed_tenants`, `ERR_IO`.
pub fn write(
    out: &mut impl Write,
    entries: &[Entry],
    options: &WriteOptions,
) -> Result<Written, Error> {
    let (bundle, written) = bundle(entries, options)?;
    writeln!(out, "{}", Value::Map(bundle).to_json())?;
    Ok(written)
}

/// Writes a bundle as a stream: the envelope, then one record a line.
///
/// # Errors
/// As [`write()`].
pub fn write_stream(
    out: &mut impl Write,
    entries: &[Entry],
    options: &WriteOptions,
) -> Result<Written, Error> {
    let (mut bundle, written) = bundle(entries, options)?;
    let kinds = ["chunk", "edge", "entity", "chunk_entity"];
    let arrays = ARRAYS.map(|name| bundle.remove(name));
    writeln!(out, "{}", Value::Map(bundle).to_json())?;
    for (items, kind) in arrays.into_iter().zip(kinds) {
        let Some(Value::Array(items)) = items else {
            continue;
        };
        for item in items {
            let Value::Map(mut map) = item else { continue };
            map.insert("_kind", kind);
            writeln!(out, "{}", Value::Map(map).to_json())?;
        }
    }
    Ok(written)
}

/// The records of a bundle that is being written.
#[derive(Default)]
struct Collected {
    envelopes: Vec<(Time, Map)>,
    chunks: Vec<Chunk>,
    edges: Vec<Map>,
    entities: Vec<Map>,
    mentions: Vec<Map>,
    /// Those of other formats.
    relations: Vec<foreign::Relation>,
    loss: Loss,
}

struct Chunk {
    map: Map,
    address: ContentAddress,
    /// `None` for a grain of another origin.
    producer: Option<String>,
    created_at: Time,
    tenant: Option<String>,
    /// The length and the model of its vector.
    embedding: Option<(u64, String)>,
}

fn bundle(entries: &[Entry], options: &WriteOptions) -> Result<(Map, Written), Error> {
    let mut collected = collect(entries);
    let producer = collected.choose_producer(options.producer.as_deref())?;
    collected.keep_scope(options.scope);
    let mut bundle = collected.envelope(&producer, options, options.now_for(entries))?;
    collected.vectors(&mut bundle, options.with_embeddings);

    let names = |items: &[Map], name: &str| -> HashSet<String> {
        let names = items.iter().filter_map(|map| map.get(name)?.as_text());
        names.map(str::to_owned).collect()
    };
    let mut edges = std::mem::take(&mut collected.edges);
    edges.extend(collected.related());
    let chunks: Vec<Map> = collected
        .chunks
        .into_iter()
        .map(|chunk| chunk.map)
        .collect();
    let ids = names(&chunks, "id");
    let is_in = |ids: &HashSet<String>, map: &Map, name: &str| {
        let id = map.get(name).and_then(Value::as_text);
        id.is_some_and(|id| ids.contains(id))
    };
    let (mut entities, mut mentions) = (collected.entities, collected.mentions);
    edges.retain(|map| is_in(&ids, map, "source_id") && is_in(&ids, map, "target_id"));
    mentions.retain(|map| is_in(&ids, map, "chunk_id"));
    if options.scope == Scope::Full {
        entities.retain(|map| {
            let urn = map.get("id").and_then(Value::as_text).and_then(Urn::parse);
            urn.is_some_and(|urn| urn.producer == producer)
        });
    } else {
        let linked = names(&mentions, "entity_id");
        entities.retain(|map| is_in(&linked, map, "id"));
    }
    let known = names(&entities, "id");
    mentions.retain(|map| is_in(&known, map, "entity_id"));

    let mut records: u64 = 0;
    for (name, items) in ARRAYS.into_iter().zip([chunks, edges, entities, mentions]) {
        records = records.saturating_add(u64::try_from(items.len()).unwrap_or(u64::MAX));
        let items: Vec<Value> = items.into_iter().map(Value::Map).collect();
        bundle.insert(name, items);
    }
    bundle.remove("checksum");
    let checksum = checksum(&mut bundle);
    bundle.insert("checksum", checksum);
    let loss = collected.loss;
    Ok((bundle, Written { records, loss }))
}

fn collect(entries: &[Entry]) -> Collected {
    let mut collected = Collected::default();
    for (grain, status) in entries {
        match record(grain) {
            Some((Kind::Envelope, Value::Map(map))) => {
                collected.envelopes.push((grain.created_at(), map));
            }
            _ if !status.is_current() => collected.loss.count("not current"),
            Some((Kind::Edge, Value::Map(map))) => collected.edges.push(map),
            Some((Kind::Entity, Value::Map(map))) => collected.entities.push(map),
            Some((Kind::Mention, Value::Map(map))) => collected.mentions.push(map),
            Some((Kind::Chunk, Value::Map(map))) => {
                let id = map.get("id").and_then(Value::as_text);
                let urn = id.and_then(Urn::parse);
                let reference = grain.field("embedding_refs").and_then(Value::as_array);
                let reference = reference.and_then(|refs| refs.first()?.as_map());
                let embedding = reference.and_then(|map| {
                    let model = map.get("model")?.as_text()?.to_owned();
                    Some((u64::try_from(map.get("dimensions")?.as_i64()?).ok()?, model))
                });
                collected.chunks.push(Chunk {
                    producer: urn.map(|urn| urn.producer.to_owned()),
                    created_at: grain.created_at(),
                    tenant: grain.text("user_id").map(str::to_owned),
                    embedding,
                    address: grain.address(),
                    map,
                });
            }
            _ => {
                if let Some(relation) = foreign::relation(grain) {
                    collected.relations.push(relation);
                } else if let Some(map) = foreign::chunk(grain, &mut collected.loss) {
                    collected.chunks.push(Chunk {
                        map,
                        address: grain.address(),
                        producer: None,
                        created_at: grain.created_at(),
                        tenant: grain.text("user_id").map(str::to_owned),
                        embedding: None,
                    });
                }
            }
        }
    }
    collected
}

impl Collected {
    /// Keeps the chunks of one producer: a bundle has one (AIMEM 2.3).
    fn choose_producer(&mut self, wanted: Option<&str>) -> Result<String, Error> {
        let all: BTreeSet<String> = self
            .chunks
            .iter()
            .map(|chunk| chunk.producer.clone().unwrap_or_else(|| OWN.to_owned()))
            .collect();
        let envelopes = self.envelopes.iter();
        let from_envelope = envelopes
            .filter_map(|(_, map)| map.get("producer")?.as_text())
            .next_back();
        let chosen = match (wanted, all.len()) {
            (Some(wanted), _) => wanted.to_owned(),
            (None, 0) => from_envelope.unwrap_or(OWN).to_owned(),
            (None, 1) => all.into_iter().next().unwrap_or_default(),
            (None, _) => {
                let names: Vec<_> = all.into_iter().collect();
                return Err(mixed(code::MIXED_PRODUCERS, "producers", &names));
            }
        };
        if !super::member::is_producer(&chosen) {
            let message = "a producer must match ^[a-z0-9-]{1,63}$";
            return Err(fault(code::INVALID_PRODUCER, message.into()));
        }
        // A chosen name that no chunk has names this store's own grains.
        let foreign = self.chunks.iter();
        let foreign = foreign.filter_map(|chunk| chunk.producer.as_deref());
        let is_foreign = foreign.clone().any(|producer| producer == chosen);
        let loss = &mut self.loss;
        self.chunks.retain(|chunk| {
            let fits = match &chunk.producer {
                Some(producer) => *producer == chosen,
                None => !is_foreign || chosen == OWN,
            };
            if !fits {
                loss.count("of another producer");
            }
            fits
        });
        for chunk in self.chunks.iter_mut().filter(|it| it.producer.is_none()) {
            let local = chunk.map.get("id").and_then(Value::as_text);
            let urn = format!("urn:aimem:{chosen}:{}", local.unwrap_or_default());
            chunk.map.insert("id", urn);
        }
        self.envelopes
            .retain(|(_, map)| map.get("producer").and_then(Value::as_text) == Some(&chosen));
        Ok(chosen)
    }

    /// Returns the edges of the relations of other formats.
    fn related(&mut self) -> Vec<Map> {
        if self.relations.is_empty() {
            return Vec::new();
        }
        let ids = self.chunks.iter().filter_map(|chunk| {
            let id = chunk.map.get("id")?.as_text()?;
            Some((chunk.address, id.to_owned()))
        });
        let ids = ids.collect();
        let (relations, loss) = (std::mem::take(&mut self.relations), &mut self.loss);
        let edges = relations.iter().filter_map(|relation| {
            let edge = relation.edge(&ids, loss);
            if edge.is_none() {
                loss.count("relation");
            }
            edge
        });
        edges.collect()
    }

    fn keep_scope(&mut self, scope: Scope) {
        self.chunks.retain(|chunk| match scope {
            Scope::Full => true,
            Scope::DnaOnly => {
                let kind = chunk.map.get("memory_type").and_then(Value::as_text);
                let is_pinned = chunk.map.get("is_pinned") == Some(&Value::Bool(true));
                is_pinned || kind.is_some_and(|kind| DNA.contains(&kind))
            }
            Scope::Since(since) => chunk.created_at >= since,
        });
    }

    /// Returns the envelope: the original one if the bundle is exported whole, or else a new one.
    fn envelope(
        &mut self,
        producer: &str,
        options: &WriteOptions,
        now: Time,
    ) -> Result<Map, Error> {
        self.envelopes.sort_by_key(|(time, _)| *time);
        let is_as_it_came = self.envelopes.len() == 1
            && options.scope == Scope::Full
            && self.chunks.iter().all(|chunk| chunk.producer.is_some());
        let mut bundle = self.envelopes.pop().map(|(_, map)| map).unwrap_or_default();
        let tenants = self.chunks.iter();
        let tenants = tenants.filter_map(|chunk| chunk.tenant.as_deref());
        let tenant = only_one(tenants).map_err(|names| {
            let names: Vec<_> = names.into_iter().map(str::to_owned).collect();
            mixed(code::MIXED_TENANTS, "users", &names)
        })?;
        if is_as_it_came {
            return Ok(bundle);
        }
        let (scope, since) = match options.scope {
            Scope::Full => ("FULL", None),
            Scope::DnaOnly => ("DNA_ONLY", None),
            Scope::Since(since) => ("SINCE", Some(since)),
        };
        if !bundle.contains("format") {
            bundle.insert("format", "aimem-bundle");
        }
        bundle.insert("version", "1");
        bundle.insert("producer", producer);
        bundle.insert("scope", scope);
        bundle.insert("exported_at", envelope_time(now));
        match since {
            Some(since) => drop(bundle.insert("since", envelope_time(since))),
            None => drop(bundle.remove("since")),
        }
        match tenant {
            Some(tenant) => drop(bundle.insert("tenant_id", tenant_id(tenant))),
            None if bundle.contains("tenant_id") => {}
            None => drop(bundle.insert("tenant_id", tenant_id("local"))),
        }
        Ok(bundle)
    }

    /// Keeps the vectors that were asked for and that the envelope can describe.
    fn vectors(&mut self, bundle: &mut Map, is_wanted: bool) {
        let first = self.chunks.iter().find_map(|chunk| chunk.embedding.clone());
        let described = first.filter(|_| is_wanted);
        for chunk in &mut self.chunks {
            let has_one = chunk
                .map
                .get("embedding")
                .is_some_and(|it| *it != Value::Nil);
            if has_one && (described.is_none() || chunk.embedding != described) {
                chunk.map.remove("embedding");
                self.loss.count("embedding");
            }
        }
        if let Some((dim, model)) = described {
            bundle.insert("embedding_dim", dim);
            // The envelope may hold text that a grain cannot.
            if !bundle.contains("embedding_model") {
                bundle.insert("embedding_model", model);
            }
        } else if !is_wanted {
            bundle.remove("embedding_dim");
            bundle.remove("embedding_model");
        }
    }
}

/// Returns a user as a tenant of AIMEM 2.1: a UUID or a URI.
fn tenant_id(user: &str) -> String {
    if is_tenant(user) {
        return user.to_owned();
    }
    user_urn(user)
}

fn mixed(code: ErrorCode, what: &str, names: &[String]) -> Error {
    let names = names.join(", ");
    fault(
        code,
        format!("a bundle is of one; there are the {what} {names}"),
    )
}

fn fault(code: ErrorCode, message: String) -> Error {
    Error::format(code, Place::File, message)
}

/// The producer of the bundles of this store.
const OWN: &str = "grainstore";
