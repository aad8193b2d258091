//! mcp-memory-service: its JSON export, and the tables of its SQLite file.

use crate::codec::{Map, Value};
use crate::interchange::Format;
use crate::interchange::formats::members::{moment, parsed, rest, stable_id, text};
use crate::interchange::formats::neighbour::builder::Builder;
use crate::interchange::formats::neighbour::item::Item;
use crate::interchange::formats::neighbour::source::{Reader, Source};

/// The memories of the service.
pub(in crate::interchange::formats::neighbour) static SOURCE: Source = Source::of_json(
    Format::McpMemoryService,
    &[("export_metadata", None), ("memories", None)],
    |head| {
        let is_export = head.has_all(&["export_metadata", "memories"]) && !head.is_array;
        is_export.then_some(Format::McpMemoryService)
    },
    &["memories"],
    || Box::new(Service),
);

struct Service;

impl Reader for Service {
    fn element(&mut self, element: &Value, array: &str, builder: &mut Builder<'_>) -> bool {
        match (element.as_map(), array) {
            (Some(map), "memories") => memory(map, builder),
            (Some(_), table) => {
                builder.lose(table);
                true
            }
            (None, _) => false,
        }
    }

    fn envelope(&mut self, _members: &Map) -> &'static [&'static str] {
        // When and where the export was made.
        &["export_metadata"]
    }
}

fn memory(map: &Map, builder: &mut Builder<'_>) -> bool {
    let Some(said) = text(map, "content") else {
        return false;
    };
    let at = |name: &str| map.get(name).and_then(moment);
    if at("deleted_at").is_some() {
        builder.lose("deleted");
        return true;
    }
    let id = text(map, "content_hash").map(str::to_owned);
    let mut item = Item::note(id.unwrap_or_else(|| stable_id(&["memory", said])), said);
    item.created = at("created_at").or_else(|| at("created_at_iso"));
    item.updated = at("updated_at").or_else(|| at("updated_at_iso"));
    if text(map, "superseded_by").is_some() {
        item.ended = item.updated.or(item.created);
    }
    // In the file of the service tags are one text.
    let tags = map.get("tags");
    let list = tags.and_then(Value::as_text).into_iter();
    item.tags.extend(
        list.flat_map(|tags| tags.split(','))
            .map(|tag| tag.trim().to_owned()),
    );
    if tags.is_some_and(|tags| tags.as_array().is_some()) {
        item.tags
            .extend(tags.into_iter().flat_map(Value::texts).map(str::to_owned));
    }
    item.tags
        .extend(text(map, "memory_type").map(str::to_owned));
    item.record = rest(map, PLACED);
    let metadata = map.get("metadata").map(parsed);
    let is_said = |metadata: &Value| metadata.as_map().is_some_and(|it| !it.is_empty());
    if let Some(metadata) = metadata.filter(|metadata| is_said(metadata)) {
        item.record.insert("metadata", metadata.into_owned());
    }
    builder.push(item);
    true
}

const PLACED: &[&str] = &[
    "id",
    "content",
    "content_hash",
    "tags",
    "memory_type",
    "metadata",
    "created_at",
    "created_at_iso",
    "updated_at",
    "updated_at_iso",
    // When it was last asked for.
    "last_accessed",
];
