//! Mem0: what `get_all` of the library and the pages of the platform return, with the relations of its
//! graph, and the rows of its `history.db`.

use crate::codec::{Map, Value};
use crate::interchange::Format;
use crate::interchange::formats::members::{moment, rest, stable_id, text};
use crate::interchange::json_head::JsonFormat;

use crate::interchange::formats::neighbour::builder::Builder;
use crate::interchange::formats::neighbour::item::Item;
use crate::interchange::formats::neighbour::source::{Reader, Source};

use super::super::blocks::Content;
use super::super::conversation::{Conversation, Message, role};
use super::mem0_history::History;

/// The memories of Mem0.
pub(in crate::interchange::formats::neighbour) static SOURCE: Source = Source {
    format: Format::Mem0,
    json: JsonFormat {
        markers: &[
            ("agent_id", None),
            ("categories", None),
            ("hash", None),
            ("memory", None),
            ("memory_id", None),
            ("new_memory", None),
            ("old_memory", None),
            ("run_id", None),
            ("user_id", None),
        ],
        inner: &["categories", "hash", "memory", "run_id", "user_id"],
        detect: |head| {
            let scopes = ["user_id", "agent_id", "run_id", "hash", "categories"];
            let is_list = head.is_array && head.has(&["memory"]) && head.has(&scopes);
            let inner = |names: &[&str]| head.inner.iter().any(|it| names.contains(it));
            let is_page = inner(&["memory"]) && inner(&scopes);
            let is_history = head.has_all(&["memory_id", "new_memory", "old_memory"]);
            (is_list || is_page || is_history).then_some(Format::Mem0)
        },
    },
    is_text: |_| false,
    arrays: &["", "results", "relations", "history", "messages"],
    is_in_order: false,
    spans_files: false,
    rank: |_| 0,
    reader: || Box::new(Mem0::default()),
};

#[derive(Default)]
struct Mem0 {
    history: History,
    session: Conversation,
}

impl Reader for Mem0 {
    fn element(&mut self, element: &Value, array: &str, builder: &mut Builder<'_>) -> bool {
        let Some(map) = element.as_map() else {
            return false;
        };
        match array {
            "relations" => relation(map, builder),
            "messages" => self.message(map, builder),
            _ => self.history.row(map, builder) || memory(map, builder),
        }
    }

    fn end(&mut self, builder: &mut Builder<'_>) {
        self.history.end(builder);
    }
}

impl Mem0 {
    /// Reads one of the last messages that Mem0 keeps of each session.
    fn message(&mut self, map: &Map, builder: &mut Builder<'_>) -> bool {
        let (Some(said), Some(role)) = (text(map, "content"), text(map, "role").and_then(role))
        else {
            return false;
        };
        let session = text(map, "session_scope").unwrap_or_default();
        self.session.go_on("mem0", session);
        let message = Message {
            id: text(map, "id").map(str::to_owned),
            role,
            content: Content::of_text(said),
            at: map.get("created_at").and_then(moment),
            record: rest(
                map,
                &["id", "session_scope", "role", "content", "created_at"],
            ),
            ..Message::default()
        };
        self.session.say(message, builder);
        true
    }
}

fn memory(map: &Map, builder: &mut Builder<'_>) -> bool {
    let Some(said) = text(map, "memory") else {
        return false;
    };
    let user = text(map, "user_id");
    let id = text(map, "id").map(str::to_owned);
    let id = id.unwrap_or_else(|| stable_id(&["memory", user.unwrap_or_default(), said]));
    let placed = [
        "id",
        "memory",
        "user_id",
        "run_id",
        "created_at",
        "updated_at",
        "expiration_date",
        "categories",
        // Of the question that the list answers.
        "score",
        // The digest of the text.
        "hash",
    ];
    let at = |name: &str| map.get(name).and_then(moment);
    let mut item = Item::note(id, said);
    item.user = user.map(str::to_owned);
    item.session = text(map, "run_id").map(str::to_owned);
    item.created = at("created_at");
    item.updated = at("updated_at");
    item.valid_to = at("expiration_date");
    let categories = map.get("categories").into_iter().flat_map(Value::texts);
    item.tags = categories.map(str::to_owned).collect();
    item.record = rest(map, &placed);
    builder.push(item);
    true
}

fn relation(map: &Map, builder: &mut Builder<'_>) -> bool {
    let target = text(map, "destination").or_else(|| text(map, "target"));
    let ends = (text(map, "source"), text(map, "relationship"), target);
    let (Some(from), Some(relation), Some(to)) = ends else {
        return false;
    };
    let id = stable_id(&["relation", from, relation, to]);
    let mut item = Item::triple(id, from, relation, to);
    item.record = rest(map, &["source", "relationship", "destination", "target"]);
    builder.push(item);
    true
}
