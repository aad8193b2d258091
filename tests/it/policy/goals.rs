//! Goals: dependencies, evidence and protected successors (OMS 8.7, 23.5).

use grainstore::interchange::{ImportFile, ReadOptions};
use grainstore::ledger::Kind;
use grainstore::{ContentAddress, Draft, Options, Store};

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
    let summary = store.admin().unwrap().import(reading).unwrap();
    assert_eq!(summary.inserted, 1);
    assert!(
        summary.findings[0].1.contains("depends_on"),
        "{:?}",
        summary.findings
    );
}
