//! Which puts are supersessions that do not say so (OMS 17.2, ruling I4).

use grainstore::codec::Map;
use grainstore::ledger::MemoryDisk;
use grainstore::{ContentAddress, Draft, Options, Store, Time};

use super::opened_at;

fn belief(subject: &str, relation: &str, namespace: &str) -> Draft {
    let draft = Draft::belief(subject, relation, "tea").confidence(0.9);
    draft.namespace(namespace)
}

fn goal(text: &str, namespace: &str) -> Draft {
    Draft::goal(text).namespace(namespace)
}

/// Whether a put of a grain that is derived from another is refused as its supersession.
fn is_implied(old: Draft, new: impl Fn(ContentAddress) -> Draft) -> bool {
    // Opened again, the store remembers of no grain what it is about, and reads it.
    let disk = MemoryDisk::default();
    let (store, _) = opened_at(&disk, 1_000);
    let old = store.put(old.created_at(Time::from_ms(1))).unwrap();
    drop(store);
    let (store, _) = opened_at(&disk, 1_000);
    match store.put(new(old).derived_from(old).created_at(Time::from_ms(2))) {
        Ok(_) => false,
        Err(refused) => {
            assert_eq!(refused.code(), "ERR_INVALIDATION_DENIED", "{refused}");
            true
        }
    }
}

#[test]
fn a_put_replaces_what_it_names_only_with_the_same_words_in_the_same_namespace() {
    let old = || belief("ada", "likes", "home");
    assert!(is_implied(old(), |_| belief("ada", "likes", "home")));
    for other in [
        belief("bob", "likes", "home"),
        belief("ada", "drinks", "home"),
        belief("ada", "likes", "work"),
        goal("ada likes tea", "home"),
        Draft::event("ada likes tea").namespace("home"),
    ] {
        assert!(!is_implied(old(), |_| other.clone()), "{other:?}");
    }
    let old = || goal("dig", "home");
    assert!(is_implied(old(), |_| goal("dig", "home")));
    assert!(!is_implied(old(), |_| goal("dig deeper", "home")));
    assert!(!is_implied(old(), |_| goal("dig", "work")));
}

#[test]
fn what_says_why_it_is_derived_replaces_nothing() {
    // OMS 28.6: a summary; 27.1: a result names its call.
    let old = || belief("ada", "likes", "home");
    for level in 0..=3 {
        let summary = |_| belief("ada", "likes", "home").set("consolidation_level", level);
        assert_eq!(is_implied(old(), summary), level == 0, "{level}");
    }
    let store = Store::in_memory(Options::default()).unwrap();
    let call = Draft::new(grainstore::Type::Action)
        .set("action_phase", "call")
        .set("tool_name", "weather")
        .set("input", Map::new());
    let call = store.put(call).unwrap();
    let result = Draft::new(grainstore::Type::Action)
        .set("action_phase", "result")
        .set("tool_call_id", "1")
        .set("content", "rain")
        .set("is_error", false)
        .derived_from(call);
    store.put(result).unwrap();
    assert!(store.status(&call).unwrap().is_current());
}
