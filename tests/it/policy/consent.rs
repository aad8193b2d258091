//! Consent and its withdrawal (OMS 8.10): effects on reads and writes, and the erasures that
//! follow.

use grainstore::interchange::{ImportFile, ReadOptions};
use grainstore::ledger::{Kind, MemoryDisk};
use grainstore::policy::Rule;
use grainstore::store::Embedding;
use grainstore::store::{Authorization, RequiredConsent};
use grainstore::{ContentAddress, Draft, Filter, Search, Store};

use super::opened_at;
use grainstore::crypto::sign;

const OFFICE: Authorization<'static> = Authorization {
    reason: "the consent was withdrawn",
    authority: "the data protection officer",
};
const HOUR: i64 = 3_600_000;
const ALICE: &str = "did:web:alice.example";

fn memory() -> Store {
    opened_at(&MemoryDisk::default(), 1_000).0
}

fn consent(subject: &str, more: &str) -> Draft {
    let json = format!(
        r#"{{"type":"consent","subject_did":"{subject}","grantee_did":"did:web:acme.example",
            "scope":["store","retrieve"],"created_at":1{more}}}"#
    );
    Draft::from_json(&json).unwrap()
}

fn grant() -> Draft {
    consent(ALICE, r#","is_withdrawal":false"#)
}

fn withdrawal(of: ContentAddress) -> Draft {
    let more = format!(r#","is_withdrawal":true,"prior_consent":"{of}""#);
    consent(ALICE, &more)
}

fn fact(what: &str, basis: ContentAddress, more: &str) -> Draft {
    let json = format!(
        r#"{{"type":"belief","subject":"alice","relation":"likes","object":"{what}",
            "confidence":0.9,"created_at":1,"processing_basis":"{basis}"{more}}}"#
    );
    Draft::from_json(&json).unwrap()
}

fn sees(store: &Store, word: &str) -> bool {
    let found = store.search(word, &Filter::new(), 10).unwrap().total > 0;
    let all = Filter::new().with_superseded();
    let listed = store.query(&all, 100, None).unwrap().results;
    let listed = listed
        .iter()
        .any(|found| found.grain.text("object") == Some(word));
    assert_eq!(found, listed);
    found
}

#[test]
fn a_withdrawal_takes_effect_at_once_for_what_is_read_and_written() {
    let disk = MemoryDisk::default();
    let (store, _) = opened_at(&disk, 1_000);
    let consent = store.put(grant()).unwrap();
    let tea = store.put(fact("tea", consent, "")).unwrap();
    store
        .put(Draft::belief("bob", "likes", "milk").confidence(0.5))
        .unwrap();
    assert!(sees(&store, "tea"));
    let withdrawn = store.put(withdrawal(consent)).unwrap();
    assert!(!sees(&store, "tea") && sees(&store, "milk"));
    // Ruling I7: joined as a supersession joins them, and shown to a person.
    let status = store.status(&consent).unwrap();
    assert_eq!(status.superseded_by, Some(withdrawn));
    assert_eq!(
        store.admin().unwrap().reviews().unwrap()[0].operation,
        "supersede"
    );
    let denied = store.put(fact("cake", consent, "")).unwrap_err();
    assert_eq!(denied.code(), "ERR_CONSENT");
    let denied = store.supersede(&tea, fact("cake", consent, "").derived_from(tea), None);
    assert_eq!(denied.unwrap_err().code(), "ERR_CONSENT");
    drop(store);
    let (store, _) = opened_at(&disk, 1_000);
    assert!(!sees(&store, "tea"));
    assert!(store.put(fact("cake", consent, "")).is_err());
    assert!(store.exists(&consent).unwrap() && store.exists(&withdrawn).unwrap());
    assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
}

#[test]
fn a_withdrawal_that_comes_before_its_grant_waits_for_it() {
    let disk = MemoryDisk::default();
    let (store, _) = opened_at(&disk, 1_000);
    let early = grant().finish(Default::default()).unwrap();
    let withdrawn = store.put(withdrawal(early.address())).unwrap();
    drop(store);
    let (store, _) = opened_at(&disk, 1_000);
    let denied = store.put(fact("tea", early.address(), "")).unwrap_err();
    assert_eq!(denied.code(), "ERR_CONSENT", "already before it is here");
    store.put(early.clone()).unwrap();
    let status = store.status(&early.address()).unwrap();
    assert_eq!(status.superseded_by, Some(withdrawn));
    assert!(store.put(fact("tea", early.address(), "")).is_err());

    // In one batch, in either order.
    let other = consent(ALICE, r#","is_withdrawal":false,"jurisdiction":"eu""#);
    let other = other.finish(Default::default()).unwrap();
    let away = withdrawal(other.address())
        .finish(Default::default())
        .unwrap();
    let data = fact("cake", other.address(), "")
        .finish(Default::default())
        .unwrap();
    for batch in [
        [away.clone(), other.clone(), data.clone()],
        [other.clone(), away.clone(), data],
    ] {
        let refused = memory().put_batch(batch).unwrap_err();
        assert_eq!(refused.code(), "ERR_CONSENT");
    }
    for batch in [[away.clone(), other.clone()], [other.clone(), away.clone()]] {
        let store = memory();
        store.put_batch(batch).unwrap();
        let status = store.status(&other.address()).unwrap();
        assert_eq!(status.superseded_by, Some(away.address()));
    }
}

#[test]
fn nobody_withdraws_the_consent_of_another() {
    let store = memory();
    let consent_of_alice = store.put(grant()).unwrap();
    store.put(fact("tea", consent_of_alice, "")).unwrap();
    let more = format!(r#","is_withdrawal":true,"prior_consent":"{consent_of_alice}""#);
    store
        .put(consent("did:web:mallory.example", &more))
        .unwrap();
    assert!(sees(&store, "tea"));
    assert!(store.status(&consent_of_alice).unwrap().is_current());
    assert_eq!(store.admin().unwrap().pending_erasures().unwrap(), []);
}

#[test]
fn a_withdrawal_counts_from_the_person_the_writer_of_the_consent_and_the_owner() {
    let disk = MemoryDisk::default();
    let (store, _) = opened_at(&disk, 1_000);
    let handle = |name: &str| {
        let did = format!("did:web:{name}.example");
        store.as_actor(&did.parse().unwrap()).in_namespace("acme")
    };
    const WORDS: [&str; 5] = ["tea", "milk", "cake", "rice", "salt"];
    let dated = |purpose: &str| grant().set("jurisdiction", purpose);
    let mut grants = Vec::new();
    for purpose in WORDS {
        let grant = handle("shop").put(dated(purpose)).unwrap();
        store.put(fact(purpose, grant, "")).unwrap();
        grants.push(grant);
    }
    let of = |n: usize| withdrawal(grants[n]).namespace("acme");
    for (n, handle) in [(0, handle("rogue")), (1, store.in_namespace("acme"))] {
        let refused = handle.put(of(n)).unwrap_err();
        assert_eq!(refused.code(), "ERR_INVALIDATION_DENIED", "{refused}");
        let refused = handle.supersede(&grants[n], of(n), Some("x")).unwrap_err();
        assert_eq!(refused.code(), "ERR_INVALIDATION_DENIED", "{refused}");
    }
    handle("alice").put(of(2)).unwrap();
    handle("shop").put(of(3)).unwrap();
    store.put(of(4)).unwrap();
    let answers = |store: &Store| {
        let seen = WORDS.map(|word| sees(store, word));
        assert_eq!(seen, [true, true, false, false, false]);
    };
    answers(&store);
    drop(store);
    answers(&opened_at(&disk, 1_000).0);
}

#[test]
fn a_signature_of_the_person_withdraws_from_any_handle() {
    let store = memory();
    let key = crate::signing::key(grainstore::crypto::Algorithm::Ed25519, 1);
    let person = key.did();
    let by_shop = |draft: Draft| {
        let shop = store.as_actor(&"did:web:shop.example".parse().unwrap());
        shop.in_namespace("acme").put(draft).unwrap()
    };
    let given = consent(person.as_str(), r#","is_withdrawal":false"#);
    let given = by_shop(given);
    store.put(fact("tea", given, "")).unwrap();
    let more = format!(r#","is_withdrawal":true,"prior_consent":"{given}""#);
    let taken = consent(person.as_str(), &more).author(person.as_str());
    let taken = taken.to_be_signed().finish(Default::default()).unwrap();
    // A file does not prove its writer; a signature does.
    let taken = sign(taken, &key, &person, None).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.jsonl");
    let import = |grain: &grainstore::Grain| {
        let mut writer = grainstore::interchange::jsonl::Writer::new(Vec::new());
        writer.write(grain, &Default::default()).unwrap();
        std::fs::write(&path, writer.into_inner()).unwrap();
        let reading = ImportFile::open(&path, None, &ReadOptions::default()).unwrap();
        store.import(reading).unwrap()
    };
    let bare = consent(person.as_str(), &more).finish(Default::default());
    let summary = import(&bare.unwrap());
    let told = |(_, text): &(_, String)| text.contains("stored although it requires");
    assert!(summary.findings.iter().any(told), "{summary:?}");
    assert!(sees(&store, "tea"));
    assert_eq!(import(&taken).findings, []);
    assert!(!sees(&store, "tea"));
}

#[test]
fn a_withdrawal_of_an_agent_takes_nothing_from_an_unknown_consent() {
    let store = memory();
    let unknown = grant().finish(Default::default()).unwrap();
    let rogue = store
        .as_actor(&ALICE.parse().unwrap())
        .in_namespace("rogue");
    rogue.put(withdrawal(unknown.address())).unwrap();
    store.put(fact("tea", unknown.address(), "")).unwrap();
    assert!(sees(&store, "tea"));
    // It is the person's own, and counts once the consent says so (ruling I8).
    store.put(unknown).unwrap();
    assert!(!sees(&store, "tea"));
}

#[test]
fn what_rests_on_a_withdrawn_consent_is_due_within_a_day_and_erased_by_a_run() {
    let (store, clock) = opened_at(&MemoryDisk::default(), 1_000);
    let consent = store.put(grant()).unwrap();
    let cascade = r#","invalidation_policy":{"mode":"consent_cascade"}"#;
    let locked = r#","invalidation_policy":{"mode":"locked"}"#;
    let tea = store.put(fact("tea", consent, cascade)).unwrap();
    let cake = store.put(fact("cake", consent, locked)).unwrap();
    let other = store
        .put(Draft::belief("bob", "likes", "milk").confidence(0.5))
        .unwrap();
    assert_eq!(store.admin().unwrap().pending_erasures().unwrap(), []);
    clock.set(5_000);
    let withdrawn = store.put(withdrawal(consent)).unwrap();
    let due = store.admin().unwrap().pending_erasures().unwrap();
    let addresses: Vec<_> = due.iter().map(|due| due.address).collect();
    assert_eq!(addresses, [tea, cake]);
    assert_eq!((due[0].consent, due[0].withdrawal), (consent, withdrawn));
    assert_eq!(due[0].withdrawn_at.ms(), 5_000);
    assert_eq!(due[0].due_at.ms(), 5_000 + 24 * HOUR);
    assert_eq!(due[0].kept, None);

    let nobody = Authorization {
        reason: "",
        ..OFFICE
    };
    assert_eq!(
        store
            .admin()
            .unwrap()
            .run_consent_erasures(nobody)
            .unwrap_err()
            .code(),
        "ERR_AUTHORITY"
    );
    let done = store.admin().unwrap().run_consent_erasures(OFFICE).unwrap();
    assert_eq!((done.erased, done.kept), (vec![tea, cake], vec![]));
    assert!(!store.exists(&tea).unwrap() && store.exists(&other).unwrap());
    // OMS 8.10: both stay, and are not deleted by hand either.
    let asked = Authorization {
        reason: "asked",
        authority: "the office",
    };
    for kept in [consent, withdrawn] {
        let denied = store.admin().unwrap().delete(&kept, asked).unwrap_err();
        assert!(denied.to_string().contains("consent_kept"), "{denied}");
    }
    assert_eq!(store.admin().unwrap().pending_erasures().unwrap(), []);
    assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
}

#[test]
fn holds_and_retention_win_over_a_withdrawal() {
    let store = memory();
    let consent = store.put(grant()).unwrap();
    let own = r#","invalidation_policy":{"mode":"hold"}"#;
    let own = store.put(fact("tea", consent, own)).unwrap();
    let placed = store.put(fact("cake", consent, "")).unwrap();
    store.admin().unwrap().place_hold(&placed, OFFICE).unwrap();
    let retained = r#","retention_policy":{"minimum_retention_years":7}"#;
    let retained = store.put(fact("bills", consent, retained)).unwrap();
    store.put(withdrawal(consent)).unwrap();
    let kept = |due: &[grainstore::store::PendingErasure]| -> Vec<_> {
        due.iter().map(|due| (due.address, due.kept)).collect()
    };
    let expected = [
        (own, Some(Rule::Hold)),
        (placed, Some(Rule::LegalHold)),
        (retained, Some(Rule::Retention)),
    ];
    assert_eq!(
        kept(&store.admin().unwrap().pending_erasures().unwrap()),
        expected
    );
    let done = store.admin().unwrap().run_consent_erasures(OFFICE).unwrap();
    assert_eq!(
        (done.erased.len(), kept(&done.kept)),
        (0, expected.to_vec())
    );
    assert!(!sees(&store, "tea"), "kept is not shown");
    store.admin().unwrap().lift_hold(&own, OFFICE).unwrap();
    store.admin().unwrap().lift_hold(&placed, OFFICE).unwrap();
    assert_eq!(
        store
            .admin()
            .unwrap()
            .run_consent_erasures(OFFICE)
            .unwrap()
            .erased,
        [own, placed]
    );
    assert!(store.exists(&retained).unwrap());
}

#[test]
fn the_deadline_is_a_month_at_most_and_on_record() {
    let disk = MemoryDisk::default();
    let (store, _) = opened_at(&disk, 0);
    assert_eq!(
        store
            .admin()
            .unwrap()
            .set_consent_deadline(721, OFFICE)
            .unwrap_err()
            .code(),
        "ERR_RANGE"
    );
    store
        .admin()
        .unwrap()
        .set_consent_deadline(720, OFFICE)
        .unwrap();
    let consent = store.put(grant()).unwrap();
    store.put(fact("tea", consent, "")).unwrap();
    store.put(withdrawal(consent)).unwrap();
    drop(store);
    let (store, _) = opened_at(&disk, 0);
    assert_eq!(
        store.admin().unwrap().pending_erasures().unwrap()[0]
            .due_at
            .ms(),
        720 * HOUR
    );
    store
        .admin()
        .unwrap()
        .set_consent_deadline(1, OFFICE)
        .unwrap();
    assert_eq!(
        store.admin().unwrap().pending_erasures().unwrap()[0]
            .due_at
            .ms(),
        HOUR
    );
}

#[test]
fn a_renewed_consent_carries_what_rested_on_the_old_one_and_takes_it_along() {
    let store = memory();
    let first = store.put(grant()).unwrap();
    let tea = store.put(fact("tea", first, "")).unwrap();
    let more = format!(
        r#","is_withdrawal":false,"prior_consent":"{first}","supersession_justification":"renewed""#
    );
    let second = store
        .supersede(&first, consent(ALICE, &more), None)
        .unwrap();
    let cake = store.put(fact("cake", second, "")).unwrap();
    assert!(sees(&store, "tea"));
    store.supersede(&second, withdrawal(second), None).unwrap();
    assert!(!sees(&store, "tea") && !sees(&store, "cake"));
    let mut due: Vec<_> = store
        .admin()
        .unwrap()
        .pending_erasures()
        .unwrap()
        .iter()
        .map(|due| due.address)
        .collect();
    due.sort();
    let mut expected = [tea, cake];
    expected.sort();
    assert_eq!(due, expected);
    assert!(store.put(fact("milk", first, "")).is_err());
}

#[test]
fn an_import_brings_withdrawals_and_nothing_that_rests_on_them() {
    let store = memory();
    let consent = store.put(grant()).unwrap();
    store.put(fact("tea", consent, "")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.jsonl");
    let json = |draft: Draft| draft.finish(Default::default()).unwrap().to_json();
    let lines = [
        json(fact("cake", consent, "")),
        json(withdrawal(consent)),
        json(fact("milk", consent, "")),
    ];
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    let reading = ImportFile::open(&path, None, &ReadOptions::default()).unwrap();
    let summary = store.import(reading).unwrap();
    assert_eq!(summary.inserted, 2);
    assert_eq!(summary.refused[0].code(), "ERR_CONSENT");
    assert!(!sees(&store, "tea") && !sees(&store, "cake"));
    assert_eq!(store.admin().unwrap().pending_erasures().unwrap().len(), 2);
    // Ruling I4: what an import brings supersedes nothing.
    assert!(store.status(&consent).unwrap().is_current());
}

#[test]
fn what_may_not_be_read_shows_no_vector_and_is_on_no_agents_card() {
    let (store, _) = opened_at(&MemoryDisk::default(), 1_000);
    let agent = "did:web:agent.example";
    let can = |what: &str| {
        let draft = Draft::belief(agent, "mg:has_capability", what).confidence(1.0);
        let draft = draft.set("subject_did", ALICE);
        draft.namespace("agent:identity")
    };
    let grant = store.put(grant()).unwrap();
    let shown = store.put(can("sing").set("processing_basis", grant));
    let kept = store.put(can("spy"));
    let (shown, kept) = (shown.unwrap(), kept.unwrap());
    for address in [shown, kept] {
        store
            .put_embeddings(&[Embedding::new(address, "m", &[1.0, 0.0])])
            .unwrap();
    }
    assert_eq!(store.agent_card(agent).unwrap().capabilities.len(), 2);
    let read = RequiredConsent {
        read: true,
        write: false,
    };
    store
        .admin()
        .unwrap()
        .require_consent("agent", read, OFFICE)
        .unwrap();
    let card = store.agent_card(agent).unwrap();
    assert_eq!(card.capabilities.len(), 1);
    assert_eq!(card.capabilities[0].grain.address(), shown);
    assert!(store.embedding(&shown, "m").unwrap().is_some());
    let refused = store.embedding(&kept, "m").unwrap_err();
    assert_eq!(refused.code(), "ERR_CONSENT");
    let alike = store.find(&Search::like("m", kept).limit(9)).unwrap_err();
    assert_eq!(alike.code(), "ERR_CONSENT");
}

#[test]
fn a_namespace_may_demand_consent_for_writing_and_reading() {
    let disk = MemoryDisk::default();
    let (store, clock) = opened_at(&disk, 1_000);
    let clinic = r#","namespace":"clinic:notes""#;
    let before = store
        .put(Draft::event("ulcer").namespace("clinic"))
        .unwrap();
    let both = RequiredConsent {
        read: true,
        write: true,
    };
    let admin = store.admin().unwrap();
    admin.require_consent("clinic", both, OFFICE).unwrap();
    let window = r#","is_withdrawal":false,"valid_from":500,"valid_to":9000"#;
    let valid = store.put(consent(ALICE, window)).unwrap();
    let narrow = r#"{"type":"consent","subject_did":"did:web:a","grantee_did":"did:web:b",
        "scope":["share"],"created_at":1,"is_withdrawal":false}"#;
    let narrow = store.put(Draft::from_json(narrow).unwrap()).unwrap();
    let unknown = ContentAddress::of(b"no consent");
    for draft in [
        fact("gout", narrow, clinic),
        fact("gout", unknown, clinic),
        Draft::event("gout").namespace("clinic"),
        Draft::event("gout")
            .namespace("clinic")
            .set("processing_basis", "contract"),
    ] {
        assert_eq!(store.put(draft).unwrap_err().code(), "ERR_CONSENT");
    }
    let allowed = store.put(fact("gout", valid, clinic)).unwrap();
    store
        .put(Draft::event("elsewhere").namespace("clinics"))
        .unwrap();
    assert!(sees(&store, "gout"));
    assert_eq!(store.get(&before).unwrap_err().code(), "ERR_CONSENT");
    assert_eq!(store.search("ulcer", &Filter::new(), 10).unwrap().total, 0);
    assert!(store.get(&allowed).unwrap().is_some());
    clock.set(9_000);
    assert!(!sees(&store, "gout"));
    assert_eq!(
        store.get(&allowed).unwrap_err().code(),
        "ERR_CONSENT",
        "the window has closed"
    );
    assert!(store.put(fact("cough", valid, clinic)).is_err());
    drop(store);
    let (store, _) = opened_at(&disk, 1_000);
    assert_eq!(
        store.admin().unwrap().required_consent(),
        [("clinic".to_owned(), both)]
    );
    assert!(
        store.put(fact("cough", unknown, clinic)).is_err(),
        "it is in the ledger"
    );
    store
        .admin()
        .unwrap()
        .require_consent("clinic", RequiredConsent::default(), OFFICE)
        .unwrap();
    assert!(store.get(&before).unwrap().is_some());
    let recorded = store
        .maintenance()
        .unwrap()
        .index_snapshot()
        .of_kind(Kind::Policy)
        .rows()
        .unwrap();
    assert_eq!(recorded.len(), 2);
}

#[test]
fn a_history_shows_of_a_namespace_what_its_consents_allow() {
    let store = memory();
    let first = Draft::event("an ulcer").namespace("clinic");
    let first = store.put(first).unwrap();
    let valid = store.put(grant()).unwrap();
    let second = fact("gout", valid, r#","namespace":"clinic""#).derived_from(first);
    let second = store.supersede(&first, second, None).unwrap();
    let read = RequiredConsent {
        read: true,
        write: false,
    };
    assert_eq!(store.history(&second).unwrap().len(), 2);
    store
        .admin()
        .unwrap()
        .require_consent("clinic", read, OFFICE)
        .unwrap();
    let refused = store.history(&first).unwrap_err();
    assert_eq!(refused.code(), "ERR_CONSENT");
    let shown = store.history(&second).unwrap();
    let shown: Vec<_> = shown.iter().map(|one| one.grain.address()).collect();
    assert_eq!(shown, [second]);
    let handle = store.in_namespace("clinic");
    let grantee = "did:web:acme.example".parse().unwrap();
    let shown = handle.as_actor(&grantee).history(&second).unwrap();
    assert_eq!(shown.len(), 1);
    // Ruling P10: no consent is given to a handle without an actor.
    let refused = handle.history(&second).unwrap_err();
    assert_eq!(refused.code(), "ERR_CONSENT");
}

#[test]
fn a_consent_is_not_forgotten_with_what_it_rests_on() {
    let store = memory();
    let first = store.put(grant()).unwrap();
    let more = format!(r#","is_withdrawal":false,"processing_basis":"{first}""#);
    let resting = store.put(consent("did:web:bob.example", &more)).unwrap();
    let tea = store.put(fact("tea", first, "")).unwrap();
    store.put(withdrawal(first)).unwrap();
    let done = store.admin().unwrap().run_consent_erasures(OFFICE).unwrap();
    assert_eq!(done.erased, [tea]);
    for kept in [first, resting] {
        assert!(store.exists(&kept).unwrap());
    }
}

#[test]
fn a_namespace_is_its_name_and_not_its_hash() {
    // OMS 3.1.1: the header has two bytes of the namespace's hash, and others have the same two.
    let hash = |namespace: &str| {
        let draft = Draft::event("x").namespace(namespace);
        let grain = draft
            .created_at(grainstore::Time::from_ms(1))
            .finish(Default::default());
        grain.unwrap().blob()[3..5].to_vec()
    };
    let wanted = hash("clinic");
    let other = (0..)
        .map(|n| format!("n{n}"))
        .find(|name| hash(name) == wanted);
    let other = other.unwrap();
    let store = memory();
    let both = RequiredConsent {
        read: true,
        write: true,
    };
    store
        .admin()
        .unwrap()
        .require_consent("clinic", both, OFFICE)
        .unwrap();
    assert!(store.put(Draft::event("x").namespace("clinic")).is_err());
    let free = store.put(Draft::event("x").namespace(&other)).unwrap();
    assert!(store.get(&free).unwrap().is_some());
    let found = store
        .query(&Filter::new().namespace(&other), 10, None)
        .unwrap();
    assert_eq!(found.total, 1);
}

#[test]
fn what_may_be_stored_and_read_does_not_hang_on_header_bits() {
    // OMS 13.3: whoever wrote the header may have set its sensitivity to anything.
    let store = memory();
    let before = store
        .put(Draft::event("ulcer").namespace("clinic"))
        .unwrap();
    let both = RequiredConsent {
        read: true,
        write: true,
    };
    store
        .admin()
        .unwrap()
        .require_consent("clinic", both, OFFICE)
        .unwrap();
    let grain = Draft::event("gout").namespace("clinic");
    let grain = grain
        .created_at(grainstore::Time::from_ms(1))
        .finish(Default::default());
    let grain = grain.unwrap();
    for sensitivity in 0..4 {
        let mut blob = grain.blob().to_vec();
        blob[1] = (blob[1] & 0x3f) | (sensitivity << 6);
        let grain = grainstore::Grain::from_blob(blob, Default::default()).unwrap();
        assert_eq!(
            store.put(grain).unwrap_err().code(),
            "ERR_CONSENT",
            "{sensitivity}"
        );
    }
    assert_eq!(store.get(&before).unwrap_err().code(), "ERR_CONSENT");
}
