//! `undo`: a contradiction, a verification and a supersession taken back, as new entries.

use crate::command::{Home, belief};

fn undo(home: &Home, more: &[&str]) -> serde_json::Value {
    let args = [&["undo", "--json"], more].concat();
    let ran = home.run(&args);
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.json()
}

#[test]
fn a_supersession_is_taken_back_by_a_newer_version_and_undo_does_not_undo_itself() {
    let home = Home::new();
    let tea = home.put(&belief("ana", "likes", "tea")).remove(0);
    let ran = home.run(&["undo"]);
    assert_eq!(ran.code, 1, "nothing to take back: {ran:?}");
    let milk = home.ok(&["correct", &tea, "--set", "object=milk"]);
    home.ok(&["correct", milk.trim(), "--set", "object=water"]);
    let shown = undo(&home, &["--dry-run"]);
    assert_eq!(
        (&shown["operation"], &shown["stored"]),
        (&"supersede".into(), &().into())
    );
    assert_eq!(home.addresses().len(), 3);
    let object = || {
        let found = home.run(&["query", "--subject", "ana", "--json"]).json();
        assert_eq!(found["total"], 1, "{found}");
        found["results"][0]["grain"]["object"].clone()
    };
    let done = undo(&home, &[]);
    assert_eq!(done["address"], milk.trim());
    assert_eq!(object(), "milk");
    // The one before, in place of the undo.
    let done = undo(&home, &[]);
    assert_eq!(done["address"], tea);
    assert_eq!(object(), "tea");
    let ran = home.run(&["undo"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("nothing is left"), "{ran:?}");
    assert_eq!(object(), "tea");
    let history = home.run(&["history", milk.trim(), "--json"]).json();
    assert_eq!(history["versions"].as_array().unwrap().len(), 5);
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
    undo(&home, &[]);
    assert_eq!(status(), "unverified");
    let ran = home.run(&["undo"]);
    assert_eq!(ran.code, 1, "the contradiction was taken back: {ran:?}");

    home.ok(&["status", &again, "--verification", "retracted"]);
    assert_eq!(home.run(&["query", "--subject", "ana"]).code, 1);
    let done = undo(&home, &[]);
    assert!(done["stored"].is_string(), "{done}");
    let found = home.run(&["query", "--subject", "ana", "--json"]).json();
    assert_eq!(found["results"][0]["grain"]["object"], "tea");
    let ran = home.run(&["undo"]);
    assert_eq!(ran.code, 1, "the retraction was taken back: {ran:?}");
}

const BOT: &str = "did:web:bot.example";

#[test]
fn only_the_changes_of_the_same_actor_are_taken_back() {
    let home = Home::new();
    let tea = home.put(&belief("ana", "likes", "tea")).remove(0);
    let milk = home.ok(&["correct", &tea, "--set", "object=milk"]);
    let ran = home.run(&["undo", "--as", BOT]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let water = home.ok(&["correct", milk.trim(), "--set", "object=water", "--as", BOT]);
    // What another made of it since stays.
    home.run(&["undo", "--json"]).fails(2, "ERR_CONFLICT", "");
    let done = undo(&home, &["--as", BOT]);
    assert_eq!(done["address"], milk.trim());
    assert_eq!(home.run(&["undo", "--as", BOT]).code, 1);
    let stored = done["stored"].as_str().unwrap();
    let shown = home.run(&["show", stored, "--json"]).json();
    assert_eq!(shown["stored_by"], BOT);
    assert_eq!(shown["status"]["current"], true);
    home.run(&["undo", "--json"]).fails(2, "ERR_CONFLICT", "");
    let judged = |more: &[&str]| {
        let args = [&["status", stored, "--verification"], more].concat();
        home.ok(&args);
    };
    judged(&["verified"]);
    home.ok(&["contradict", stored]);
    let done = undo(&home, &[]);
    assert_eq!(done["operation"], "contradict");
    assert_eq!(home.run(&["undo", "--as", BOT]).code, 1, "{water}");
}

#[test]
fn a_person_whose_id_is_that_of_an_actor_is_not_that_actor() {
    let home = Home::new();
    let tea = home.put(&belief("ana", "likes", "tea")).remove(0);
    let milk = ["correct", &tea, "--set", "object=milk", "--in", "shared"];
    assert_ne!(home.run(&milk).code, 0, "outside of the namespace");
    home.ok(&["correct", &tea, "--set", "object=milk"]);
    let ran = home.run(&["undo", "--in", "shared"]);
    assert_eq!(ran.code, 1, "a handle is not the owner: {ran:?}");
}

#[test]
fn no_change_of_a_consent_is_taken_back() {
    let home = Home::new();
    let tea = home.put(&belief("ana", "likes", "tea")).remove(0);
    home.ok(&["correct", &tea, "--set", "object=milk"]);
    let consent = |more: &str| {
        format!(
            r#"{{"type":"consent","subject_did":"did:web:a","grantee_did":"did:web:b","scope":["store"],"created_at":1{more}}}"#
        )
    };
    let grant = home.put(&consent(r#","is_withdrawal":false"#)).remove(0);
    let withdrawal = format!(r#","is_withdrawal":true,"prior_consent":"{grant}""#);
    home.put(&consent(&withdrawal));
    let in_force = ["consent", "list", "--at", "2100-01-01"];
    assert_eq!(home.run(&in_force).code, 1);
    let before = home.addresses().len();
    for more in [&["--dry-run"][..], &[], &[]] {
        let ran = home.run(&[&["undo", "--json"], more].concat());
        ran.fails(3, "ERR_CONSENT", "");
        assert!(ran.stdout.contains("given anew by who may"), "{ran:?}");
    }
    assert_eq!(home.addresses().len(), before);
    assert_eq!(home.run(&in_force).code, 1);
    // As the person whose withdrawal it was, too.
    let grant = home
        .put(&consent(r#","is_withdrawal":false,"purpose":"x""#))
        .remove(0);
    let withdrawal = format!(r#","is_withdrawal":true,"prior_consent":"{grant}""#);
    let ran = home.run_with(&["put", "-", "--as", "did:web:a"], consent(&withdrawal));
    assert_eq!(ran.code, 0, "{ran:?}");
    home.run(&["undo", "--json", "--as", "did:web:a"])
        .fails(3, "ERR_CONSENT", "");
    // And the owner takes back nothing of theirs: the newest of the owner's own is asked.
    let ran = home.run(&["undo", "--dry-run", "--json"]);
    assert!(!ran.stdout.contains(&grant), "{ran:?}");
}
