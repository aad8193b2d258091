//! Grains and conversations as resources.

use grainstore::Draft;
use serde_json::{Value, json};

use crate::client::{Client, store};

fn read(client: &mut Client, uri: &str) -> (String, String) {
    let read = client.result("resources/read", json!({ "uri": uri }));
    let contents = &read["contents"][0];
    let field = |name: &str| contents[name].as_str().unwrap().to_owned();
    assert_eq!(field("uri"), uri);
    (field("mimeType"), field("text"))
}

#[test]
fn the_list_has_every_grain_once_and_each_can_be_read() {
    let store = store();
    for at in 0..120 {
        store
            .put(Draft::event(format!("note {at}")).session(format!("talk {}", at % 2)))
            .unwrap();
    }
    let mut client = Client::of(&store);
    let (mut grains, mut params, mut pages) = (Vec::new(), json!({}), 0);
    loop {
        let listed = client.result("resources/list", params);
        pages += 1;
        for resource in listed["resources"].as_array().unwrap() {
            let uri = resource["uri"].as_str().unwrap().to_owned();
            assert!(resource["name"].is_string() && resource["mimeType"].is_string());
            if uri.starts_with("grain://") {
                grains.push(uri);
            } else {
                let others = ["session://talk%200", "session://talk%201", "cal://grammar"];
                assert!(others.contains(&&*uri), "{uri}");
            }
        }
        if listed["nextCursor"].is_null() {
            break;
        }
        params = json!({ "cursor": listed["nextCursor"] });
    }
    assert_eq!((grains.len(), pages), (120, 3));
    let (mime, grammar) = read(&mut client, "cal://grammar");
    assert_eq!(mime, "text/plain");
    assert!(
        grammar.contains("recall     := RECALL [MY] [plural]"),
        "{grammar}"
    );
    let (mime, text) = read(&mut client, &grains[0]);
    let grain: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&*mime, &grain["grain"]["content"]),
        ("application/json", &json!("note 119"))
    );
    grains.sort_unstable();
    grains.dedup();
    assert_eq!(grains.len(), 120);
}

#[test]
fn a_conversation_is_read_in_order_and_in_pages() {
    let store = store();
    for at in 0..450 {
        store
            .put(
                Draft::event(format!("turn {at}. {}", "and so on ".repeat(at % 90)))
                    .session("long/one")
                    .set("role", "user"),
            )
            .unwrap();
    }
    let mut client = Client::of(&store);
    let (mut uri, mut turns) = ("session://long%2Fone".to_owned(), Vec::new());
    loop {
        let (mime, text) = read(&mut client, &uri);
        assert_eq!(mime, "text/markdown");
        let lines = text
            .lines()
            .filter_map(|line| line.split_once("user: turn "));
        turns
            .extend(lines.map(|(_, rest)| rest.split_once('.').unwrap().0.parse::<u32>().unwrap()));
        match text.split_once("more: ") {
            Some((_, next)) => uri = next.trim().to_owned(),
            None => break,
        }
    }
    assert_eq!(turns, (0..450).collect::<Vec<_>>());
}

#[test]
fn the_templates_name_what_can_be_read() {
    let listed = Client::of(&store()).result("resources/templates/list", json!({}));
    let templates = listed["resourceTemplates"].as_array().unwrap();
    let uris: Vec<_> = templates
        .iter()
        .map(|it| it["uriTemplate"].as_str().unwrap())
        .collect();
    assert_eq!(uris, ["grain://{address}", "session://{id}{?cursor}"]);
}

#[test]
fn what_is_not_there_is_an_error_that_says_so() {
    let mut client = Client::of(&store());
    let missing = "a".repeat(64);
    for uri in [
        &*format!("grain://{missing}"),
        "grain://",
        "grain://xyz",
        "session://none",
        "session://%zz",
        "session://none?cursor=bad",
        "file:///etc/passwd",
        "",
    ] {
        let said = client.ask("resources/read", json!({ "uri": uri }));
        assert_eq!(said["error"]["code"], -32002, "{uri}: {said}");
        assert!(
            said["error"]["data"]["code"]
                .as_str()
                .unwrap()
                .starts_with("ERR_"),
            "{said}"
        );
    }
    let said = client.ask("resources/list", json!({ "cursor": "bad" }));
    assert_eq!(said["error"]["code"], -32602, "{said}");
}
