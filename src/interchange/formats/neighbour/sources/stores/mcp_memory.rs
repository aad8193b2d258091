//! The reference MCP memory server: `memory.jsonl`, or what its tool `read_graph` returns. Entities with
//! observations, and relations between them, all without times and ids.

use crate::codec::{Map, Value};
use crate::interchange::Format;
use crate::interchange::formats::members::{rest, stable_id, text};
use crate::interchange::json_head::JsonFormat;

use crate::interchange::formats::neighbour::builder::Builder;
use crate::interchange::formats::neighbour::item::Item;
use crate::interchange::formats::neighbour::source::{Reader, Source};

/// The graph of the server.
pub(in crate::interchange::formats::neighbour) static SOURCE: Source = Source {
    format: Format::McpMemory,
    json: JsonFormat {
        markers: &[
            ("entities", None),
            ("entityType", None),
            ("from", None),
            ("observations", None),
            ("relationType", None),
            ("relations", None),
            ("to", None),
        ],
        inner: &[],
        detect: |head| {
            let is_graph = head.has_all(&["entityType", "observations"])
                || head.has_all(&["relationType", "from", "to"])
                || (!head.is_array && head.has_all(&["entities", "relations"]));
            (is_graph && head.is_certain()).then_some(Format::McpMemory)
        },
    },
    is_text: |_| false,
    arrays: &["entities", "relations"],
    is_in_order: false,
    spans_files: false,
    rank: |_| 0,
    reader: || Box::new(McpMemory),
};

struct McpMemory;

impl Reader for McpMemory {
    fn element(&mut self, element: &Value, _array: &str, builder: &mut Builder<'_>) -> bool {
        let Some(map) = element.as_map() else {
            return false;
        };
        relation(map, builder) || entity(map, builder)
    }
}

fn relation(map: &Map, builder: &mut Builder<'_>) -> bool {
    let ends = (
        text(map, "from"),
        text(map, "relationType"),
        text(map, "to"),
    );
    let (Some(from), Some(relation), Some(to)) = ends else {
        return false;
    };
    let mut item = Item::triple(
        stable_id(&["relation", from, relation, to]),
        from,
        relation,
        to,
    );
    item.record = rest(map, &["type", "from", "relationType", "to"]);
    builder.push(item);
    true
}

fn entity(map: &Map, builder: &mut Builder<'_>) -> bool {
    let Some(name) = text(map, "name").filter(|_| map.contains("observations")) else {
        return false;
    };
    let kind = text(map, "entityType");
    let rest = rest(map, &["type", "name", "entityType", "observations"]);
    if let Some(kind) = kind {
        let mut item = Item::triple(stable_id(&["entity", name]), name, "is_a", kind);
        item.record = rest;
        builder.push(item);
    } else if !rest.is_empty() {
        builder.lose("entity");
    }
    let observations = map.get("observations").and_then(Value::as_array);
    for observation in observations.unwrap_or_default() {
        // Older servers wrote an object an observation.
        let said = observation.as_map().and_then(|map| text(map, "content"));
        let said = observation.as_text().or(said).unwrap_or_default();
        if said.trim().is_empty() {
            builder.lose("observation");
            continue;
        }
        let mut item = Item::triple(stable_id(&["observation", name, said]), name, "note", said);
        item.tags.extend(kind.map(str::to_owned));
        builder.push(item);
    }
    true
}
