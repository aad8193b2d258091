//! Grains of other formats that are no memories: relations in their place, and all of them beside the
//! memory that they belong to, in its extension.

use std::collections::HashMap;

use crate::codec::{ContentAddress, Map, Value};
use crate::grain::{Grain, Status, Time};
use crate::interchange::formats::aimem;
use crate::interchange::model::embedded_grain::{self, SIDES};
use crate::interchange::model::link::{Link, link_of};
use crate::interchange::model::rfc3339::insert_required;

use super::document::Writer;
use super::embedded_memory::EXTENSION;
use super::uuid::uuid;

/// The grains of other formats that are no memories.
#[derive(Default)]
pub(crate) struct Sides(Vec<Side>);

struct Side {
    address: ContentAddress,
    created_at: Time,
    confidence: Option<Value>,
    link: Option<Link>,
    packed: Map,
    /// The names of the records that it is about, in their own format.
    names: [Option<String>; 2],
}

impl Sides {
    pub(super) fn add(&mut self, grain: &Grain, status: &Status) {
        let is_of_graph = aimem::residual(grain).is_some();
        let name = |name: &str| grain.text(name).filter(|_| is_of_graph).map(str::to_owned);
        self.0.push(Side {
            address: grain.address(),
            created_at: grain.created_at(),
            confidence: grain.field("confidence").cloned(),
            link: link_of(grain),
            packed: embedded_grain::pack(grain, status),
            names: [name("subject"), name("object")],
        });
    }
}

impl Writer<'_> {
    /// Writes relations into their array, and every grain into the extension of a memory: a relation
    /// into that of the memory it starts from, a mention into that of the memory that mentions, an
    /// entity where it is mentioned first, the rest into the first. A grain without any memory to
    /// stand beside is counted.
    pub(super) fn write_sides(&mut self, relations: &mut Vec<Map>) {
        let sides = std::mem::take(&mut self.sides).0;
        if sides.is_empty() {
            return;
        }
        let hosts = self.hosts();
        // The memories by the names of the records, and the entities by those who mention them.
        let mut mentioned: HashMap<&str, usize> = HashMap::new();
        for side in &sides {
            if let (None, [Some(chunk), Some(entity)]) = (&side.link, &side.names)
                && let Some(host) = hosts.by_name.get(chunk)
            {
                mentioned.entry(entity).or_insert(*host);
            }
        }
        for side in &sides {
            let own = side.names[0].as_deref();
            let host = match &side.link {
                Some(link) => self.relate(side, link, &hosts, relations),
                None => own
                    .and_then(|name| hosts.by_name.get(name).or_else(|| mentioned.get(name)))
                    .or(hosts.first.as_ref())
                    .copied(),
            };
            let memory = host.and_then(|host| self.memories.get_mut(host));
            match memory.and_then(extension) {
                Some(packed) => push(packed, &side.packed),
                None => self.loss.count(match (&side.link, own) {
                    (Some(_), _) => "relation",
                    (None, Some(_)) => "entity",
                    (None, None) => "envelope",
                }),
            }
        }
    }

    /// Writes a relation; returns the memory that it starts from.
    fn relate(
        &mut self,
        side: &Side,
        link: &Link,
        hosts: &Hosts,
        relations: &mut Vec<Map>,
    ) -> Option<usize> {
        let name = |end: usize| self.names.get(link.ends.get(end)?).cloned();
        let (from, to) = (name(0)?, name(1)?);
        let host = hosts.by_address.get(link.ends.first()?).copied()?;
        let mut map = Map::new();
        map.insert("id", uuid(side.address));
        map.insert("from", from);
        map.insert("to", to);
        map.insert("type", kind(&link.kind));
        // A relation of OMI has no confidence, and none is invented.
        if let Some(confidence) = side.confidence.clone().filter(|_| side.names[0].is_some()) {
            map.insert("confidence", confidence);
        }
        insert_required(&mut map, "created_at", side.created_at, &mut self.loss);
        relations.push(map);
        Some(host)
    }

    fn hosts(&self) -> Hosts {
        let mut hosts = Hosts::default();
        for (number, memory) in self.memories.iter().enumerate() {
            let Some(Value::Map(packed)) = memory
                .get("metadata")
                .and_then(|it| it.as_map()?.get(EXTENSION))
            else {
                continue;
            };
            let address = packed.get("address").and_then(Value::as_text);
            let Some(address) = address.and_then(|text| text.parse().ok()) else {
                continue;
            };
            hosts.first.get_or_insert(number);
            hosts.by_address.insert(address, number);
        }
        for (address, name) in &self.record_names {
            if let Some(number) = hosts.by_address.get(address) {
                hosts.by_name.insert(name.clone(), *number);
            }
        }
        hosts
    }
}

/// The numbers of the memories that embed a whole grain.
#[derive(Default)]
struct Hosts {
    by_address: HashMap<ContentAddress, usize>,
    /// By the id of the record that the grain was built from.
    by_name: HashMap<String, usize>,
    first: Option<usize>,
}

/// Returns the extension of a memory.
fn extension(memory: &mut Map) -> Option<&mut Map> {
    match memory.get_mut("metadata") {
        Some(Value::Map(metadata)) => match metadata.get_mut(EXTENSION) {
            Some(Value::Map(packed)) => Some(packed),
            _ => None,
        },
        _ => None,
    }
}

fn push(packed: &mut Map, side: &Map) {
    if let Some(Value::Array(sides)) = packed.get_mut(SIDES) {
        sides.push(Value::Map(side.clone()));
    } else {
        packed.insert(SIDES, vec![Value::Map(side.clone())]);
    }
}

/// Returns the nearest of the types of PAM 13.
fn kind(name: &str) -> &'static str {
    let known = [
        "supports",
        "contradicts",
        "extends",
        "supersedes",
        "derived_from",
    ];
    let found = known.into_iter().find(|known| *known == name);
    found.unwrap_or("related_to")
}
