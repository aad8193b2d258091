//! Prompts with their arguments.

use grainstore_server::Scope;
use serde_json::json;

use crate::client::{Client, store};

#[test]
fn every_prompt_is_listed_and_takes_its_argument() {
    let mut client = Client::of(&store());
    let listed = client.result("prompts/list", json!({}));
    let prompts = listed["prompts"].as_array().unwrap();
    assert_eq!(prompts.len(), 3);
    for prompt in prompts {
        let argument = prompt["arguments"][0]["name"].as_str().unwrap();
        let params = json!({ "name": prompt["name"], "arguments": { argument: "the garden" } });
        let got = client.result("prompts/get", params);
        let text = got["messages"][0]["content"]["text"].as_str().unwrap();
        assert!(text.contains("the garden"), "{text}");
        assert_eq!(got["messages"][0]["role"], "user");
        let bare = client.ask("prompts/get", json!({ "name": prompt["name"] }));
        let is_required = prompt["arguments"][0]["required"] == true;
        assert_eq!(bare["error"]["code"] == -32602, is_required, "{bare}");
    }
    let unknown = client.ask("prompts/get", json!({ "name": "zebra" }));
    assert_eq!(unknown["error"]["code"], -32602);
}

#[test]
fn the_person_of_a_server_needs_no_name() {
    let mut client = Client::new(Scope::owner(store()).of_user("mira"));
    let got = client.result("prompts/get", json!({ "name": "review_person" }));
    assert!(
        got["messages"][0]["content"]["text"]
            .as_str()
            .unwrap()
            .contains("\"mira\"")
    );
}
