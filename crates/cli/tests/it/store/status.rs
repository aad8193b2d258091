//! `status` and `contradict`: the status of a grain, and the policy that protects it.

use crate::command::{Home, event};

#[test]
fn a_contradicted_grain_is_no_longer_current_and_says_so() {
    let home = Home::new();
    let address = home.put(&event("it will rain", 1)).remove(0);
    let contradicted = home.ok(&["contradict", &address, "--justification", "it did not"]);
    assert_eq!(contradicted.trim(), address);
    let status = home.ok(&["status", &address[..12], "--json"]);
    let status: serde_json::Value = serde_json::from_str(&status).unwrap();
    assert_eq!(status["current"], false);
    assert_eq!(status["status"]["contradicted"], true);
    assert_eq!(status["status"]["verification_status"], "contested");
    assert_eq!(home.run(&["search", "rain"]).code, 1);
    let shown = home.ok(&["status", &address]);
    assert!(shown.contains("contradicted    yes"), "{shown}");
}

#[test]
fn a_protected_grain_can_be_verified_and_not_retracted() {
    let home = Home::new();
    let locked = event("the rules", 1).replace(
        "\"type\"",
        r#""invalidation_policy":{"mode":"locked"},"type""#,
    );
    let address = home.put(&locked).remove(0);
    let shown = home.ok(&["status", &address, "--verification", "verified"]);
    assert!(shown.contains("verification    verified"), "{shown}");
    for denied in [
        &["status", &address, "--verification", "retracted", "--json"][..],
        &["contradict", &address, "--json"],
    ] {
        let ran = home.run(denied);
        assert_eq!(ran.code, 3, "{ran:?}");
        let error = &ran.json_lines()[0]["error"];
        assert_eq!(error["code"], "ERR_INVALIDATION_DENIED");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("protected: locked"), "{message}");
    }
}

#[test]
fn a_store_that_counts_retrievals_tells_them_and_goes_on_counting() {
    use std::time::Duration;

    use grainstore::{Options, Store};

    let home = Home::new();
    let address = home.put(&event("counted", 1)).remove(0);
    assert!(!home.ok(&["status", &address]).contains("retrieved"));
    home.ok(&["get", &address]);
    assert!(!home.ok(&["status", &address]).contains("retrieved"));
    let accesses = Some(Duration::ZERO);
    let options = Options {
        accesses,
        ..Options::default()
    };
    let store = Store::open(home.path("memory.grains"), options).unwrap();
    store.get(&address.parse().unwrap()).unwrap();
    drop(store);
    home.ok(&["get", &address]);
    let status = home.run(&["--json", "status", &address]).json();
    assert_eq!(status["access_count"], 2);
    let shown = home.ok(&["status", &address]);
    assert!(shown.contains("retrieved       2 times"), "{shown}");
}

#[test]
fn a_thread_is_shown_from_a_message_back_to_the_first() {
    let home = Home::new();
    let first = home.put(
        r#"{"type":"event","content":"how are you?","session_id":"s","created_at":1}
"#,
    );
    let reply = format!(
        r#"{{"type":"event","content":"well","session_id":"s","created_at":2,"parent_message_id":"{}"}}
"#,
        first[0]
    );
    let reply = home.put(&reply).remove(0);
    let thread = home.run(&["history", &reply, "--thread"]).json_lines();
    let said: Vec<_> = thread
        .iter()
        .map(|line| &line["grain"]["content"])
        .collect();
    assert_eq!(said, ["how are you?", "well"]);
}
