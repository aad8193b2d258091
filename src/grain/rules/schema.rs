//! The JSON Schema of a type, from the tables that the rules judge by.
//!
//! It says which members there are and of what kind; rules that join several members are the rules'
//! alone.

use crate::codec::{Map, Value};
use crate::grain::Type;
use crate::grain::fields::{Field, Holds};

use super::enum_values::LISTS;
use super::required_fields::{is_required, required};

/// Returns the JSON Schema (draft 2020-12) of a grain of this type, as JSON lines and
/// [`Draft::from_json`](crate::grain::Draft::from_json) take it: required members, the members
/// of the type and those of all types (OMS 6, 8). Members of other names are allowed.
///
/// ```
/// use grainstore::Type;
/// use grainstore::grain::json_schema;
///
/// let schema = json_schema(Type::Belief);
/// let required = schema.as_map().and_then(|map| map.get("required")).expect("a Belief needs some");
/// assert!(required.texts().eq(["type", "subject", "relation", "object", "confidence"]));
/// ```
pub fn json_schema(type_: Type) -> Value {
    let mut properties = Map::new();
    for field in Field::all() {
        let of = group_of(field.name);
        let is_required = is_required(type_, field.name);
        let is_ours = of.is_none_or(|types| types.contains(&type_));
        if (is_ours || is_required) && !Field::is_index_layer(field.name) {
            properties.insert(field.name, property(type_, field));
        }
    }
    let required = required(type_).iter().map(|slot| slot.name());
    let names: Vec<_> = ["type"].into_iter().chain(required).collect();
    let mut schema = Map::new();
    schema.insert("$schema", "https://json-schema.org/draft/2020-12/schema");
    schema.insert("title", type_.to_string());
    schema.insert("type", "object");
    schema.insert("required", texts(&names));
    schema.insert("properties", properties);
    if type_ == Type::Event {
        // OMS 8.2: the text, blocks, or a statement.
        let ways: [&[&str]; 3] = [
            &["content"],
            &["content_blocks"],
            &["subject", "relation", "object"],
        ];
        let ways = ways.map(|names| one("required", texts(names)));
        schema.insert("anyOf", Vec::from(ways));
    }
    Value::Map(schema)
}

fn property(type_: Type, field: &Field) -> Value {
    match (type_, field.name) {
        (_, "type") => return one("const", type_.name().unwrap_or_default()),
        // OMS 8.1, 6.2, 8.9.
        (Type::Belief, "object") | (Type::Consensus, "agreed_content") => {
            return one("type", texts(&["string", "object"]));
        }
        (Type::Event, "content") => return one("type", "string"),
        _ => {}
    }
    let mut property = kind(field.holds);
    let listed = LISTS.iter().find(|(slot, _)| slot.name() == field.name);
    if let Some((_, values)) = listed {
        property.insert("enum", texts(values));
    }
    // OMS 19.3: ERR_EMPTY.
    if is_required(type_, field.name) && field.holds == Holds::Text {
        property.insert("minLength", 1);
    }
    if field.name == "steps" {
        property.insert("minItems", 1);
    }
    Value::Map(property)
}

/// Returns the types whose section of OMS 6 lists a field; `None` for a field of all types.
fn group_of(name: &str) -> Option<&'static [Type]> {
    let place = |wanted: &str| Field::all().iter().position(|field| field.name == wanted);
    let at = place(name)?;
    let group = GROUPS.iter().rev();
    let mut begun = group.filter(|(first, _)| place(first).is_some_and(|first| first <= at));
    begun.next().map(|(_, types)| *types)
}

/// The first field of each group in the order of the field table, and the types that have it.
const GROUPS: &[(&str, &[Type])] = &[
    ("content", &[Type::Event, Type::Action, Type::Observation]),
    ("consolidated", &[Type::Event]),
    ("plan", &[Type::State]),
    ("steps", &[Type::Workflow]),
    ("action_phase", &[Type::Action]),
    ("observer_id", &[Type::Observation]),
    ("description", &[Type::Goal]),
    ("grantee_did", &[Type::Consent]),
    ("premises", &[Type::Reasoning]),
    ("participating_observers", &[Type::Consensus]),
    ("authorized_namespaces", &[Type::Belief]),
    // Fields of later revisions, known for their keys alone.
    ("embedding_text", &[]),
];

fn kind(holds: Holds) -> Map {
    let typed = |name: &str| -> Map { [("type", name)].into_iter().collect() };
    let array = |items: Value| {
        let mut property = typed("array");
        property.insert("items", items);
        property
    };
    let bounded = |name: &str, least: i64, most: Option<i64>| {
        let mut property = typed(name);
        property.insert("minimum", least);
        if let Some(most) = most {
            property.insert("maximum", most);
        }
        property
    };
    match holds {
        Holds::Any => Map::new(),
        Holds::Text => typed("string"),
        Holds::Bool => typed("boolean"),
        Holds::Int => typed("integer"),
        Holds::Count => bounded("integer", 0, None),
        Holds::Byte => bounded("integer", 0, Some(255)),
        Holds::Float => typed("number"),
        Holds::Unit => bounded("number", 0, Some(1)),
        // Milliseconds since 1970, or RFC 3339.
        Holds::Time => {
            let mut property = Map::new();
            property.insert("type", texts(&["integer", "string"]));
            property.insert("format", "date-time");
            property
        }
        Holds::Map => typed("object"),
        Holds::Texts => array(one("type", "string")),
        Holds::Bytes => array(Value::Map(bounded("integer", 0, Some(255)))),
        Holds::Maps => array(one("type", "object")),
        Holds::Sources => array(one("type", texts(&["string", "object"]))),
        Holds::Binary => {
            let mut property = typed("string");
            property.insert("contentEncoding", "base64");
            property
        }
        Holds::Signatures => array(Value::Map(kind(Holds::Binary))),
    }
}

fn texts(names: &[&str]) -> Vec<Value> {
    names.iter().map(|name| Value::from(*name)).collect()
}

fn one(name: &str, value: impl Into<Value>) -> Value {
    let mut map = Map::new();
    map.insert(name, value);
    Value::Map(map)
}
