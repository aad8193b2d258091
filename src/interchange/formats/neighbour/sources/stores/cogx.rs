//! COGX, the archive of Cognee: a file of JSON lines for each kind of record.

use crate::codec::{Map, Value};
use crate::interchange::Format;
use crate::interchange::formats::members::{moment, rest, text};
use crate::interchange::formats::neighbour::builder::Builder;
use crate::interchange::formats::neighbour::item::{Fact, Item, Said, Turn};
use crate::interchange::formats::neighbour::source::{Reader, Source};

use super::super::blocks::Content;
use super::super::conversation::{Conversation, Message, role};
use super::super::names::Names;

/// The records of an archive.
pub(in crate::interchange::formats::neighbour) static SOURCE: Source = Source::of_json(
    Format::Cogx,
    &[
        ("cogx_version", None),
        ("external_id", None),
        ("external_system", None),
        ("kind", None),
    ],
    |head| {
        let is_record = head.has_all(&["external_id", "kind"]) && head.is_line;
        (is_record || head.has(&["cogx_version"])).then_some(Format::Cogx)
    },
    &[""],
    || Box::new(Cogx::default()),
)
.across_files();

#[derive(Default)]
struct Cogx {
    /// The names of entities by their ids: an archive has them before its facts.
    names: Names,
}

impl Reader for Cogx {
    fn element(&mut self, element: &Value, _array: &str, builder: &mut Builder<'_>) -> bool {
        let Some(map) = element.as_map() else {
            return false;
        };
        if map.contains("cogx_version") {
            // It counts the records of the other files.
            return true;
        }
        let Some(id) = text(map, "external_id") else {
            builder.lose("raw_node");
            return true;
        };
        match text(map, "kind") {
            Some("document") => document(map, id, builder),
            Some("episode") => episode(map, id, builder),
            Some("entity") => self.entity(map, id, builder),
            Some("fact") => self.fact(map, id, builder),
            Some("memory") => note(map, id, "content", builder),
            Some("memory_block") => note(map, id, "value", builder),
            _ => false,
        }
    }
}

/// Returns an item with what all records have: whose it is, its times, and the rest of its members.
fn common(map: &Map, placed: &[&str]) -> Item {
    let scope = map.get("scope").and_then(Value::as_map);
    let of = |name: &str| scope.and_then(|scope| text(scope, name));
    let at = |name: &str| map.get(name).and_then(moment);
    let all = ["kind", "external_id", "scope", "created_at", "updated_at"];
    let mut record = rest(&rest(map, &all), placed);
    if let Some(agent) = of("agent_id") {
        record.insert("agent_id", agent);
    }
    Item {
        user: of("user_id").map(str::to_owned),
        session: of("session_id").or_else(|| of("run_id")).map(str::to_owned),
        created: at("created_at"),
        updated: at("updated_at"),
        record,
        ..Item::default()
    }
}

fn note(map: &Map, id: &str, member: &str, builder: &mut Builder<'_>) -> bool {
    let Some(said) = text(map, member) else {
        return false;
    };
    let mut item = common(map, &[member, "categories", "label"]);
    let categories = map.get("categories").into_iter().flat_map(Value::texts);
    item.tags = categories
        .chain(text(map, "label"))
        .map(str::to_owned)
        .collect();
    builder.push(Item {
        id: id.to_owned(),
        said: Item::note(String::new(), said).said,
        ..item
    });
    true
}

fn document(map: &Map, id: &str, builder: &mut Builder<'_>) -> bool {
    let Some(said) = text(map, "content") else {
        return false;
    };
    let mut context = Map::new();
    for name in ["title", "mime_type"] {
        if let Some(value) = text(map, name) {
            context.insert(name, value);
        }
    }
    builder.push(Item {
        id: id.to_owned(),
        said: Said::Turn(Turn {
            text: said.to_owned(),
            context,
            ..Turn::default()
        }),
        ..common(map, &["content", "title", "mime_type"])
    });
    true
}

fn episode(map: &Map, id: &str, builder: &mut Builder<'_>) -> bool {
    let of = common(map, &["turns", "title"]);
    let mut conversation = Conversation {
        agent: "cognee",
        user: of.user,
        session: id.to_owned(),
        title: text(map, "title").map(str::to_owned),
        created: of.created,
        ..Conversation::default()
    };
    let mut record = of.record;
    for (number, turn) in builder
        .objects(map, "turns", "turn")
        .into_iter()
        .enumerate()
    {
        let Some(role) = text(turn, "role").and_then(role) else {
            builder.lose("turn");
            continue;
        };
        let message = Message {
            id: Some(format!("{id}/{number}")),
            role,
            content: Content::of_text(text(turn, "content").unwrap_or_default()),
            at: turn.get("occurred_at").and_then(moment),
            record: std::mem::take(&mut record),
            ..Message::default()
        };
        conversation.say(message, builder);
    }
    true
}

impl Cogx {
    fn entity(&mut self, map: &Map, id: &str, builder: &mut Builder<'_>) -> bool {
        let Some(name) = text(map, "name") else {
            return false;
        };
        self.names.add(id, name);
        let mut common = common(map, &["name", "entity_type", "description", "aliases"]);
        let aliases = map.get("aliases").into_iter().flat_map(Value::texts);
        let said = [
            ("is_a", text(map, "entity_type")),
            ("note", text(map, "description")),
        ];
        let said = said
            .into_iter()
            .filter_map(|(relation, object)| Some((relation, object?)));
        let said: Vec<_> = said.chain(aliases.map(|alias| ("alias", alias))).collect();
        if said.is_empty() {
            // Its name stands in its facts.
            builder.lose("entity");
        }
        for (relation, object) in said {
            let item = Item::triple(format!("{id}:{relation}:{object}"), name, relation, object);
            builder.push(Item {
                user: common.user.clone(),
                created: common.created,
                updated: common.updated,
                record: std::mem::take(&mut common.record),
                ..item
            });
        }
        true
    }

    fn fact(&self, map: &Map, id: &str, builder: &mut Builder<'_>) -> bool {
        let ends = (
            text(map, "subject_ref"),
            text(map, "predicate"),
            text(map, "object_ref"),
        );
        let (Some(from), Some(relation), Some(to)) = ends else {
            return false;
        };
        // A plain name stands for itself.
        let [subject, object] = [from, to].map(|end| self.names.get(end).unwrap_or(end).to_owned());
        let at = |name: &str| map.get(name).and_then(moment);
        let common = common(
            map,
            &[
                "subject_ref",
                "predicate",
                "object_ref",
                "fact_text",
                "valid_at",
                "invalid_at",
            ],
        );
        builder.push(Item {
            id: id.to_owned(),
            created: common.created.or_else(|| at("valid_at")),
            valid_from: at("valid_at"),
            valid_to: at("invalid_at"),
            said: Said::Fact(Fact {
                subject: Some(subject),
                relation: Some(relation.to_owned()),
                object: object.into(),
                sentence: text(map, "fact_text").map(str::to_owned),
            }),
            ..common
        });
        true
    }
}
