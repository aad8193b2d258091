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
