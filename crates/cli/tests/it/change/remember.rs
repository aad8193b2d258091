//! `remember`: events and beliefs from words, and beliefs that are there already.

use crate::command::Home;

fn remember(home: &Home, args: &[&str]) -> serde_json::Value {
    let args = [&["remember", "--json"], args].concat();
    let ran = home.run(&args);
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.json()
}

#[test]
fn words_become_an_event_and_with_subject_and_relation_a_belief() {
    let home = Home::new();
    let event = remember(
        &home,
        &["I moved to Porto", "--user", "ana", "--tag", "life"],
    );
    assert_eq!(event["new"], true);
    let event = event["address"].as_str().unwrap();
    let found = home.run(&["get", event, "--json"]).json();
    let grain = &found["grain"];
    assert_eq!(grain["type"], "event");
    assert_eq!(grain["content"], "I moved to Porto");
    assert_eq!(grain["user_id"], "ana");
    assert_eq!(grain["source_type"], "user_explicit");
    assert_eq!(grain["structural_tags"], serde_json::json!(["life"]));
    assert!(
        grain["created_at"].as_i64() > Some(1_700_000_000_000),
        "now: {grain}"
    );

    let belief = remember(
        &home,
        &[
            "tea",
            "--subject",
            "ana",
            "--relation",
            "likes",
            "--set",
            "importance=0.5",
        ],
    );
    let found = home
        .run(&["get", belief["address"].as_str().unwrap(), "--json"])
        .json();
    assert_eq!(found["grain"]["object"], "tea");
    assert_eq!(found["grain"]["confidence"], 1.0);
    assert_eq!(found["grain"]["importance"], 0.5);
    assert_eq!(belief["same"], serde_json::json!([]));
}

#[test]
fn a_claim_that_is_there_already_is_named_superseded_kept_or_refused() {
    let home = Home::new();
    let claim = |place: &'static str, more: &[&'static str]| {
        [
            &[
                "remember",
                "--json",
                place,
                "--subject",
                "ana",
                "--relation",
                "lives_in",
            ],
            more,
        ]
        .concat()
    };
    let first = home.run(&claim("Porto", &[])).json();
    let second = home.run(&claim("Faro", &[]));
    assert!(second.stderr.contains("--if-same supersede"), "{second:?}");
    assert_eq!(second.json()["same"], serde_json::json!([first["address"]]));
    assert_eq!(home.addresses().len(), 2, "both are stored");

    home.run(&claim("Lagos", &["--if-same", "refuse"]))
        .fails(2, "ERR_CONFLICT", "");
    home.run(&claim("Lagos", &["--if-same", "supersede"]))
        .fails(2, "ERR_AMBIGUOUS", "");
    assert_eq!(home.addresses().len(), 2);
    let kept = home.run(&claim("Lagos", &["--if-same", "keep"]));
    assert_eq!((kept.code, kept.stderr.as_str()), (0, ""));

    // Other words for the same are the same claim, in a correction too.
    let spelt = [
        "remember",
        "Braga",
        "--subject",
        "Ana",
        "--relation",
        "Lives in",
    ];
    let spelt = home.run(&spelt);
    assert!(spelt.stderr.contains("also believed"), "{spelt:?}");
    assert!(spelt.stderr.contains("Lagos"), "{spelt:?}");
    let corrected = home.run(&["correct", spelt.stdout.trim(), "--set", "object=Évora"]);
    assert!(corrected.stderr.contains("Lagos"), "{corrected:?}");

    // Of another person, or in another namespace, it is another claim.
    let other = home.run(&claim("Braga", &["--user", "ana", "--if-same", "refuse"]));
    assert_eq!(other.code, 0, "{other:?}");
    let by = home
        .run(&claim(
            "Évora",
            &["--user", "ana", "--if-same", "supersede"],
        ))
        .json();
    assert_eq!(by["supersedes"], other.json()["address"]);
    let status = home
        .run(&["status", by["supersedes"].as_str().unwrap(), "--json"])
        .json();
    assert_eq!(status["status"]["superseded_by"], by["address"]);
}

#[test]
fn a_member_that_looks_like_a_field_is_pointed_out() {
    let home = Home::new();
    let ran = home.run(&["remember", "hello", "--set", "sesion_id=s1", "--json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let warning = ran.json()["warnings"][0].as_str().unwrap().to_owned();
    assert!(
        warning.contains("sesion_id") && warning.contains("session_id?"),
        "{warning}"
    );
    let line = r#"{"type":"event","content":"hello","userid":"ana","color":"red"}"#;
    let ran = home.run_with(&["put", "-", "--json"], line);
    let warnings = ran.json()["warnings"].as_array().unwrap().clone();
    assert_eq!(warnings.len(), 1, "{ran:?}");
    assert!(
        warnings[0]
            .as_str()
            .unwrap()
            .contains("did you mean user_id?"),
        "{ran:?}"
    );
}
