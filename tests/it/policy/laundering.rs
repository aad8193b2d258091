//! Goal laundering over every field of the specification and every way in (OMS 23.4, 23.5, rulings
//! I15, P1, P2). Single cases are in `goals`.

use grainstore::codec::{Map, Value};
use grainstore::grain::{Field, Time};
use grainstore::interchange::{Format, ImportFile, ReadOptions};
use grainstore::{ContentAddress, Draft, Options, Store};

/// The fields that OMS 23.4 and ruling P1 let a transition change, besides its state.
const FREE: [&str; 13] = [
    "author_did",
    "created_at",
    "derived_from",
    "invalidation_initiator",
    "invalidation_reason",
    "invalidation_type",
    "progress",
    "provenance_chain",
    "source_type",
    "supersession_auth",
    "supersession_justification",
    "system_valid_from",
    "trusted_timestamp",
];

fn memory() -> Store {
    Store::in_memory(Options {
        text: None,
        ..Options::default()
    })
    .unwrap()
}

/// A locked goal with a value in every optional field of a goal.
fn goal(state: &str) -> Draft {
    let json = format!(
        r#"{{"type":"goal","description":"spend little","goal_state":"{state}","created_at":1,
            "criteria":["at most 100 a day"],"criteria_structured":[{{"max":100}}],"priority":2,
            "parent_goals":["{0}"],"state_reason":"asked","progress":0.1,
            "delegate_to":"did:web:b","delegate_from":"did:web:a","expiry_policy":"never",
            "recurrence":"daily","rollback_on_failure":["undo"],"depends_on":["{0}"],
            "assigned_agent":"did:web:a","expected_output":"a bill","output_grain":"{0}",
            "deadline":9000000000000,"namespace":"home","user_id":"ada","context":{{"a":{{"b":1}}}},
            "structural_tags":["budget"],"confidence":0.5,"app_note":"mine",
            "allowed_transitions":["satisfied","failed"],
            "invalidation_policy":{{"mode":"locked","authorized":["did:web:ada"]}}}}"#,
        "ab".repeat(32)
    );
    Draft::from_json(&json).unwrap()
}

fn stored() -> (Store, ContentAddress) {
    let store = memory();
    let old = store.put(goal("suspended")).unwrap();
    (store, old)
}

/// Returns whether a successor ends the goal, by any of the ways that replace a grain: the owner's
/// and an agent's supersession, a put, a batch, and a file that says so.
fn replaces(store: &Store, old: ContentAddress, new: &Draft) -> bool {
    let agent = store.as_actor(&"did:web:agent.example".parse().unwrap());
    let new = new.clone().derived_from(old).created_at(Time::from_ms(9));
    let reason = Some("the agent says so");
    // Whether a way is refused or ends nothing is the same here: the status is looked at.
    drop(agent.put(new.clone()));
    drop(store.put(new.clone()));
    drop(store.put_batch([Draft::event("harmless"), new.clone()]));
    drop(agent.supersede(&old, new.clone(), reason));
    drop(store.supersede(&old, new.clone(), reason));
    if let Ok(grain) = new.finish(Default::default()) {
        let status = format!(
            r#"{{"status":{{"of":"{old}","superseded_by":"{}"}}}}"#,
            grain.address()
        );
        let lines = format!("{}\n{status}\n", grain.to_json());
        let reading = ReadOptions::default();
        let file = ImportFile::of_bytes(lines.as_bytes(), Some(Format::Jsonl), &reading).unwrap();
        store.import(file).unwrap();
    }
    !store.status(&old).unwrap().is_current()
}

/// Values of every kind, of which a field takes one or another.
fn values() -> Vec<Value> {
    let texts = [
        "\"other\"",
        "\"satisfied\"",
        "\"hot\"",
        "\"state\"",
        "\"anonymous\"",
    ];
    let others = [
        "7",
        "0.25",
        "true",
        "[]",
        "{}",
        "[\"other\"]",
        "[{\"x\":1}]",
        "[3]",
        "\"did:web:mallory.example\"",
        "\"client\"",
        "\"function_call\"",
    ];
    let all = texts.iter().chain(&others);
    let mut all: Vec<_> = all.map(|json| Value::from_json(json).unwrap()).collect();
    all.push("cd".repeat(32).into());
    all
}

#[test]
fn no_field_of_a_protected_goal_changes_with_a_transition_but_those_of_the_transition() {
    let fields = Field::all().iter().map(|field| field.name);
    let names = fields.chain(["app_note", "app_other"]);
    let judged_apart = [
        "type",
        "goal_state",
        "satisfaction_evidence",
        "invalidation_policy",
        "allowed_transitions",
        "evidence_required",
    ];
    let (store, old) = stored();
    let mut changed = 0;
    for name in names.filter(|name| !judged_apart.contains(name)) {
        let mut values = values();
        values.push(Value::Nil);
        for value in values {
            let draft = goal("satisfied").set(name, value.clone());
            let is_same = goal("satisfied").fields().get(name) == Some(&value)
                || (value == Value::Nil && !goal("satisfied").fields().contains(name));
            if is_same || draft.clone().finish(Default::default()).is_err() {
                continue;
            }
            changed += 1;
            if FREE.contains(&name) {
                let (store, old) = stored();
                assert!(replaces(&store, old, &draft), "{name}: {value:?}");
            } else {
                assert!(!replaces(&store, old, &draft), "{name}: {value:?}");
            }
        }
    }
    assert!(changed > 250, "{changed}");
}

#[test]
fn the_protection_of_a_goal_becomes_stricter_or_stays() {
    let (store, old) = stored();
    let policies = [
        None,
        Some(r#"{"mode":"open"}"#),
        Some(r#"{"mode":"soft_locked"}"#),
        Some(r#"{"mode":"quorum","threshold":1,"authorized":["did:web:ada"]}"#),
        Some(r#"{"mode":"delegated","authorized":["did:web:agent.example"]}"#),
        Some(r#"{"mode":"timed","locked_until":1,"fallback_mode":"open"}"#),
        Some(r#"{"mode":"timed","locked_until":9000000000,"fallback_mode":"locked"}"#),
        Some(r#"{"mode":"consent_cascade"}"#),
        Some(r#"{"mode":"locked","authorized":["did:web:ada"],"scope":"lineage"}"#),
    ];
    for policy in policies {
        let policy = policy.map_or(Value::Nil, |json| Value::from_json(json).unwrap());
        let draft = goal("failed").set("invalidation_policy", policy.clone());
        assert!(!replaces(&store, old, &draft), "{policy:?}");
    }
    let lists = [
        vec!["satisfied", "failed", "active"],
        vec!["active"],
        vec!["satisfied", "failed", "suspended"],
        vec!["Satisfied"],
    ];
    for list in lists {
        let draft = goal("failed").set("allowed_transitions", list.clone());
        assert!(!replaces(&store, old, &draft), "{list:?}");
    }
    for state in ["active", "suspended"] {
        assert!(!replaces(&store, old, &goal(state)), "{state}");
    }
    for draft in [
        goal("failed"),
        goal("satisfied"),
        goal("failed").set("allowed_transitions", Value::Nil),
        goal("failed").set("allowed_transitions", vec!["failed"]),
        goal("failed").set("evidence_required", 3),
        goal("failed").set("invalidation_policy", Map::from_iter([("mode", "hold")])),
        goal("failed").set(
            "invalidation_policy",
            Map::from_iter([("mode", "of tomorrow")]),
        ),
    ] {
        let (store, old) = stored();
        assert!(replaces(&store, old, &draft), "{draft:?}");
    }
}

#[test]
fn a_goal_that_asks_for_evidence_is_not_satisfied_without_it_in_any_way() {
    // OMS 23.4, ruling P2: so many other stored grains, each once, by any of the ways in.
    for required in 1..=3_usize {
        let asking = |state: &str| goal(state).set("evidence_required", required as u64);
        for given in 0..=3_usize {
            let store = memory();
            let old = store.put(asking("suspended")).unwrap();
            let put = |n: usize| store.put(Draft::event(format!("proof {n}"))).unwrap();
            let mut evidence: Vec<String> = (0..given).map(|n| put(n).to_string()).collect();
            // None of these is one more.
            evidence.extend(evidence.first().cloned());
            evidence.extend(evidence.first().map(|one| format!("sha256:{one}")));
            evidence.extend([
                old.to_string(),
                "ef".repeat(32),
                String::new(),
                "done".into(),
            ]);
            let draft = asking("satisfied").set("satisfaction_evidence", evidence);
            assert_eq!(
                replaces(&store, old, &draft),
                given >= required,
                "{given} of {required}"
            );
            if given < required {
                let new = draft.derived_from(old);
                let denied = store.supersede(&old, new, Some("done")).unwrap_err();
                assert_eq!(denied.code(), "ERR_EVIDENCE_REQUIRED");
            }
        }
    }
}
