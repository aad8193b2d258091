//! A handle on one person: grains of others and of none are as not stored, at every question, and
//! every entry names its person and its token.

use grainstore::render::Format;
use grainstore::store::{AuditFilter, Justification};

use super::delegation::delegation;
use super::*;

fn texts(store: &Store) -> Vec<String> {
    let all = Filter::new().with_superseded();
    let found = store.query(&all, 99, None).unwrap().results.into_iter();
    let texts = found.filter_map(|it| it.grain.text("content").map(str::to_owned));
    texts.collect()
}

#[test]
fn a_handle_on_a_person_reads_and_writes_grains_of_that_person_only() {
    let store = memory();
    let (mira, noah) = (store.of_user("mira"), store.of_user("noah"));
    let own = mira.put(note("mine")).unwrap();
    let other = noah.put(note("of noah")).unwrap();
    let none = store.put(note("of none")).unwrap();
    assert_eq!(
        store.get(&own).unwrap().unwrap().text("user_id"),
        Some("mira")
    );
    assert_eq!(texts(&mira), ["mine"]);
    for address in [other, none] {
        assert_eq!(mira.get(&address).unwrap(), None);
        assert!(!mira.exists(&address).unwrap());
        assert_eq!(code(mira.status(&address)), "ERR_NOT_FOUND");
        assert_eq!(code(mira.contradict(&address, Some("no"))), "ERR_NOT_FOUND");
        let verified =
            mira.set_verification(&address, Verification::Retracted, Justification::default());
        assert_eq!(code(verified), "ERR_NOT_FOUND");
        let new = note("taken over").derived_from(address);
        assert_eq!(code(mira.supersede(&address, new, None)), "ERR_NOT_FOUND");
    }
    assert_eq!(code(mira.put(note("x").user("noah"))), "ERR_ACCESS_DENIED");
    let finished = note("x").created_at(grainstore::Time::from_ms(1));
    let finished = finished.finish(Default::default()).unwrap();
    assert_eq!(
        code(mira.put(finished)),
        "ERR_ACCESS_DENIED",
        "of no person"
    );
    let asks_of_noah = Filter::new().user("noah");
    assert_eq!(mira.query(&asks_of_noah, 9, None).unwrap().total, 0);
    assert_eq!(code(mira.admin().map(|_| ())), "ERR_ACCESS_DENIED");
    // Two persons are none, and a name in another form is the same.
    assert_eq!(texts(&mira.of_user("noah")), [""; 0]);
    let composed = store.of_user("Zo\u{eb}").put(note("hers")).unwrap();
    assert!(store.of_user("Zoe\u{308}").exists(&composed).unwrap());
}

#[test]
fn a_score_tells_a_person_nothing_of_others() {
    let (alone, shared) = (memory(), memory());
    for store in [&alone, &shared] {
        let mira = store.of_user("mira");
        for text in ["tea with milk", "coffee", "green tea"] {
            mira.put(note(text).created_at(grainstore::Time::from_ms(7)))
                .unwrap();
        }
    }
    for n in 0..50 {
        shared
            .of_user("noah")
            .put(note(&format!("tea {n}")))
            .unwrap();
    }
    let asked = |store: &Store| {
        let mira = store.of_user("mira");
        let found = mira.search("tea milk", &Filter::new(), 9).unwrap();
        let recalled = mira
            .recall("tea", &Filter::new(), &Default::default())
            .unwrap();
        let found = found.results.into_iter();
        let found: Vec<_> = found.map(|it| (it.grain.address(), it.score)).collect();
        let total = mira.query(&Filter::new(), 9, None).unwrap().total;
        (found, recalled.render(Format::Text), total)
    };
    assert_eq!(asked(&alone), asked(&shared));
}

#[test]
fn a_delegation_made_for_one_person_says_nothing_about_another() {
    let store = memory();
    let user = |user: &str, actor: &str| store.of_user(user).as_actor(&did(actor));
    let narrow = r#","authorized_namespaces":["shared"],"authorized_types":[1]"#;
    user("x", "a").put(delegation("a", "v", narrow)).unwrap();
    let event = || note("a note").namespace("shared");
    assert!(
        user("y", "v").put(event()).is_ok(),
        "x locks nobody of y out"
    );
    assert_eq!(code(user("x", "v").put(event())), "ERR_ACCESS_DENIED");

    // It permits nothing outside x either: the restriction of the operator stands.
    store
        .put(delegation(
            "operator",
            "w",
            r#","authorized_namespaces":["chat"]"#,
        ))
        .unwrap();
    let wide = r#","authorized_namespaces":["shared"]"#;
    user("x", "a").put(delegation("a", "w", wide)).unwrap();
    assert!(user("x", "w").put(event()).is_ok());
    assert_eq!(code(user("y", "w").put(event())), "ERR_ACCESS_DENIED");
}

#[test]
fn every_entry_names_its_author_its_person_and_its_token() {
    let store = memory();
    let capability = Capability::default().author(&did("phone")).of_user("mira");
    let handle = store
        .with_capability(capability.by_token("kitchen"))
        .unwrap();
    let address = handle.put(note("tea")).unwrap();
    let office = Authorization {
        reason: "asked for",
        authority: "mira",
    };
    let admin = store.admin().unwrap().on_behalf_of(&handle);
    admin.place_hold(&address, office).unwrap();
    admin.lift_hold(&address, office).unwrap();
    admin.delete(&address, office).unwrap();
    store.put(note("the owner's")).unwrap();
    let log = |by: &str| {
        let filter = AuditFilter {
            by: Some(by.to_owned()),
            ..AuditFilter::default()
        };
        let audit = store.maintenance().unwrap().audit();
        let entries = audit.log(&filter, None, 99).unwrap().into_iter();
        entries.map(|entry| entry.operation).collect::<Vec<_>>()
    };
    let own = ["store", "hold", "hold", "erase"];
    for name in [did("phone").as_str(), "mira", "kitchen"] {
        assert_eq!(log(name), own, "{name}");
    }
    assert_eq!(log(""), ["actor", "erased", "store"]);
    assert_eq!(log("nobody"), [""; 0]);
}
