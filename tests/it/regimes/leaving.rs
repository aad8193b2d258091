//! What Appendix A keeps in a store, over every spelling, place, hold, basis and format (OMS A.2,
//! A.3, A.6). The counts of what is withheld are in `regimes`.

use super::*;

/// The formats whose export has the grain that says a word.
pub(super) fn leaves(store: &Store, word: &str, purpose: Purpose) -> bool {
    let found: Vec<bool> = FORMATS
        .iter()
        .map(|format| export(store, *format, purpose).0.contains(word))
        .collect();
    assert!(
        found.iter().all(|one| *one == found[0]),
        "{word}: {found:?}"
    );
    found[0]
}

/// The draft with a field of a profile at the top level, in the context, or in both.
fn claiming(draft: Draft, name: &str, top: Option<&Value>, inner: Option<&Value>) -> Draft {
    let draft = match top {
        Some(value) => draft.set(name, value.clone()),
        None => draft,
    };
    match inner {
        Some(value) => draft.set("context", Map::from_iter([(name, value.clone())])),
        None => draft,
    }
}

/// Claims in every spelling that a writer may choose; the first one is harmless.
fn claims(harmless: Value, others: &[Value]) -> Vec<Option<Value>> {
    let others = others.iter().cloned().map(Some);
    [None, Some(harmless)].into_iter().chain(others).collect()
}

#[test]
fn a_privileged_grain_leaves_under_a_hold_whatever_its_claim_is_called() {
    // OMS A.2, ruling P3.
    let others = [
        "attorney_client".into(),
        "work_product".into(),
        "Attorney_Client".into(),
        "None".into(),
        "none ".into(),
        "".into(),
        Value::from(7),
        true.into(),
        false.into(),
        vec!["none"].into(),
        Map::from_iter([("none", true)]).into(),
    ];
    let claims = claims("none".into(), &others);
    let mut judged = 0;
    for (tag, top, inner) in ["profile:legal", "other"]
        .iter()
        .flat_map(|tag| claims.iter().map(move |top| (tag, top)))
        .flat_map(|(tag, top)| claims.iter().map(move |inner| (tag, top, inner)))
    {
        let store = memory();
        let draft = claiming(
            fact("an opinion").tag(*tag),
            "legal:privilege",
            top.as_ref(),
            inner.as_ref(),
        );
        // A put refuses what cannot be understood under its tag; it does not leave either way.
        let Ok(address) = store.put(draft) else {
            continue;
        };
        judged += 1;
        let is_harmless = |claim: &Option<Value>| {
            claim
                .as_ref()
                .is_none_or(|claim| claim.as_text() == Some("none"))
        };
        let is_free = is_harmless(top) && is_harmless(inner);
        for purpose in [Purpose::Transfer, Purpose::Sale] {
            assert_eq!(
                leaves(&store, "an opinion", purpose),
                is_free,
                "{top:?} {inner:?}"
            );
        }
        let admin = store.admin().unwrap();
        admin.place_hold(&address, TEST).unwrap();
        assert!(leaves(&store, "an opinion", Purpose::Transfer));
        admin.lift_hold(&address, TEST).unwrap();
        assert_eq!(leaves(&store, "an opinion", Purpose::Transfer), is_free);
    }
    assert!(judged > 60, "{judged}");
}

#[test]
fn a_hold_of_the_grain_itself_lets_a_privileged_grain_leave_until_it_is_lifted() {
    // OMS A.2 asks for the mode `hold`, and for no other.
    for (policy, leaves_first) in [
        (r#"{"mode":"hold"}"#, true),
        (r#"{"mode":"locked"}"#, false),
        (r#"{"mode":"holding"}"#, false),
        (
            r#"{"mode":"timed","locked_until":1,"fallback_mode":"locked"}"#,
            false,
        ),
    ] {
        let store = memory();
        let policy = Value::from_json(policy).unwrap();
        let draft = fact("an opinion").set("legal:privilege", "attorney_client");
        let address = store.put(draft.set("invalidation_policy", policy)).unwrap();
        assert_eq!(
            leaves(&store, "an opinion", Purpose::Transfer),
            leaves_first
        );
        if leaves_first {
            store.admin().unwrap().lift_hold(&address, TEST).unwrap();
            assert!(!leaves(&store, "an opinion", Purpose::Transfer));
        }
    }
}

#[test]
fn nothing_is_sold_that_a_consumer_opted_out_of_however_it_is_spelled() {
    // OMS A.6, ruling P3.
    let others = [
        true.into(),
        "true".into(),
        "yes".into(),
        "false".into(),
        "".into(),
        Value::from(1),
        Value::from(0),
        Value::Array(vec![false.into()]),
    ];
    let claims = claims(false.into(), &others);
    let mut judged = 0;
    for (tag, top, inner) in ["profile:consumer", "other"]
        .iter()
        .flat_map(|tag| claims.iter().map(move |top| (tag, top)))
        .flat_map(|(tag, top)| claims.iter().map(move |inner| (tag, top, inner)))
    {
        let store = memory();
        let draft = fact("a taste")
            .tag(*tag)
            .set("processing_basis", "contract");
        let draft = claiming(draft, "con:ccpa_opted_out", top.as_ref(), inner.as_ref());
        if store.put(draft).is_err() {
            continue;
        }
        judged += 1;
        let is_in = |claim: &Option<Value>| {
            claim
                .as_ref()
                .is_none_or(|claim| claim.as_bool() == Some(false))
        };
        let is_sold = is_in(top) && is_in(inner);
        assert_eq!(
            leaves(&store, "a taste", Purpose::Sale),
            is_sold,
            "{top:?} {inner:?}"
        );
        assert!(leaves(&store, "a taste", Purpose::Transfer));
    }
    assert!(judged > 30, "{judged}");
}

#[test]
fn personal_data_of_a_profile_leaves_on_a_lawful_basis_and_an_opt_out_is_none() {
    // OMS A.3, A.6, 27.4: whatever says that the data are personal.
    type Marked = fn(Draft) -> Draft;
    let personal: &[(&str, Marked)] = &[
        ("user_id", |draft| draft.user("ada")),
        ("user_id of a DID", |draft| {
            draft.user("did:web:ada.example")
        }),
        ("subject_did", |draft| {
            draft.set("subject_did", "did:web:ada.example")
        }),
        ("subject", |draft| {
            draft.set("subject", "did:web:ada.example")
        }),
        ("pii:email", |draft| draft.tag("pii:email")),
        ("pii:of tomorrow", |draft| draft.tag("pii:of tomorrow")),
        ("phi:ssn", |draft| draft.tag("phi:ssn")),
        ("phi:of tomorrow", |draft| draft.tag("phi:of tomorrow")),
    ];
    let given = consent_of("did:web:ada.example", "");
    let consent = given.address().to_string();
    let agreed = ["consent", "explicit_consent", "contract", consent.as_str()];
    let lawful = [
        "legal_obligation",
        "vital_interests",
        "public_task",
        "legitimate_interest",
        "legitimate_interests",
    ];
    let none = [
        "",
        " ",
        "Consent",
        "consent ",
        "none",
        "con:ccpa_opted_out",
        "ccpa_opted_out",
        "opted_out",
        "true",
    ];
    for profile in ["profile:finance", "profile:consumer", "profile:science"] {
        let bases = [agreed.as_slice(), &lawful, &none].concat();
        for basis in std::iter::once(None).chain(bases.into_iter().map(Some)) {
            let suffices = match profile {
                "profile:finance" => basis.is_some_and(|basis| agreed.contains(&basis)),
                "profile:consumer" => {
                    basis.is_some_and(|basis| agreed.contains(&basis) || lawful.contains(&basis))
                }
                _ => true,
            };
            for (what, make) in personal {
                let store = memory();
                let draft = make(fact("a datum").tag(profile));
                let draft = match basis {
                    Some(basis) => draft.set("processing_basis", basis),
                    None => draft,
                };
                store.put(draft).unwrap();
                store.put(given.clone()).unwrap();
                let (file, exported) = export(&store, Format::Jsonl, Purpose::Transfer);
                let shown = format!("{profile} {basis:?} {what}");
                assert_eq!(file.contains("a datum"), suffices, "{shown}");
                assert_eq!(exported.loss.is_empty(), suffices, "{shown}");
            }
        }
    }
    // Without a person there is nothing to protect.
    let store = memory();
    store.put(fact("a price").tag("profile:finance")).unwrap();
    assert!(leaves(&store, "a price", Purpose::Transfer));
}
