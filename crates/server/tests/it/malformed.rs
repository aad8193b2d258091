//! A malformed client gets errors, or nothing, and cannot stop the server.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use crate::client::{Client, store};
use grainstore_server::Scope;

/// Lines that are no request of the protocol.
fn line() -> impl Strategy<Value = String> {
    let id = prop_oneof![
        Just(json!(null)),
        Just(json!({})),
        any::<i64>().prop_map(|id| json!(id))
    ];
    let method = prop_oneof![
        Just(json!("initialize")),
        Just(json!("tools/call")),
        Just(json!("notifications/cancelled")),
        Just(json!("notifications/progress")),
        Just(json!("tasks/get")),
        Just(json!(["tools/call"])),
        Just(json!(null)),
        any::<String>().prop_map(|name| json!(name)),
    ];
    let params = prop_oneof![
        Just(json!(null)),
        Just(json!([])),
        Just(json!("x")),
        Just(json!({ "name": 1 })),
        Just(json!({ "requestId": 1, "_meta": [] })),
        Just(json!({ "protocolVersion": 7 })),
    ];
    let message = (id, method, params).prop_map(|(id, method, params)| {
        json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
    });
    let response =
        any::<i64>().prop_map(|id| json!({ "jsonrpc": "2.0", "id": id, "result": {} }).to_string());
    let broken = message.clone().prop_flat_map(|text| {
        let chars: Vec<char> = text.chars().collect();
        (0..chars.len()).prop_map(move |end| chars[..end].iter().collect())
    });
    let noise = vec(any::<char>().prop_filter("one line", |c| *c != '\n'), 0..80);
    prop_oneof![
        message,
        response,
        broken,
        noise.prop_map(|chars| chars.into_iter().collect()),
        Just("[".repeat(10_000)),
        Just("[]".to_owned()),
        Just(format!(
            "[{}]",
            json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" })
        )),
    ]
}

fn lines(count: usize) -> Vec<String> {
    let mut runner = TestRunner::new_with_rng(
        Config::default(),
        proptest::test_runner::TestRng::deterministic_rng(
            proptest::test_runner::RngAlgorithm::ChaCha,
        ),
    );
    let tree = vec(line(), count).new_tree(&mut runner).unwrap();
    tree.current()
}

/// Reads until the response to the next request, whose id no line can have.
fn survives(client: &mut Client) {
    let id = "the last";
    let request = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list", "params": {} });
    client.write(&request.to_string());
    loop {
        let said = client.read();
        if said["id"] == id {
            assert!(said["result"]["tools"].is_array(), "{said}");
            return;
        }
    }
}

#[test]
fn a_thousand_malformed_lines_do_not_stop_the_server() {
    let mut client = Client::of(&store());
    for line in lines(1_000) {
        client.write(&line);
    }
    survives(&mut client);
}

#[test]
fn malformed_lines_before_the_handshake_do_not_either() {
    let mut client = Client::silent(Scope::owner(store()));
    for line in lines(1_000)
        .iter()
        .filter(|line| !line.contains("initialize"))
    {
        client.write(line);
    }
    let hello = json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    });
    let request =
        json!({ "jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": hello });
    client.write(&request.to_string());
    while client.read()["id"] != "hello" {}
    survives(&mut client);
}

#[test]
fn an_endless_line_is_dropped() {
    let mut client = Client::of(&store());
    client.write(&"x".repeat(17 << 20));
    survives(&mut client);
}

#[test]
fn an_unknown_tool_and_an_unknown_method_are_errors_of_the_protocol() {
    let mut client = Client::of(&store());
    let said = client.ask(
        "tools/call",
        json!({ "name": "zebra\u{200b}", "arguments": {} }),
    );
    assert_eq!(said["error"]["code"], -32602);
    assert!(
        said["error"]["message"].as_str().unwrap().contains("zebra"),
        "{said}"
    );
    let said: Value = client.ask("zebra/gallop", json!({}));
    assert_eq!(said["error"]["code"], -32601, "{said}");
}
