//! Mem0: what `get_all` of the library and the pages of the platform return, with the relations of its
//! graph.

use crate::codec::{Map, Value};
use crate::interchange::Format;
use crate::interchange::formats::members::{moment, rest, stable_id, text};
use crate::interchange::json_head::JsonFormat;

use super::super::builder::Builder;
use super::super::item::Item;
use super::super::source::{Reader, Source};

/// The memories of Mem0.
pub(super) static SOURCE: Source = Source {
    format: Format::Mem0,
    json: JsonFormat {
        markers: &[
            ("agent_id", None),
            ("categories", None),
            ("hash", None),
            ("memory", None),
            ("run_id", None),
            ("user_id", None),
        ],
        inner: &["categories", "hash", "memory", "run_id", "user_id"],
        detect: |head| {
            let scopes = ["user_id", "agent_id", "run_id", "hash", "categories"];
            let is_list = head.is_array && head.has(&["memory"]) && head.has(&scopes);
            let inner = |names: &[&str]| head.inner.iter().any(|it| names.contains(it));
            let is_page = inner(&["memory"]) && inner(&scopes);
            (is_list || is_page).then_some(Format::Mem0)
        },
    },
    is_text: |_| false,
    arrays: &["", "results", "relations"],
    is_in_order: false,
    reader: || Box::new(Mem0),
};

struct Mem0;

impl Reader for Mem0 {
    fn element(&mut self, element: &Value, array: &str, builder: &mut Builder<'_>) -> bool {
        let Some(map) = element.as_map() else {
            return false;
        };
        match array {
            "relations" => relation(map, builder),
            _ => memory(map, builder),
        }
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
