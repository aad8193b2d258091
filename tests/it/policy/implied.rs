//! Which puts are supersessions that do not say so (OMS 17.2, ruling I4).

use grainstore::codec::Map;
use grainstore::interchange::{Format, ImportFile, ReadOptions};
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

/// A consent of a person for a party.
fn consent(person: &str, party: &str, scope: &str) -> Draft {
    let (person, party) = (format!("did:web:{person}"), format!("did:web:{party}"));
    Draft::consent(person, party, [scope])
}

#[test]
fn a_put_renews_no_consent_whether_it_is_derived_or_named() {
    // OMS 8.10: the one before would be in force beside it, although its person gave less.
    let old = || consent("ada", "bob", "store");
    assert!(is_implied(old(), |_| consent("ada", "bob", "retrieve")));
    for other in [
        consent("eve", "bob", "store"),
        consent("ada", "eve", "store"),
        consent("ada", "bob", "store").namespace("work"),
        Draft::event("ada said so"),
    ] {
        assert!(!is_implied(old(), |_| other.clone()), "{other:?}");
    }
    let withdrawal = |of| {
        let withdrawal = consent("ada", "bob", "store").set("is_withdrawal", true);
        withdrawal.set("prior_consent", of)
    };
    assert!(!is_implied(old(), withdrawal));
    let store = Store::in_memory(Options::default()).unwrap();
    let first = store.put(old()).unwrap();
    let renewed = consent("ada", "bob", "retrieve").set("prior_consent", first);
    for handle in [&store, &store.in_namespace("work")] {
        let renewed = renewed.clone().author("did:web:ada");
        assert!(handle.put(renewed).is_err());
    }
    // One that is not here is replaced by nothing.
    let absent = ContentAddress::of(b"absent");
    store
        .put(renewed.clone().set("prior_consent", absent))
        .unwrap();
    let renewed = store
        .supersede(&first, renewed, Some("she gave less"))
        .unwrap();
    assert_eq!(store.status(&first).unwrap().superseded_by, Some(renewed));
}

#[test]
fn a_grant_is_replaced_only_by_a_consent_that_names_it_as_prior() {
    // Ruling I5.
    let store = Store::in_memory(Options::default()).unwrap();
    let first = store.put(consent("ada", "bob", "store")).unwrap();
    let new = || consent("ada", "bob", "retrieve");
    let other = ContentAddress::of(b"another");
    for wrong in [
        new().derived_from(first),
        new().derived_from(first).set("prior_consent", other),
        Draft::event("it ended").derived_from(first),
    ] {
        let wrong = wrong
            .created_at(Time::from_ms(2))
            .finish(Default::default());
        let refused = store.supersede(&first, wrong.unwrap(), Some("renewed"));
        let refused = refused.unwrap_err();
        assert_eq!(refused.code(), "ERR_SCHEMA");
        assert!(refused.to_string().contains("prior_consent"), "{refused}");
    }
    assert!(store.status(&first).unwrap().is_current());
    let second = store
        .supersede(&first, new().replacing(first), Some("renewed"))
        .unwrap();
    // The prior_consent of a withdrawal is what it withdraws, so its correction names it as a source.
    let away = || new().set("is_withdrawal", true).replacing(second);
    let withdrawal = store.supersede(&second, away(), None).unwrap();
    let corrected = away().set("jurisdiction", "eu").replacing(withdrawal);
    let corrected = store
        .supersede(&withdrawal, corrected, Some("added"))
        .unwrap();
    let found = store.get(&corrected).unwrap().unwrap();
    assert_eq!(found.link("prior_consent"), Some(second));
    assert_eq!(found.derived_from().collect::<Vec<_>>(), [withdrawal]);
}

#[test]
fn a_consent_of_a_file_that_renews_one_here_is_a_conflict() {
    let store = Store::in_memory(Options::default()).unwrap();
    let first = store.put(consent("ada", "bob", "store")).unwrap();
    let renewed = consent("ada", "bob", "retrieve").created_at(Time::from_ms(2));
    let derived = renewed.clone().derived_from(first);
    for named in [renewed.set("prior_consent", first), derived] {
        let line = named.finish(Default::default()).unwrap().to_json();
        let read = || {
            let options = ReadOptions::default();
            ImportFile::of_bytes(line.as_bytes(), Some(Format::Jsonl), &options).unwrap()
        };
        let agent = store.as_actor(&"did:web:eve".parse().unwrap());
        assert_eq!(agent.import(read()).unwrap().refused.len(), 1);
        let summary = store.import(read()).unwrap();
        assert_eq!(
            (summary.inserted, summary.conflicts.len()),
            (1, 1),
            "{summary:?}"
        );
    }
    assert!(store.status(&first).unwrap().is_current());
}
