//! The rows of a LangGraph store (`prefix`, `key`, `value`), or its items (`namespace`); the values that
//! LangMem puts there, and any others.

use crate::codec::{Map, Value};
use crate::interchange::Format;
use crate::interchange::formats::members::{moment, parsed, rest, text};
use crate::interchange::json_head::JsonFormat;

use crate::interchange::formats::neighbour::builder::Builder;
use crate::interchange::formats::neighbour::item::{Fact, Item, Said};
use crate::interchange::formats::neighbour::source::{Reader, Source};

/// The rows of a store.
pub(in crate::interchange::formats::neighbour) static SOURCE: Source = Source {
    format: Format::Langgraph,
    json: JsonFormat {
        markers: &[
            ("key", None),
            ("namespace", None),
            ("prefix", None),
            ("value", None),
        ],
        inner: &[],
        detect: |head| {
            let is_row = head.has(&["namespace", "prefix"]) && head.has_all(&["key", "value"]);
            (is_row && head.is_certain()).then_some(Format::Langgraph)
        },
    },
    is_text: |_| false,
    arrays: &[""],
    is_in_order: false,
    spans_files: false,
    rank: |_| 0,
    reader: || Box::new(Langgraph),
};

struct Langgraph;

impl Reader for Langgraph {
    fn element(&mut self, element: &Value, _array: &str, builder: &mut Builder<'_>) -> bool {
        let Some(map) = element.as_map() else {
            return false;
        };
        let labels = map.get("namespace").and_then(Value::as_array);
        let labels = labels.map(|labels| {
            let labels: Vec<_> = labels.iter().filter_map(Value::as_text).collect();
            labels.join(".")
        });
        let prefix = labels.or_else(|| text(map, "prefix").map(str::to_owned));
        // In the file of a store it is JSON text.
        let value = map.get("value").map(parsed);
        let value = value.as_deref().and_then(Value::as_map);
        let (Some(prefix), Some(key), Some(value)) = (prefix, text(map, "key"), value) else {
            return false;
        };
        let (fact, kept) = fact(value);
        let id = Value::from(vec![prefix.as_str(), key]).to_json();
        let placed = [
            "prefix",
            "namespace",
            "key",
            "value",
            "created_at",
            "updated_at",
            "expires_at",
            // Of the question that the list answers.
            "score",
        ];
        let at = |name: &str| map.get(name).and_then(moment);
        let mut record = rest(map, &placed);
        if !kept.is_empty() {
            record.insert("value", kept);
        }
        builder.push(Item {
            id,
            created: at("created_at"),
            updated: at("updated_at"),
            valid_to: at("expires_at"),
            tags: vec![prefix],
            said: Said::Fact(fact),
            record,
            ..Item::default()
        });
        true
    }
}

/// Returns the fact that a value says, and the members of the value that it does not have.
fn fact(value: &Map) -> (Fact, Map) {
    // LangMem wraps what a schema gave: `{"kind": "Memory", "content": {…}}`.
    let inner = value.get("content").and_then(Value::as_map);
    let said = inner.unwrap_or(value);
    let mut kept = match inner {
        Some(_) => rest(value, &["content"]),
        None => Map::new(),
    };
    let parts = (
        text(said, "subject"),
        text(said, "predicate"),
        text(said, "object"),
    );
    if let (Some(subject), Some(relation), Some(object)) = parts {
        keep(
            &mut kept,
            rest(said, &["subject", "predicate", "object", "context"]),
        );
        let fact = Fact {
            subject: Some(subject.to_owned()),
            relation: Some(relation.to_owned()),
            object: object.into(),
            sentence: text(said, "context").map(str::to_owned),
        };
        return (fact, kept);
    }
    let mut words = ["content", "memory", "text", "data"].into_iter();
    let words = words.find_map(|name| Some((name, text(said, name)?)));
    let object = match words {
        Some((name, words)) => {
            keep(&mut kept, rest(said, &[name]));
            words.into()
        }
        // A profile, or what else a schema has: its members are the object.
        None => Value::Map(said.clone()),
    };
    let fact = Fact {
        object,
        ..Fact::default()
    };
    (fact, kept)
}

/// The members that a value has beside what its fact says.
fn keep(kept: &mut Map, others: Map) {
    if !others.is_empty() {
        kept.insert("content", others);
    }
}
