//! Graphiti and Zep: episodes, nodes and edges, as their dumps have them. An edge has two axes of time: when
//! it was true (`valid_at`, `invalid_at`), and when the graph knew it (`created_at`, `expired_at`).

use crate::codec::{Map, Value};
use crate::interchange::Format;
use crate::interchange::formats::members::{moment, rest, text};
use crate::interchange::json_head::JsonFormat;

use crate::interchange::formats::neighbour::builder::Builder;
use crate::interchange::formats::neighbour::item::{Fact, Item, Said, Turn};
use crate::interchange::formats::neighbour::source::{Reader, Source};

use super::super::names::Names;

/// The dump of a graph.
pub(in crate::interchange::formats::neighbour) static SOURCE: Source = Source {
    format: Format::Graphiti,
    json: JsonFormat {
        markers: &[("edges", None), ("episodes", None), ("nodes", None)],
        inner: &[],
        detect: |head| {
            let is_dump = head.has(&["edges", "episodes"]) && head.has(&["nodes"]);
            (is_dump && !head.is_array && head.is_whole).then_some(Format::Graphiti)
        },
    },
    is_text: |_| false,
    arrays: &["episodes", "nodes", "edges"],
    is_in_order: true,
    spans_files: false,
    rank: |_| 0,
    reader: || Box::new(Graphiti::default()),
};

#[derive(Default)]
struct Graphiti {
    /// The names of the nodes.
    names: Names,
}

impl Reader for Graphiti {
    fn element(&mut self, element: &Value, array: &str, builder: &mut Builder<'_>) -> bool {
        let Some(map) = element.as_map() else {
            return false;
        };
        let Some(id) = text(map, "uuid") else {
            return false;
        };
        match array {
            "episodes" => episode(map, id, builder),
            "nodes" => self.node(map, id, builder),
            _ => self.edge(map, id, builder),
        }
    }
}

impl Graphiti {
    fn node(&mut self, map: &Map, id: &str, builder: &mut Builder<'_>) -> bool {
        let Some(name) = text(map, "name") else {
            return false;
        };
        self.names.add(id, name);
        let placed = [
            "uuid",
            "name",
            "labels",
            "group_id",
            "summary",
            "created_at",
        ];
        let mut record = rest(map, &placed);
        if record.remove("name_embedding").is_some() {
            builder.lose("name_embedding");
        }
        let mut items = Vec::new();
        if let Some(summary) = text(map, "summary") {
            items.push(Item::triple(format!("{id}:summary"), name, "note", summary));
        }
        let labels = map.get("labels").into_iter().flat_map(Value::texts);
        for label in labels.filter(|label| *label != "Entity") {
            items.push(Item::triple(format!("{id}:{label}"), name, "is_a", label));
        }
        if items.is_empty() {
            // Its name stands in its edges.
            builder.lose("node");
        }
        for mut item in items {
            item.user = text(map, "group_id").map(str::to_owned);
            item.created = map.get("created_at").and_then(moment);
            item.record = std::mem::take(&mut record);
            builder.push(item);
        }
        true
    }

    fn edge(&self, map: &Map, id: &str, builder: &mut Builder<'_>) -> bool {
        let ends = (
            text(map, "source_node_uuid"),
            text(map, "name"),
            text(map, "target_node_uuid"),
        );
        let (Some(from), Some(relation), Some(to)) = ends else {
            return false;
        };
        let names = [from, to].map(|end| match self.names.get(end) {
            Some(name) => name.to_owned(),
            None => {
                builder.lose("node name");
                end.to_owned()
            }
        });
        let [subject, object] = names;
        let placed = [
            "uuid",
            "name",
            "group_id",
            "source_node_uuid",
            "target_node_uuid",
            "fact",
            "created_at",
            "valid_at",
            "invalid_at",
            "expired_at",
            "fact_embedding",
        ];
        if map.contains("fact_embedding") {
            builder.lose("fact_embedding");
        }
        let mut record = rest(map, &placed);
        record.insert("source_node_uuid", from);
        record.insert("target_node_uuid", to);
        let episodes = map.get("episodes").into_iter().flat_map(Value::texts);
        let derived = episodes.filter_map(|episode| builder.grain_of("", episode));
        let derived = derived.collect();
        let at = |name: &str| map.get(name).and_then(moment);
        builder.push(Item {
            id: id.to_owned(),
            user: text(map, "group_id").map(str::to_owned),
            created: at("created_at").or_else(|| at("valid_at")),
            valid_from: at("valid_at"),
            valid_to: at("invalid_at"),
            ended: at("expired_at"),
            derived,
            said: Said::Fact(Fact {
                subject: Some(subject),
                relation: Some(relation.to_owned()),
                object: object.into(),
                sentence: text(map, "fact").map(str::to_owned),
            }),
            record,
            ..Item::default()
        });
        true
    }
}

fn episode(map: &Map, id: &str, builder: &mut Builder<'_>) -> bool {
    let Some(said) = text(map, "content") else {
        return false;
    };
    let placed = [
        "uuid",
        "group_id",
        "content",
        "valid_at",
        // The edges name their episodes.
        "entity_edges",
    ];
    let at = |name: &str| map.get(name).and_then(moment);
    builder.push(Item {
        id: id.to_owned(),
        user: text(map, "group_id").map(str::to_owned),
        created: at("valid_at").or_else(|| at("created_at")),
        said: Said::Turn(Turn {
            text: said.to_owned(),
            ..Turn::default()
        }),
        record: rest(map, &placed),
        ..Item::default()
    });
    true
}
