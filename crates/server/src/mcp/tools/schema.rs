//! Schemas as every client understands them, in few tokens: a model reads them at the beginning of each
//! conversation.
//!
//! One type for each argument, and formats that JSON Schema has: a client that maps schemas onto another
//! dialect refuses a list of types or drops the argument, and validators warn of formats such as
//! `uint64`, which only Rust has.

use std::sync::Arc;

use rmcp::model::JsonObject;
use serde_json::Value;

/// Returns the schema of arguments. One that may be left out has the type that it has when it is
/// given; `null` is taken too, and need not be said.
pub(super) fn of_input(schema: &JsonObject) -> Arc<JsonObject> {
    let mut schema = schema.clone();
    simplify(&mut schema);
    Arc::new(schema)
}

fn simplify(schema: &mut JsonObject) {
    let format = schema.get("format").and_then(Value::as_str);
    if format.is_some_and(|name| FORMATS.contains(&name)) {
        schema.remove("format");
        schema.remove("minimum");
        schema.remove("maximum");
    }
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let Some(first) = types.first_mut() {
            let first = first.take();
            schema.insert("type".to_owned(), first);
        }
    }
    for name in ["$schema", "title", "default"] {
        schema.remove(name);
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        let all = properties.len();
        properties.retain(|_, property| property.get("x-rare").is_none());
        if properties.len() < all {
            // The others are taken too.
            schema.remove("additionalProperties");
        }
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            properties.values_mut().for_each(each_object);
        }
    }
    for name in ["items", "prefixItems", "anyOf"] {
        schema.get_mut(name).into_iter().for_each(each_object);
    }
}

fn each_object(value: &mut Value) {
    match value {
        Value::Object(schema) => simplify(schema),
        Value::Array(items) => items.iter_mut().for_each(each_object),
        _ => {}
    }
}

/// The formats that schemas of Rust types have and JSON Schema has not.
const FORMATS: &[&str] = &[
    "uint", "uint8", "uint16", "uint32", "uint64", "int", "int8", "int16", "int32", "int64",
    "float", "double",
];
