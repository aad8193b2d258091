//! Hindsight: a file for each document of a bank, with the facts that were taken from it.

use crate::codec::{Map, Value};
use crate::interchange::Format;
use crate::interchange::formats::members::{moment, rest, stable_id, text};
use crate::interchange::formats::neighbour::builder::Builder;
use crate::interchange::formats::neighbour::item::{Item, Said, Turn};
use crate::interchange::formats::neighbour::source::{Reader, Source};

/// The documents of a bank.
pub(in crate::interchange::formats::neighbour) static SOURCE: Source = Source::of_json(
    Format::Hindsight,
    &[("facts", None), ("original_text", None)],
    |head| {
        let is_document = head.has_all(&["facts", "original_text"]);
        is_document.then_some(Format::Hindsight)
    },
    &[""],
    || Box::new(Hindsight),
);

struct Hindsight;

impl Reader for Hindsight {
    fn element(&mut self, element: &Value, _array: &str, builder: &mut Builder<'_>) -> bool {
        let Some(map) = element.as_map() else {
            return false;
        };
        let Some(id) = text(map, "id") else {
            return false;
        };
        let created = map.get("created_at").and_then(moment);
        let tags = |map: &Map| -> Vec<String> {
            let tags = map.get("tags").into_iter().flat_map(Value::texts);
            tags.map(str::to_owned).collect()
        };
        if let Some(said) = text(map, "original_text") {
            // Its chunks are its text again.
            let placed = [
                "id",
                "original_text",
                "tags",
                "created_at",
                "chunks",
                "facts",
            ];
            builder.push(Item {
                id: id.to_owned(),
                created,
                tags: tags(map),
                said: Said::Turn(Turn {
                    text: said.to_owned(),
                    ..Turn::default()
                }),
                record: rest(map, &placed),
                ..Item::default()
            });
        } else {
            builder.lose("document");
        }
        for fact in builder.objects(map, "facts", "fact") {
            let Some(said) = text(fact, "text") else {
                builder.lose("fact");
                continue;
            };
            let at = |name: &str| fact.get(name).and_then(moment);
            let mut item = Item::note(stable_id(&[id, said]), said);
            item.created = at("mentioned_at").or(created);
            item.valid_from = at("occurred_start");
            item.valid_to =
                at("occurred_end").filter(|end| item.valid_from.is_none_or(|start| start < *end));
            item.tags = tags(fact);
            item.tags.extend(text(fact, "fact_type").map(str::to_owned));
            item.derived.extend(builder.grain_of("", id));
            item.record = rest(
                fact,
                &[
                    "text",
                    "tags",
                    "fact_type",
                    "mentioned_at",
                    "occurred_start",
                ],
            );
            builder.push(item);
        }
        true
    }
}
