//! Grains of other formats that are no memories: relations and entities in the places of this format,
//! and all of them in the extension, so that they can be read again.

use crate::codec::{ContentAddress, Map, Value};
use crate::grain::{GRAIN_URN, Grain};
use crate::interchange::entries::{Numbers, each};
use crate::interchange::model::embedded_grain;
use crate::interchange::model::link::link_of;
use crate::interchange::{Entries, Entry, Loss, aimem};

use super::extension::{add, add_side};
use super::residual::residual;

/// The names that other grains may have for a record, beside its address.
pub(super) struct LineNames {
    session: Option<ContentAddress>,
    /// The id in a bundle.
    id: Option<ContentAddress>,
}

impl LineNames {
    pub(super) fn of(grain: &Grain) -> Self {
        let hash = |name: &str| ContentAddress::of(name.as_bytes());
        let bundled = aimem::residual(grain);
        let id = bundled
            .as_ref()
            .and_then(|record| record.as_map()?.get("id")?.as_text());
        Self {
            session: grain.text("session_id").map(hash),
            id: id.map(hash),
        }
    }
}

/// The records by the names that others may have for them.
#[derive(Default)]
pub(super) struct Records {
    /// In their order.
    pub(super) lines: Vec<u32>,
    by_name: Numbers,
    /// The first message of a session.
    by_session: Numbers,
    last_session: Option<ContentAddress>,
}

impl Records {
    pub(super) fn add(&mut self, number: u32, names: &LineNames) {
        self.lines.push(number);
        if let Some(id) = names.id {
            self.by_name.add(id, number);
        }
        // Messages of a session follow each other, and its first is enough.
        if let Some(session) = names.session
            && self.last_session != Some(session)
        {
            self.by_session.add(session, number);
            self.last_session = Some(session);
        }
    }

    /// Returns the number of the record of an address.
    fn find<E: Entries + ?Sized>(
        &self,
        address: &ContentAddress,
        entries: &E,
    ) -> Result<Option<u32>, E::Error> {
        let found = entries.find(address)?;
        Ok(found.filter(|number| self.lines.binary_search(number).is_ok()))
    }

    fn sort(&mut self) {
        self.by_name.sort();
        self.by_session.sort();
    }
}

/// A grain that is no memory, and the records it is about.
enum Side {
    /// A relation of one record to another.
    Link([Option<u32>; 2]),
    /// A mention: the record, and the entity.
    Mention(Option<u32>, ContentAddress),
    /// An entity.
    Entity(ContentAddress, Option<u32>),
    /// A grain of the first message of a session, or of none.
    Other(Option<u32>),
}

impl Side {
    fn of<E: Entries + ?Sized>(
        grain: &Grain,
        records: &Records,
        entries: &E,
    ) -> Result<Self, E::Error> {
        let hash = |name: &str| ContentAddress::of(name.as_bytes());
        let session = grain.text("session_id");
        let session = session.and_then(|session| records.by_session.named(session));
        if let Some(link) = link_of(grain) {
            let mut ends = link.ends.iter();
            let mut end = || match ends.next() {
                Some(end) => records.find(end, entries),
                None => Ok(None),
            };
            return Ok(Self::Link([end()?, end()?]));
        }
        if grain.text("relation") == Some("aimem:mentions")
            && let (Some(chunk), Some(id)) = (grain.text("subject"), grain.text("object"))
        {
            return Ok(Self::Mention(records.by_name.named(chunk), hash(id)));
        }
        Ok(match grain.text("subject") {
            Some(id) if entity(grain).is_some() => Self::Entity(hash(id), session),
            _ => Self::Other(session),
        })
    }
}

/// An addition to a record.
#[derive(Debug, Clone, Copy)]
enum Beside {
    /// A grain in its extension.
    Packed(u32),
    /// A relation to another record, by the number of the grain that is the relation.
    Relation { relation: u32, to: u32 },
    /// A member of its entities.
    Entity(u32),
    /// The record that it replaces (OMI 9.4).
    Replaced(u32),
}

/// The grains that are no memories, by the number of the record in which they stand.
pub(super) struct Sides(Vec<(u32, Beside)>);

impl Sides {
    /// Finds the records that the grains are about: of a relation the one it starts from, of an
    /// entity those that mention it, of a conversation its first message. The others stand in the
    /// envelope.
    pub(super) fn find<E: Entries + ?Sized>(
        entries: &E,
        (numbers, replaced): (&[u32], &[(u32, ContentAddress)]),
        records: &mut Records,
        envelope: &mut Map,
        loss: &mut Loss,
    ) -> Result<Self, E::Error> {
        let mut hosted = Vec::new();
        records.sort();
        let records = &*records;
        for (old, new) in replaced {
            let new = records.find(new, entries)?;
            hosted.extend(new.map(|new| (new, Beside::Replaced(*old))));
        }
        if numbers.is_empty() {
            hosted.sort_by_key(|(host, _)| *host);
            return Ok(Self(hosted));
        }
        let mut sides = Vec::new();
        let make = |number: u32, (grain, _): Entry| {
            let side = Side::of(&grain, records, entries)?;
            Ok((number, side))
        };
        each(entries, numbers.iter().copied(), make, |side| {
            sides.push(side);
            Ok(())
        })?;
        // The entities, and the first record that mentions each.
        let mut entities = Numbers::default();
        for (number, side) in &sides {
            if let Side::Entity(id, _) = side {
                entities.add(*id, *number);
            }
        }
        entities.sort();
        let mut mentioned = Numbers::default();
        for (_, side) in &sides {
            if let Side::Mention(Some(host), id) = side
                && let Some(entity) = entities.get(id)
            {
                mentioned.add(*id, *host);
                hosted.push((*host, Beside::Entity(entity)));
            }
        }
        mentioned.sort();
        for (number, side) in sides {
            let host = match side {
                Side::Link([Some(from), Some(to)]) => {
                    let relation = number;
                    hosted.push((from, Beside::Relation { relation, to }));
                    Some(from)
                }
                Side::Link(_) => {
                    loss.count("relation");
                    continue;
                }
                Side::Mention(None, _) => {
                    loss.count("mention");
                    continue;
                }
                Side::Mention(host, _) | Side::Other(host) => host,
                Side::Entity(id, session) => mentioned.get(&id).or(session),
            };
            match host {
                Some(host) => hosted.push((host, Beside::Packed(number))),
                None => {
                    if let Some((grain, status)) = entries.read(number)? {
                        add_side(
                            envelope,
                            embedded_grain::pack_held(&grain, &status, entries),
                        );
                    }
                }
            }
        }
        hosted.sort_by_key(|(host, _)| *host);
        Ok(Self(hosted))
    }

    /// Adds to a record what stands in it.
    pub(super) fn add_to<E: Entries + ?Sized>(
        &self,
        map: &mut Map,
        number: u32,
        entries: &E,
    ) -> Result<(), E::Error> {
        let from = self.0.partition_point(|(host, _)| *host < number);
        let sides = self.0.get(from..).unwrap_or_default().iter();
        for (_, beside) in sides.take_while(|(host, _)| *host == number) {
            let of = match *beside {
                Beside::Packed(of) | Beside::Entity(of) | Beside::Replaced(of) => of,
                Beside::Relation { relation, .. } => relation,
            };
            let Some((grain, status)) = entries.read(of)? else {
                continue;
            };
            match *beside {
                Beside::Packed(_) => {
                    add_side(map, embedded_grain::pack_held(&grain, &status, entries));
                }
                Beside::Entity(_) => {
                    if let Some(entity) = entity(&grain) {
                        push(map, "entities", entity);
                    }
                }
                Beside::Replaced(_) => {
                    let members = [("type", "supersedes".into()), ("target", record_id(&grain))];
                    let relation = Value::Map(Map::from_iter(members));
                    add(map, "relations", Value::Array(vec![relation]));
                }
                Beside::Relation { to, .. } => {
                    if let Some((target, _)) = entries.read(to)?
                        && let Some(relation) = relation(&grain, &target)
                    {
                        push(map, "relations", relation);
                    }
                }
            }
        }
        Ok(())
    }
}

/// Returns the relation to a record.
fn relation(grain: &Grain, target: &Grain) -> Option<Map> {
    let link = link_of(grain)?;
    let target = record_id(target);
    let kind = match link.kind.as_str() {
        "" | "related_to" => "relates_to",
        kind => kind,
    };
    let members = [("type", Value::from(kind)), ("target", target)];
    Some(Map::from_iter(members))
}

/// Returns the id of the record of a grain.
fn record_id(grain: &Grain) -> Value {
    let own = match residual(grain) {
        Some(Value::Map(mut record)) => record.remove("id"),
        _ => None,
    };
    own.unwrap_or_else(|| id_of(grain).into())
}

/// Returns the id of the record of a grain of another origin.
pub(super) fn id_of(grain: &Grain) -> String {
    format!("{GRAIN_URN}{}", grain.address())
}

/// Returns the entity that a grain of a bundle is.
fn entity(grain: &Grain) -> Option<Map> {
    if !grain.text("relation")?.starts_with("aimem:entity") {
        return None;
    }
    let record = aimem::residual(grain)?;
    let record = record.as_map()?;
    let names = [("id", "id"), ("label", "name"), ("type", "kind")];
    let members = names
        .into_iter()
        .filter_map(|(name, of)| Some((name, record.get(of)?.clone())));
    Some(members.collect())
}

fn push(map: &mut Map, name: &str, item: Map) {
    if let Some(Value::Array(items)) = map.get_mut(name) {
        items.push(Value::Map(item));
    } else {
        map.insert(name, vec![Value::Map(item)]);
    }
}
