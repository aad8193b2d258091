//! Goals: dependencies, evidence and protected successors (OMS 8.7, 23.5).

use grainstore::codec::Value;
use grainstore::interchange::{ImportFile, ReadOptions};
use grainstore::ledger::Kind;
use grainstore::{ContentAddress, Draft, Options, Store, Time};

fn memory() -> Store {
    Store::in_memory(Options::default()).unwrap()
}

fn goal(name: &str, state: &str, depends_on: &[String]) -> Draft {
    let json = format!(
        r#"{{"type":"goal","description":"{name}","goal_state":"{state}","created_at":1,
            "depends_on":{depends_on:?}}}"#
    );
    Draft::from_json(&json).unwrap()
}

fn move_to(store: &Store, old: ContentAddress, draft: Draft) -> ContentAddress {
    store
        .supersede(&old, draft.derived_from(old), None)
        .unwrap()
}

#[test]
fn a_goal_is_not_active_before_all_it_depends_on_is_satisfied() {
    let store = memory();
    let first = store.put(goal("dig", "active", &[])).unwrap();
    let second = store.put(goal("buy stones", "active", &[])).unwrap();
    let needs = [first.to_string(), format!("sha256:{second}")];
    let entries = store.maintenance().unwrap().stats().unwrap().entries;
    let denied = store.put(goal("build", "active", &needs)).unwrap_err();
    assert_eq!(denied.code(), "ERR_DEPENDENCY");
    assert!(denied.to_string().contains("8.7"), "{denied}");
    let recorded = store
        .maintenance()
        .unwrap()
        .index_snapshot()
        .of_kind(Kind::Denial)
        .rows()
        .unwrap();
    assert_eq!(
        (
            recorded.len(),
            store.maintenance().unwrap().stats().unwrap().entries
        ),
        (1, entries + 1)
    );

    // It may wait, and does not start by being superseded either.
    let waiting = store.put(goal("build", "suspended", &needs)).unwrap();
    let start = || goal("build", "active", &needs).derived_from(waiting);
    move_to(&store, first, goal("dig", "satisfied", &[]));
    let denied = store.supersede(&waiting, start(), Some("let us begin"));
    assert_eq!(denied.unwrap_err().code(), "ERR_DEPENDENCY");
    move_to(&store, second, goal("buy stones", "satisfied", &[]));
    assert!(store.supersede(&waiting, start(), None).is_ok());
}

#[test]
fn a_goal_that_is_unknown_failed_disputed_or_taken_up_again_is_not_satisfied() {
    let store = memory();
    let unknown = "ab".repeat(32);
    let event = store.put(Draft::event("satisfied")).unwrap().to_string();
    let failed = store.put(goal("a", "failed", &[])).unwrap().to_string();
    let done = store.put(goal("b", "satisfied", &[])).unwrap();
    let again = store.put(goal("c", "satisfied", &[])).unwrap();
    move_to(&store, again, goal("c", "active", &[]));
    let disputed = store.put(goal("d", "satisfied", &[])).unwrap();
    store.contradict(&disputed, None).unwrap();
    for one in [
        unknown,
        event,
        failed,
        again.to_string(),
        disputed.to_string(),
    ] {
        let needs = [done.to_string(), one.clone()];
        let denied = store.put(goal("e", "active", &needs)).unwrap_err();
        assert_eq!(denied.code(), "ERR_DEPENDENCY", "{one}");
    }
    assert!(store.put(goal("e", "active", &[done.to_string()])).is_ok());
}

#[test]
fn goals_of_one_batch_know_of_each_other() {
    let store = memory();
    let finished = |state| {
        let draft = goal("dig", state, &[]);
        draft.finish(Default::default()).unwrap()
    };
    for (state, is_free) in [("active", false), ("satisfied", true)] {
        let first = finished(state);
        let needs = [first.address().to_string()];
        let second = goal("build", "active", &needs).finish(Default::default());
        let batch = store.put_batch([first.clone(), second.unwrap()]);
        assert_eq!(batch.is_ok(), is_free, "{state}");
        assert_eq!(
            store.exists(&first.address()).unwrap(),
            is_free,
            "all or none"
        );
    }
}

#[test]
fn an_imported_goal_that_starts_early_is_kept_and_told() {
    let store = memory();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("goals.jsonl");
    let line = format!(
        r#"{{"type":"goal","description":"build","goal_state":"active","created_at":1,"depends_on":["{}"]}}"#,
        "ab".repeat(32)
    );
    std::fs::write(&path, line + "\n").unwrap();
    let reading = ImportFile::open(&path, None, &ReadOptions::default()).unwrap();
    let summary = store.import(reading).unwrap();
    assert_eq!(summary.inserted, 1);
    assert!(
        summary.findings[0].1.contains("depends_on"),
        "{:?}",
        summary.findings
    );
}

/// A locked goal that may be satisfied and suspended, with these members besides.
fn locked(state: &str, more: &str) -> Draft {
    let json = format!(
        r#"{{"type":"goal","description":"spend little","goal_state":"{state}","created_at":1,
            "criteria":["at most 100 a day"],"priority":2,
            "allowed_transitions":["active","satisfied","suspended"],
            "invalidation_policy":{{"mode":"locked"}}{more}}}"#
    );
    Draft::from_json(&json).unwrap()
}

#[test]
fn a_transition_changes_the_state_and_nothing_that_the_goal_says() {
    let store = memory();
    let old = store.put(locked("active", "")).unwrap();
    let next = |draft: Draft| draft.derived_from(old).created_at(Time::from_ms(9));
    let bent = [
        // The present state is listed, and permits no change.
        next(locked("active", "")).set("description", "spend all of it"),
        next(locked("active", "")),
        next(locked("satisfied", "")).set("description", "spend all of it"),
        next(locked("satisfied", "")).set("criteria", Value::Nil),
        next(locked("satisfied", "")).set("criteria", vec!["any"]),
        next(locked("satisfied", "")).set("priority", Value::Nil),
        next(locked("satisfied", "")).set("parent_goals", vec!["none"]),
        next(locked("satisfied", "")).set("depends_on", vec![old.to_string()]),
        next(locked("satisfied", "")).set("state_reason", "spend all of it"),
        next(locked("satisfied", "")).set("valid_to", 1),
        next(locked("satisfied", "")).set("deadline", 1),
        next(locked("satisfied", "")).set("user_id", "ada"),
        next(locked("satisfied", "")).namespace("elsewhere"),
        next(locked("satisfied", "")).tag("other"),
        next(locked("satisfied", "")).set("requires_human_review", true),
        next(locked("satisfied", "")).set("app_field", 1),
    ];
    for draft in bent {
        let shown = format!("{draft:?}");
        let denied = store.supersede(&old, draft, Some("the agent says so"));
        assert_eq!(
            denied.unwrap_err().code(),
            "ERR_INVALIDATION_DENIED",
            "{shown}"
        );
    }
    let evidence = store.put(Draft::event("a bill of 90")).unwrap().to_string();
    let done = next(locked("suspended", ""))
        .author("did:web:agent.example")
        .set("progress", 0.5)
        .set("satisfaction_evidence", vec![evidence]);
    let suspended = store.supersede(&old, done, None).unwrap();
    // The state that counts is that of the goal that is replaced, not that of the first one.
    let again = locked("active", "")
        .derived_from(suspended)
        .created_at(Time::from_ms(10));
    let again = again.author("did:web:agent.example");
    let again = store.supersede(&suspended, again, None).unwrap();
    let opposite = locked("satisfied", "").set("description", "spend all of it");
    assert!(
        store
            .supersede(&again, opposite.derived_from(again), None)
            .is_err()
    );
}

#[test]
fn evidence_is_counted_in_stored_grains_each_once() {
    let store = memory();
    let required = r#","evidence_required":2"#;
    let old = store.put(locked("active", required)).unwrap();
    let one = store.put(Draft::event("one")).unwrap().to_string();
    let two = store.put(Draft::event("two")).unwrap().to_string();
    let missing = ContentAddress::of(b"missing").to_string();
    let satisfy = |evidence: Vec<String>| {
        let draft = locked("satisfied", required).derived_from(old);
        store.supersede(&old, draft.set("satisfaction_evidence", evidence), None)
    };
    let none = String::new;
    for evidence in [
        vec![none(), none()],
        vec!["it is done".into(), "believe me".into()],
        vec![missing.clone(), missing.clone()],
        vec![one.clone(), missing],
        vec![one.clone(), one.clone()],
        vec![one.clone(), format!("sha256:{one}")],
        vec![one.clone(), two.to_uppercase()],
        vec![one.clone(), two[..32].to_owned()],
        vec![one.clone(), old.to_string()],
    ] {
        let shown = format!("{evidence:?}");
        let denied = satisfy(evidence).unwrap_err();
        assert_eq!(denied.code(), "ERR_EVIDENCE_REQUIRED", "{shown}");
    }
    assert!(satisfy(vec![one, format!("sha256:{two}")]).is_ok());
}

#[test]
fn a_successor_does_not_drop_what_a_goal_waits_for() {
    let store = memory();
    let first = store.put(goal("dig", "active", &[])).unwrap();
    let waiting = store
        .put(goal("build", "suspended", &[first.to_string()]))
        .unwrap();
    let started = |old| goal("build", "active", &[]).derived_from(old);
    let denied = store.supersede(&waiting, started(waiting), Some("let us begin"));
    assert_eq!(denied.unwrap_err().code(), "ERR_DEPENDENCY");
    // Not by way of a goal between the two either.
    let between = move_to(&store, waiting, goal("build", "suspended", &[]));
    let denied = store.supersede(&between, started(between), None);
    assert_eq!(denied.unwrap_err().code(), "ERR_DEPENDENCY");
    move_to(&store, first, goal("dig", "satisfied", &[]));
    assert!(store.supersede(&between, started(between), None).is_ok());
}

#[test]
fn a_goal_does_not_start_in_any_way_while_a_reference_names_no_satisfied_goal() {
    // OMS 8.7, ruling I14, whatever the reference looks like.
    let store = memory();
    let open = store.put(goal("dig", "active", &[])).unwrap();
    let done = store.put(goal("plan", "satisfied", &[])).unwrap();
    let event = store.put(Draft::event("dug")).unwrap();
    let missing = ContentAddress::of(b"missing");
    let agent = store.as_actor(&"did:web:agent.example".parse().unwrap());
    for needs in [
        vec![open.to_string()],
        vec![format!("sha256:{open}")],
        vec![done.to_string().to_uppercase()],
        vec![done.to_string()[..63].to_owned()],
        vec![String::new()],
        vec!["plan".to_owned()],
        vec![event.to_string()],
        vec![missing.to_string()],
        vec![done.to_string(), open.to_string()],
        vec![open.to_string(), done.to_string()],
    ] {
        let waiting = store.put(goal("build", "suspended", &needs)).unwrap();
        let start = || goal("build", "active", &needs);
        let next = || start().derived_from(waiting).created_at(Time::from_ms(7));
        for refused in [
            store.put(start()).map(drop),
            agent.put(start()).map(drop),
            store.put_batch([Draft::event("x"), start()]).map(drop),
            store.supersede(&waiting, next(), Some("now")).map(drop),
            agent.supersede(&waiting, next(), Some("now")).map(drop),
        ] {
            assert_eq!(refused.unwrap_err().code(), "ERR_DEPENDENCY", "{needs:?}");
        }
    }
    for needs in [vec![done.to_string()], vec![format!("mg:sha256:{done}")]] {
        assert!(
            store.put(goal("build", "active", &needs)).is_ok(),
            "{needs:?}"
        );
    }
}
