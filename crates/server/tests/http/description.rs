//! The description of the interface: valid, complete, and about the routes that are there.

use axum::body::Body;
use grainstore::ErrorCode;
use grainstore_server::http::status_of;
use serde_json::Value;

use crate::Server;

fn description() -> Value {
    Server::new()
        .ask("GET", "/v1/openapi.json")
        .send(Body::empty())
        .expect(200)
        .json()
}

#[test]
fn every_schema_in_it_is_one_and_every_reference_leads_somewhere() {
    let document = description();
    assert_eq!(document["openapi"], "3.1.0");
    let mut schemas = 0;
    visit(&document, &mut |name, value| match name {
        "schema" => {
            schemas += 1;
            let is_schema = jsonschema::draft202012::meta::is_valid(value);
            assert!(is_schema, "{value}");
        }
        "$ref" => {
            let pointer = value.as_str().unwrap().strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{pointer}");
        }
        _ => {}
    });
    assert!(schemas > 20, "{schemas}");
}

#[test]
fn each_operation_has_what_openapi_demands() {
    let document = description();
    let mut names = std::collections::BTreeSet::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        assert!(path.starts_with('/'), "{path}");
        for (method, operation) in methods.as_object().unwrap() {
            assert!(["get", "post"].contains(&method.as_str()), "{method}");
            let name = operation["operationId"].as_str().unwrap();
            assert!(names.insert(name.to_owned()), "{name}");
            for (status, answer) in operation["responses"].as_object().unwrap() {
                assert_eq!(status.len(), 3, "{status}");
                assert!(answer["description"].is_string(), "{name} {status}");
            }
            let parameters = operation["parameters"].as_array().unwrap();
            let in_path = parameters.iter().filter(|it| it["in"] == "path");
            assert_eq!(in_path.count(), path.matches('{').count(), "{path}");
        }
    }
}

#[test]
fn the_router_answers_each_path_of_it_and_no_other() {
    let server = Server::new();
    let document = description();
    for (path, methods) in document["paths"].as_object().unwrap() {
        let path = path.replace("{address}", &"0".repeat(64));
        for method in ["GET", "POST", "PUT", "DELETE"] {
            let told = server.ask(method, &path).send(Body::empty());
            let is_described = methods.get(method.to_lowercase()).is_some();
            assert_eq!(told.status != 405, is_described, "{method} {path}");
            // Nothing is there without a token but what says so.
            let operation = &methods[method.to_lowercase()];
            if is_described && operation.get("security").is_some() {
                assert_eq!(told.status, 401, "{method} {path}");
            }
        }
    }
    for path in ["/", "/v1", "/v1/grains/", "/v1/brain", "/v2/query"] {
        assert_eq!(
            server.ask("GET", path).send(Body::empty()).status,
            404,
            "{path}"
        );
    }
}

#[test]
fn the_table_of_statuses_is_in_the_documentation() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/http.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mut wanted = std::collections::BTreeMap::<u16, Vec<&str>>::new();
    for code in ErrorCode::ALL {
        wanted
            .entry(status_of(*code))
            .or_default()
            .push(code.as_str());
    }
    // 422 is the status of every other code of grains, files and policies.
    wanted.remove(&422);
    for (status, codes) in wanted {
        let row = page
            .lines()
            .find(|line| line.starts_with(&format!("| {status} |")));
        let row = row.unwrap_or_default();
        for code in codes {
            assert!(row.contains(&format!("`{code}`")), "{status} {code}: {row}");
        }
    }
}

/// Calls `look` for each member of a document, with its name.
fn visit(value: &Value, look: &mut dyn FnMut(&str, &Value)) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                look(name, member);
                visit(member, look);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| visit(item, look)),
        _ => {}
    }
}
