//! Schemas as every client understands them: one type for each argument, and formats that JSON Schema
//! has.
//!
//! A client that maps schemas onto another dialect refuses a list of types or drops the argument, and
//! validators warn of formats such as `uint64`, which only Rust has.

use std::sync::Arc;

use rmcp::model::JsonObject;
use serde_json::Value;

/// Returns the schema of arguments. One that may be left out has the type that it has when it is
/// given; `null` is taken too, and need not be said.
pub(super) fn of_input(schema: &JsonObject) -> Arc<JsonObject> {
    portable(schema, true)
}

/// Returns the schema of structured answers.
pub(super) fn of_output(schema: &JsonObject) -> Arc<JsonObject> {
    portable(schema, false)
}

fn portable(schema: &JsonObject, is_input: bool) -> Arc<JsonObject> {
    let mut schema = schema.clone();
    simplify(&mut schema, is_input);
    Arc::new(schema)
}

fn simplify(schema: &mut JsonObject, is_input: bool) {
    let format = schema.get("format").and_then(Value::as_str);
    if format.is_some_and(|name| FORMATS.contains(&name)) {
        schema.remove("format");
    }
    if is_input {
        if let Some(Value::Array(types)) = schema.get_mut("type") {
            types.retain(|name| name != "null");
            if let [one] = &mut **types {
                let one = one.take();
                schema.insert("type".to_owned(), one);
            }
        }
        schema.retain(|name, value| !(name == "default" && value.is_null()));
    }
    for value in schema.values_mut() {
        each_object(value, is_input);
    }
}

fn each_object(value: &mut Value, is_input: bool) {
    match value {
        Value::Object(schema) => simplify(schema, is_input),
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| each_object(item, is_input)),
        _ => {}
    }
}

/// The formats that schemas of Rust types have and JSON Schema has not.
const FORMATS: &[&str] = &[
    "uint", "uint8", "uint16", "uint32", "uint64", "int", "int8", "int16", "int32", "int64",
    "float", "double",
];
