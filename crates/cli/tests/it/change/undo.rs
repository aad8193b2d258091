//! `undo`: a contradiction, a verification and a supersession taken back, as new entries.

use crate::command::{Home, belief};

fn undo(home: &Home, more: &[&str]) -> serde_json::Value {
    let args = [&["undo", "--json"], more].concat();
    let ran = home.run(&args);
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.json()
}

#[test]
fn a_supersession_is_taken_back_by_a_newer_version_and_a_second_undo_takes_that_back() {
    let home = Home::new();
    let tea = home.put(&belief("ana", "likes", "tea")).remove(0);
    let ran = home.run(&["undo"]);
    assert_eq!(ran.code, 1, "nothing to take back: {ran:?}");
    let milk = home.ok(&["correct", &tea, "--set", "object=milk"]);
    let shown = undo(&home, &["--dry-run"]);
    assert_eq!(
        (&shown["operation"], &shown["stored"]),
        (&"supersede".into(), &().into())
    );
    assert_eq!(home.addresses().len(), 2);
    let object = || {
        let found = home.run(&["query", "--subject", "ana", "--json"]).json();
        assert_eq!(found["total"], 1, "{found}");
        found["results"][0]["grain"]["object"].clone()
    };
    let done = undo(&home, &[]);
    assert_eq!(done["address"], tea);
    assert_eq!(object(), "tea");
    undo(&home, &[]);
    assert_eq!(object(), "milk");
    let history = home.run(&["history", milk.trim(), "--json"]).json();
    assert_eq!(history["versions"].as_array().unwrap().len(), 4);
    assert_eq!(history["heads"]["others"], serde_json::json!([]), "no fork");
}

#[test]
fn a_contradiction_and_a_verification_are_taken_back() {
    let home = Home::new();
    let tea = home.put(&belief("ana", "likes", "tea")).remove(0);
    home.ok(&["contradict", &tea]);
    assert_eq!(home.run(&["query", "--subject", "ana"]).code, 1);
    let done = undo(&home, &[]);
    assert_eq!(done["operation"], "contradict");
    let again = done["stored"].as_str().unwrap().to_owned();
    let found = home.run(&["query", "--subject", "ana", "--json"]).json();
    assert_eq!(found["results"][0]["grain"]["object"], "tea");

    let status =
        || home.run(&["status", &again, "--json"]).json()["status"]["verification_status"].clone();
    home.ok(&["status", &again, "--verification", "verified"]);
    home.ok(&[
        "status",
        &again,
        "--verification",
        "contested",
        "--justification",
        "a doubt",
    ]);
    undo(&home, &[]);
    assert_eq!(status(), "verified");
}

#[test]
fn only_the_changes_of_the_same_actor_are_taken_back() {
    let home = Home::new();
    let tea = home.put(&belief("ana", "likes", "tea")).remove(0);
    home.ok(&["correct", &tea, "--set", "object=milk"]);
    let ran = home.run(&["undo", "--as", "did:web:bot.example"]);
    assert_eq!(ran.code, 1, "{ran:?}");
}
