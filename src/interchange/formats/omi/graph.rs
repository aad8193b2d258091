//! Grains of other formats that are no memories: relations and entities in the places of this format,
//! and all of them in the extension, so that they can be read again.

use std::collections::HashMap;

use crate::codec::{ContentAddress, Map, Value};
use crate::grain::{Grain, Status};
use crate::interchange::model::embedded_grain;
use crate::interchange::model::link::{Link, link_of};
use crate::interchange::{Loss, aimem};

use super::extension::add_side;
use super::write::Line;

/// The records by the names that others may have for them.
#[derive(Default)]
struct Records {
    by_address: HashMap<ContentAddress, usize>,
    /// By the id in a bundle.
    by_name: HashMap<String, usize>,
    /// The first message of a session.
    by_session: HashMap<String, usize>,
}

/// Adds the grains to the records that they are about: a relation to the one it starts from, an
/// entity to those that mention it, a conversation to its first message. The others, and envelopes,
/// stand in the envelope.
pub(super) fn add_sides(
    envelope: &mut Map,
    lines: &mut [Line<'_>],
    sides: &[(&Grain, &Status)],
    loss: &mut Loss,
) {
    if sides.is_empty() {
        return;
    }
    let records = Records::of(lines);
    let mut entities: HashMap<&str, (Map, Option<usize>)> = HashMap::new();
    for (grain, _) in sides {
        if grain
            .text("relation")
            .is_some_and(|it| it.starts_with("aimem:entity"))
            && let (Some(id), Some(entity)) = (grain.text("subject"), entity(grain))
        {
            entities.insert(id, (entity, None));
        }
    }
    for (grain, _) in sides {
        if let Some((chunk, id)) = mention(grain)
            && let Some(number) = records.by_name.get(chunk)
            && let Some((entity, host)) = entities.get_mut(id)
            && let Some(line) = lines.get_mut(*number)
        {
            host.get_or_insert(*number);
            push(&mut line.map, "entities", entity.clone());
        }
    }
    for (grain, status) in sides {
        let packed = embedded_grain::pack(grain, status);
        let host = if let Some(link) = link_of(grain) {
            let Some(host) = relate(&records, &link, lines) else {
                loss.count("relation");
                continue;
            };
            Some(host)
        } else if let Some((chunk, _)) = mention(grain) {
            let Some(host) = records.by_name.get(chunk) else {
                loss.count("mention");
                continue;
            };
            Some(*host)
        } else {
            let entity = grain.text("subject").and_then(|id| entities.get(id)?.1);
            let session = || records.by_session.get(grain.text("session_id")?).copied();
            entity.or_else(session)
        };
        match host.and_then(|host| lines.get_mut(host)) {
            Some(line) => add_side(&mut line.map, packed),
            None => add_side(envelope, packed),
        }
    }
}

/// Writes a relation; returns the record that it starts from.
fn relate(records: &Records, link: &Link, lines: &mut [Line<'_>]) -> Option<usize> {
    let mut ends = link
        .ends
        .iter()
        .map(|end| records.by_address.get(end).copied());
    let (from, to) = (ends.next()??, ends.next()??);
    let target = lines.get(to)?.map.get("id")?.clone();
    let kind = match link.kind.as_str() {
        "" | "related_to" => "relates_to",
        kind => kind,
    };
    let relation = Map::from_iter([("type", Value::from(kind)), ("target", target)]);
    push(&mut lines.get_mut(from)?.map, "relations", relation);
    Some(from)
}

/// Returns the entity that a grain of a bundle is.
fn entity(grain: &Grain) -> Option<Map> {
    let record = aimem::residual(grain)?;
    let record = record.as_map()?;
    let names = [("id", "id"), ("label", "name"), ("type", "kind")];
    let members = names
        .into_iter()
        .filter_map(|(name, of)| Some((name, record.get(of)?.clone())));
    Some(members.collect())
}

/// Returns the names of the chunk and the entity that a grain of a bundle joins.
fn mention(grain: &Grain) -> Option<(&str, &str)> {
    let is_mention = grain.text("relation") == Some("aimem:mentions");
    Some((grain.text("subject")?, grain.text("object")?)).filter(|_| is_mention)
}

fn push(map: &mut Map, name: &str, item: Map) {
    if let Some(Value::Array(items)) = map.get_mut(name) {
        items.push(Value::Map(item));
    } else {
        map.insert(name, vec![Value::Map(item)]);
    }
}

impl Records {
    fn of(lines: &[Line<'_>]) -> Self {
        let mut records = Self::default();
        for (number, line) in lines.iter().enumerate() {
            let grain = line.grain;
            records.by_address.insert(grain.address(), number);
            if let Some(session) = grain.text("session_id") {
                records
                    .by_session
                    .entry(session.to_owned())
                    .or_insert(number);
            }
            let bundled = aimem::residual(grain);
            let name = bundled
                .as_ref()
                .and_then(|record| record.as_map()?.get("id")?.as_text());
            if let Some(name) = name {
                records.by_name.insert(name.to_owned(), number);
            }
        }
        records
    }
}
