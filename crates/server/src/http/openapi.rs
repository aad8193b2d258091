//! The description of the interface, OpenAPI 3.1, made from the table of routes.

use serde_json::{Map, Value, json};

use super::route::{CAL_MEDIA, ROUTES, Route, Takes};

/// Returns the document.
pub(crate) fn document() -> Value {
    let mut paths: Map<String, Value> = Map::new();
    for route in ROUTES {
        let methods = paths.entry(route.path).or_insert_with(|| json!({}));
        methods[route.method.to_lowercase()] = operation(route);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "grainstore",
            "summary": "The store protocol of OMS 28.4, and the HTTP profile of AIMEM",
            "version": env!("CARGO_PKG_VERSION"),
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "paths": paths,
        "components": {
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
            "schemas": { "Error": error(), "Problem": problem() },
        },
    })
}

fn operation(route: &Route) -> Value {
    let mut parameters: Vec<Value> = Vec::new();
    if route.path.contains("{address}") {
        parameters.push(json!({
            "name": "address",
            "in": "path",
            "required": true,
            "description": "a content address",
            "schema": { "type": "string", "pattern": "^[0-9a-f]{64}$" },
        }));
    }
    for (name, about) in route.params {
        parameters.push(json!({
            "name": name, "in": "query", "description": about, "schema": { "type": "string" },
        }));
    }
    let mut answers = Map::new();
    let ok = json!({
        "description": "done",
        "content": { route.gives: {} },
    });
    answers.insert("200".to_owned(), ok);
    let always: &[u16] = match route.needs {
        Some(_) => &[400, 401, 403, 408, 429, 500, 503],
        None => &[400],
    };
    for status in always.iter().chain(route.statuses) {
        answers.insert(status.to_string(), failure(route));
    }
    let mut operation = json!({
        "operationId": format!("{}{}", route.method.to_lowercase(), route.path)
            .replace(['/', '{', '}', '.', '-'], "_"),
        "summary": route.about,
        "parameters": parameters,
        "responses": answers,
    });
    if let Some(needs) = route.needs {
        operation["security"] = json!([{ "token": [] }]);
        operation["description"] = json!(format!(
            "The token permits the operation `{}`.",
            needs.name()
        ));
    }
    match route.takes {
        Takes::Nothing => {}
        Takes::Json(schema) => {
            let content = json!({ "application/json": { "schema": schema() } });
            operation["requestBody"] = json!({ "required": true, "content": content });
        }
        Takes::Cal(schema) => {
            let mut content: Map<_, _> = CAL_MEDIA
                .iter()
                .map(|name| ((*name).to_owned(), json!({})))
                .collect();
            content.insert("application/json".into(), json!({ "schema": schema() }));
            operation["requestBody"] = json!({ "required": true, "content": content });
        }
        Takes::File(media) => {
            let content: Map<_, _> = media
                .iter()
                .map(|name| ((*name).to_owned(), json!({})))
                .collect();
            operation["requestBody"] = json!({ "required": true, "content": content });
        }
    }
    operation
}

fn failure(route: &Route) -> Value {
    let (media, name) = match route.is_aimem() {
        true => ("application/problem+json", "Problem"),
        false => ("application/json", "Error"),
    };
    let schema = json!({ "$ref": format!("#/components/schemas/{name}") });
    json!({ "description": "refused", "content": { media: { "schema": schema } } })
}

fn error() -> Value {
    json!({
        "type": "object",
        "required": ["code", "message"],
        "properties": {
            "code": { "type": "string" },
            "message": { "type": "string" },
            "index": { "type": "integer", "description": "the place in a batch" },
            "retry_after": { "type": "integer", "description": "seconds" },
        },
    })
}

fn problem() -> Value {
    json!({
        "type": "object",
        "required": ["type", "title", "status", "detail"],
        "properties": {
            "type": { "type": "string" },
            "title": { "type": "string" },
            "status": { "type": "integer" },
            "detail": { "type": "string" },
        },
    })
}
