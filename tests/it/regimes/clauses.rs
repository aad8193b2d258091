//! The members of a clause one by one: which grains it is about, and what keeps them in the store.

use super::*;

fn ruled(clause: &str) -> Store {
    let text = format!(
        "name = \"own\"\ntitle = \"ours\"\n[[clause]]\nid = \"a\"\ncites = \"b\"\nsays = \"c\"\n{clause}"
    );
    let regime = Regime::parse(&text).unwrap();
    assert_eq!(regime.title(), "ours");
    let store = memory();
    let admin = store.admin().unwrap();
    admin.set_regimes(vec![regime], TEST).unwrap();
    store
}

#[test]
fn a_clause_is_about_grains_with_one_item_of_each_list_that_it_has() {
    let store = ruled(
        "when = { tags = [\"a*\", \"b\"], namespaces = [\"x\", \"y\"], fields = [\"user_id\", \"run_id\"] }\n\
         requires = { never_stored = true }",
    );
    let all = || {
        note("n")
            .tag("other")
            .tag("apple")
            .namespace("y:z")
            .user("ada")
    };
    let refused = |draft: Draft| store.put(draft).is_err();
    assert!(refused(all()));
    assert!(refused(
        note("n")
            .tag("b")
            .tag("other")
            .namespace("x")
            .set("run_id", "1")
    ));
    assert!(!refused(note("n").tag("other").namespace("y").user("ada")));
    assert!(!refused(note("n").tag("b").namespace("z").user("ada")));
    assert!(!refused(note("n").tag("b").namespace("x")));
    assert!(!refused(note("n").tag("b").namespace("x").user("")));
}

#[test]
fn a_profiles_field_is_there_if_either_of_its_places_has_it() {
    let store = ruled("requires = { fields = [\"hc:patient_id\"] }");
    let inside = |value: &str| Map::from_iter([("hc:patient_id", value)]);
    assert!(store.put(note("n")).is_err());
    assert!(store.put(note("n").set("hc:patient_id", "")).is_err());
    assert!(store.put(note("n").set("hc:patient_id", "7")).is_ok());
    assert!(store.put(note("n").set("context", inside("8"))).is_ok());
}

#[test]
fn a_grain_without_the_fields_that_an_export_needs_stays() {
    let store = ruled("requires = { export_fields = [\"processing_basis\", \"user_id\"] }");
    let basis = |draft: Draft| draft.set("processing_basis", "contract");
    store.put(fact("nothing of it")).unwrap();
    store.put(basis(fact("a part of it"))).unwrap();
    store.put(basis(fact("all of it")).user("ada")).unwrap();
    let (file, exported) = export(&store, Format::Jsonl, Purpose::Transfer);
    assert!(file.contains("all of it"));
    assert!(!file.contains("nothing of it") && !file.contains("a part of it"));
    assert_eq!(exported.grains, 1);
}

#[test]
fn a_change_that_is_reviewed_twice_over_opens_one_review() {
    let store = ruled("when = { tags = [\"watched\"] }\nrequires = { review = true }");
    let reviews = || store.admin().unwrap().reviews().unwrap().len();
    let put = |draft: Draft| store.put(draft).unwrap();
    let plain = put(note("plain"));
    store.contradict(&plain, Some("no")).unwrap();
    assert_eq!(reviews(), 0);
    let watched = put(note("watched").tag("watched"));
    store.contradict(&watched, Some("no")).unwrap();
    assert_eq!(reviews(), 1);
    let soft = Map::from_iter([("mode", "soft_locked")]);
    let both = put(note("both").tag("watched").set("invalidation_policy", soft));
    store.contradict(&both, Some("no")).unwrap();
    assert_eq!(reviews(), 2);
}

#[test]
fn the_retention_of_finance_counts_beside_other_tags() {
    let store = memory();
    let bill = note("a bill")
        .tag("paper")
        .tag("profile:finance")
        .tag("2026");
    let bill = store.put(bill.set("fin:retention_years", 50)).unwrap();
    let denied = store.admin().unwrap().delete(&bill, TEST).unwrap_err();
    assert!(denied.to_string().contains("retention"), "{denied}");
}

#[test]
fn the_report_counts_each_kind_of_grain_apart() {
    let store = memory();
    let put = |draft: Draft| store.put(draft).unwrap();
    let first = put(note("plain"));
    put(note("a person's")
        .user("ada")
        .set("processing_basis", "contract"));
    put(note("nobody's").tag("pii:email"));
    put(note("ill").tag("phi:mrn"));
    put(note("derived").derived_from(first));
    put(note("proven").set("provenance_chain", Value::Array(vec![])));
    put(note("held").set("invalidation_policy", Map::from_iter([("mode", "hold")])));
    put(note("locked").set("invalidation_policy", Map::from_iter([("mode", "locked")])));
    put(note("kept").set(
        "retention_policy",
        Map::from_iter([("deletion_requires", "a court")]),
    ));
    put(note("kept by law").set("retention_policy", Map::from_iter([("regulation", "sox")])));
    let consent = Draft::consent("did:web:ada", "did:web:bob", ["store"]);
    let consent = put(consent);
    put(Draft::consent("did:web:eve", "did:web:bob", ["store"]));
    let withdrawal = Draft::consent("did:web:ada", "did:web:bob", ["store"]);
    put(withdrawal
        .set("is_withdrawal", true)
        .set("prior_consent", consent));
    for _ in 0..2 {
        assert!(
            store
                .put(
                    note("no")
                        .set("confidence", 0.5)
                        .derived_from(first)
                        .set("invalidation_type", "superseded")
                )
                .is_err()
        );
    }
    let report = store.admin().unwrap().policy_report().unwrap();
    let expected = [
        ("grains", 13),
        ("personal", 3),
        ("personal without user_id", 2),
        ("personal without processing_basis", 2),
        ("health information", 1),
        ("with provenance", 2),
        // The two policies, and the three Consents that have none (OMS 8.10).
        ("protected", 5),
        ("with mode hold", 1),
        ("with retention", 2),
        ("consents", 2),
        ("withdrawals", 1),
        ("with deletion_requires", 1),
        ("refusals", 2),
    ];
    for (name, count) in expected {
        assert_eq!(report.counts[name], count, "{name}");
    }
}

#[test]
fn a_change_that_a_clause_reviews_says_so_and_a_deletion_opens_no_review() {
    let store = ruled("requires = { review = true }");
    let address = store.put(note("n")).unwrap();
    let explained = |word: &str| {
        let actor = grainstore::policy::Actor {
            justification: Some("a reason"),
            authority: Some("an office"),
            ..Default::default()
        };
        let asked = store::Asked::named(word).unwrap();
        let admin = store.admin().unwrap();
        let told = admin.explain_policy(&address, asked, &actor).unwrap();
        (told.is_allowed, told.is_reviewed)
    };
    assert_eq!(explained("contradict"), (true, true));
    assert_eq!(explained("delete"), (true, false));
}

#[test]
fn an_explanation_names_the_grain_whose_own_rule_denies_and_no_other() {
    // The parent protects the child, and would allow what a hold or a retention of the child denies.
    let store = memory();
    let parent = note("parent").set(
        "invalidation_policy",
        Map::from_iter([("mode", "soft_locked"), ("scope", "subtree")]),
    );
    let parent = store.put(parent).unwrap();
    let child = |text: &str| note(text).derived_from(parent);
    let held = store.put(child("held")).unwrap();
    store.admin().unwrap().place_hold(&held, TEST).unwrap();
    let retained = child("retained")
        .tag("profile:finance")
        .set("fin:retention_years", 50)
        .created_at(grainstore::Time::from_ms(1_790_000_000_000));
    let retained = store.put(retained).unwrap();
    for (address, rule) in [(held, "legal_hold"), (retained, "retention")] {
        let actor = grainstore::policy::Actor {
            justification: Some("a reason"),
            authority: Some("an office"),
            ..Default::default()
        };
        let asked = store::Asked::named("delete").unwrap();
        let admin = store.admin().unwrap();
        let told = admin.explain_policy(&address, asked, &actor).unwrap();
        assert_eq!(told.rule.as_deref(), Some(rule));
        assert_eq!(told.protected_by, Some(address), "{rule}");
    }
}
