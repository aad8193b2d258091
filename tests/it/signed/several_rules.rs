//! Several trust rules beside each other: of one signer, and of several for one namespace
//! (OMS 20.1).

use grainstore::policy::{Doubt, Trust, TrustRule};

use super::*;
use grainstore::crypto::sign;

const BOSS: &str = "did:web:boss.example";

fn rule(key: &SigningKey, namespaces: &[&str]) -> TrustRule {
    let mut rule = TrustRule::new(key.did());
    rule.namespaces = namespaces.iter().map(|name| (*name).into()).collect();
    rule
}

fn trusting(rules: Vec<TrustRule>) -> Store {
    let store = memory();
    for rule in rules {
        store.admin().unwrap().trust(rule, "a test").unwrap();
    }
    store
}

fn trust_in(store: &Store, grain: Grain) -> Trust {
    let address = store.put(grain).unwrap();
    store.signature(&address).unwrap().unwrap().trust
}

fn inside(namespace: &str) -> Draft {
    draft("dark mode").namespace(namespace)
}

#[test]
fn each_namespace_of_a_rule_is_trusted() {
    let store = trusting(vec![rule(&ada(), &["a", "b"])]);
    for namespace in ["a", "b", "b:inner"] {
        let trust = trust_in(&store, signed_by(inside(namespace), &ada()));
        assert_eq!(trust, Trust::Verified, "{namespace}");
    }
}

#[test]
fn of_several_rules_of_a_signer_the_closest_one_gives_the_reason() {
    let mut events = rule(&ada(), &["a"]);
    events.types = vec![grainstore::Type::Event];
    for rules in [
        vec![events.clone(), rule(&ada(), &["b"])],
        vec![rule(&ada(), &["b"]), events],
    ] {
        let store = trusting(rules);
        let trust = trust_in(&store, signed_by(inside("a"), &ada()));
        assert_eq!(trust, Trust::Untrusted(Doubt::Type));
    }
    // Trusted there, and a delegate of the author elsewhere, is no delegate there.
    let mut elsewhere = rule(&ada(), &["b"]);
    elsewhere.authors = vec![BOSS.into()];
    let store = trusting(vec![rule(&ada(), &["a"]), elsewhere]);
    let grain = |namespace: &str| {
        let draft = inside(namespace).author(BOSS).to_be_signed();
        let grain = draft
            .created_at(Time::from_ms(1))
            .finish(Default::default());
        sign(grain.unwrap(), &ada(), &ada().did(), Some(1)).unwrap()
    };
    assert_eq!(store.put(grain("a")).unwrap_err().code(), "ERR_UNTRUSTED");
    assert_eq!(trust_in(&store, grain("b")), Trust::Verified);
}

#[test]
fn any_of_the_signers_who_are_trusted_somewhere_may_end_what_is_written_there() {
    let mut closed = rule(&ada(), &["a"]);
    closed.is_exclusive = true;
    let second = key(Algorithm::P256, 45);
    let store = trusting(vec![closed, rule(&second, &["a"])]);
    let old = store.put(signed_by(inside("a"), &ada())).unwrap();
    let new = signed_by(inside("a").derived_from(old), &second);
    assert!(store.supersede(&old, new, None).is_ok());
}

#[test]
fn a_rule_that_is_there_already_is_no_further_entry() {
    let store = trusting(vec![rule(&ada(), &["a"])]);
    let entries = || store.maintenance().unwrap().stats().unwrap().entries;
    let before = entries();
    store
        .admin()
        .unwrap()
        .trust(rule(&ada(), &["a"]), "again")
        .unwrap();
    assert_eq!(entries(), before);
    store
        .admin()
        .unwrap()
        .trust(rule(&ada(), &["b"]), "more")
        .unwrap();
    assert_eq!(entries(), before + 1);
}
