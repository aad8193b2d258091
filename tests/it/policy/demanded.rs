//! A consent that a namespace demands binds the person and the party (OMS 8.10, ruling P10).

use grainstore::crypto::{Algorithm, Did, SigningKey, sign};
use grainstore::grain::Verification;
use grainstore::interchange::{ImportFile, ReadOptions};
use grainstore::store::{Authorization, RequiredConsent, Summary};
use grainstore::{ContentAddress, Draft, Filter, Grain, Options, Store, Time};

use crate::signing::key;

const OFFICE: Authorization<'static> = Authorization {
    reason: "patients are protected",
    authority: "the office",
};
const ADA: &str = "did:web:ada.example";
const BOB: &str = "did:web:bob.example";

fn did(text: &str) -> Did {
    text.parse().unwrap()
}

fn nurse() -> Did {
    did("did:web:nurse.example")
}

fn clinic() -> Store {
    let store = Store::in_memory(Options::default()).unwrap();
    let both = RequiredConsent {
        read: true,
        write: true,
    };
    let admin = store.admin().unwrap();
    admin.require_consent("clinic", both, OFFICE).unwrap();
    store
}

fn grant(person: &str, grantee: &str) -> Draft {
    let draft = Draft::consent(person, grantee, ["store", "retrieve"]);
    draft.created_at(Time::from_ms(1))
}

fn note(basis: ContentAddress) -> Draft {
    let draft = Draft::event("a fever").namespace("clinic");
    draft
        .set("processing_basis", basis)
        .created_at(Time::from_ms(2))
}

fn about(person: &str, basis: ContentAddress) -> Draft {
    note(basis).set("subject_did", person)
}

#[test]
fn a_consent_is_of_the_person_whom_the_grain_is_about() {
    let store = clinic();
    let consent = store.put(grant(ADA, nurse().as_str())).unwrap();
    let handle = store.as_actor(&nurse());
    let code = |draft: Draft| handle.put(draft).map_err(|error| error.code().as_str());
    for refused in [
        about(BOB, consent),
        note(consent).user(BOB),
        note(consent).set("subject", BOB),
        // What is said of Ada elsewhere does not count: the person concerned is named first.
        about(BOB, consent).user(ADA),
        note(consent),
        note(consent).user("ada"),
    ] {
        let shown = format!("{refused:?}");
        assert_eq!(code(refused), Err("ERR_CONSENT"), "{shown}");
    }
    for accepted in [
        about(ADA, consent),
        note(consent).user(ADA),
        note(consent).set("subject", format!("{ADA}#me")),
    ] {
        let stored = code(accepted).unwrap();
        assert!(handle.get(&stored).unwrap().is_some());
    }
    // The owner answers for a grain that names no person, and for no other person's.
    assert!(store.put(note(consent)).is_ok());
    assert_eq!(
        store.put(about(BOB, consent)).unwrap_err().code(),
        "ERR_CONSENT"
    );
}

#[test]
fn a_consent_is_given_to_the_party_that_stores_and_reads() {
    let store = clinic();
    let consent = store.put(grant(ADA, nurse().as_str())).unwrap();
    let stored = store.as_actor(&nurse()).put(about(ADA, consent)).unwrap();
    let shows = |handle: &Store| {
        let read = handle.get(&stored).map(|grain| grain.is_some());
        let found = handle
            .query(&Filter::new().namespace("clinic"), 9, None)
            .unwrap();
        let listed = found.results.len() == 1;
        assert_eq!(read.is_ok_and(|found| found), listed);
        assert_eq!(handle.history(&stored).is_ok(), listed);
        listed
    };
    assert!(shows(&store) && shows(&store.as_actor(&nurse())));
    let others = [
        store.as_actor(&did("did:web:insurer.example")),
        store.in_namespace("clinic"),
        store.read_only(),
    ];
    for other in others {
        assert!(!shows(&other), "{:?}", other.capability());
        let refused = other.put(about(ADA, consent).set("n", 1)).unwrap_err();
        let codes = ["ERR_CONSENT", "ERR_ACCESS_DENIED"];
        assert!(codes.contains(&refused.code().as_str()), "{refused}");
    }
}

#[test]
fn an_agent_does_not_write_the_consent_that_it_relies_on() {
    let ada: SigningKey = key(Algorithm::Ed25519, 9);
    let person = ada.did().to_string();
    let store = clinic();
    let agent = store.as_actor(&nurse());
    let relied = |consent| agent.put(about(&person, consent).set("n", consent));
    let own = agent.put(grant(&person, nurse().as_str())).unwrap();
    assert_eq!(relied(own).unwrap_err().code(), "ERR_CONSENT");
    // In one batch with what rests on it, and through a handle without a name.
    let draft = || grant(&person, nurse().as_str()).set("n", 2);
    let pending = draft()
        .author(nurse().as_str())
        .finish(Default::default())
        .unwrap();
    let resting = about(&person, pending.address()).author(nurse().as_str());
    let resting = resting.finish(Default::default()).unwrap();
    assert!(agent.put_batch([pending, resting]).is_err());
    let unnamed = store.in_namespace("clinic");
    let refused = unnamed.put(draft().namespace("clinic")).unwrap_err();
    assert!(refused.to_string().contains("author"), "{refused}");
    // Nor does it widen one that the owner put.
    let owners = store.put(grant(&person, "did:web:doctor.example")).unwrap();
    let renewed = format!(
        r#"{{"type":"consent","subject_did":"{person}","grantee_did":"{}","scope":["store"],
            "is_withdrawal":false,"created_at":3,"prior_consent":"{owners}",
            "supersession_justification":"renewed"}}"#,
        nurse()
    );
    let renewed = Draft::from_json(&renewed).unwrap();
    let renewed = agent.supersede(&owners, renewed, Some("renewed")).unwrap();
    for consent in [owners, renewed] {
        assert_eq!(relied(consent).unwrap_err().code(), "ERR_CONSENT");
    }
    // A consent that its subject signed counts from any handle.
    let signed = grant(&person, nurse().as_str())
        .set("n", 3)
        .author(nurse().as_str());
    let signed = signed.to_be_signed().finish(Default::default()).unwrap();
    let rule = {
        let mut rule = grainstore::policy::TrustRule::new(ada.did());
        rule.authors.push(nurse().to_string());
        rule
    };
    store.admin().unwrap().trust(rule, "a patient").unwrap();
    let signed = sign(signed, &ada, &ada.did(), None).unwrap();
    let signed = agent.put(signed).unwrap();
    assert!(relied(signed).is_ok());
}

#[test]
fn a_consent_counts_from_its_first_moment_and_a_withdrawal_is_none() {
    let store = Store::in_memory(crate::store::at(1_000).0).unwrap();
    let both = RequiredConsent {
        read: true,
        write: true,
    };
    let admin = store.admin().unwrap();
    admin.require_consent("clinic", both, OFFICE).unwrap();
    let from = |ms: i64| grant(ADA, nurse().as_str()).valid_from(Time::from_ms(ms));
    let now = store.put(from(1_000)).unwrap();
    let later = store.put(from(1_001)).unwrap();
    assert!(store.put(about(ADA, now)).is_ok());
    assert_eq!(
        store.put(about(ADA, later)).unwrap_err().code(),
        "ERR_CONSENT"
    );
    let away = grant(ADA, nurse().as_str())
        .set("is_withdrawal", true)
        .set("prior_consent", ContentAddress::of(b"another"));
    let away = store.put(away).unwrap();
    assert_eq!(
        store.put(about(ADA, away)).unwrap_err().code(),
        "ERR_CONSENT"
    );
    // A grain of another type with the members of a consent is none.
    let fake = Draft::event("x")
        .set("subject_did", ADA)
        .set("grantee_did", nurse().as_str())
        .set("scope", vec!["store", "retrieve"])
        .set("is_withdrawal", false);
    let fake = store.put(fake).unwrap();
    assert_eq!(
        store.put(about(ADA, fake)).unwrap_err().code(),
        "ERR_CONSENT"
    );
}

/// Imports JSON lines: grains, and of the first perhaps that it is verified.
fn import(store: &Store, grains: &[&Grain], verified: Option<&Grain>) -> Summary {
    let mut lines: Vec<_> = grains.iter().map(|grain| grain.to_json()).collect();
    if let Some(grain) = verified {
        let of = grain.address();
        let status = format!(r#"{{"status":{{"of":"{of}","verification_status":"verified"}}}}"#);
        lines.insert(1, status);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.jsonl");
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    let reading = ImportFile::open(&path, None, &ReadOptions::default()).unwrap();
    store.import(reading).unwrap()
}

fn finished(draft: Draft) -> Grain {
    draft.finish(Default::default()).unwrap()
}

#[test]
fn a_consent_in_a_file_counts_for_nothing_until_the_owner_verifies_it() {
    let store = clinic();
    let agent = store.as_actor(&nurse());
    let consent = finished(grant(ADA, nurse().as_str()));
    let resting = finished(about(ADA, consent.address()).author(nurse().as_str()));
    // Nor does the file say of itself that the owner verified it.
    for verified in [None, Some(&consent)] {
        let summary = import(&store, &[&consent, &resting], verified);
        assert_eq!(summary.refused[0].code(), "ERR_CONSENT", "{summary:?}");
        assert!(!store.exists(&resting.address()).unwrap());
        let refused = agent.put(resting.clone()).unwrap_err();
        assert_eq!(refused.code(), "ERR_CONSENT");
    }
    let verify = |handle: &Store| {
        handle.set_verification(&consent.address(), Verification::Verified, Some("seen"))
    };
    let refused = verify(&agent).unwrap_err();
    assert_eq!(refused.code(), "ERR_ACCESS_DENIED");
    assert!(agent.put(resting.clone()).is_err());
    verify(&store).unwrap();
    assert_eq!(import(&store, &[&consent, &resting], None).inserted, 1);
    assert!(agent.get(&resting.address()).unwrap().is_some());
}

#[test]
fn a_signed_consent_in_a_file_counts_at_once() {
    let ada: SigningKey = key(Algorithm::Ed25519, 9);
    let store = clinic();
    let consent = grant(ada.did().as_str(), nurse().as_str()).to_be_signed();
    let consent = sign(finished(consent), &ada, &ada.did(), None).unwrap();
    let resting = finished(about(ada.did().as_str(), consent.address()));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.jsonl");
    let mut writer = grainstore::interchange::jsonl::Writer::new(Vec::new());
    for grain in [&consent, &resting] {
        writer.write(grain, &Default::default()).unwrap();
    }
    std::fs::write(&path, writer.into_inner()).unwrap();
    let reading = ImportFile::open(&path, None, &ReadOptions::default()).unwrap();
    assert_eq!(store.import(reading).unwrap().inserted, 2);
    assert!(store.as_actor(&nurse()).get(&resting.address()).is_ok());
}

#[test]
fn a_file_does_not_verify_its_own_withdrawal() {
    // Ruling I7: for a grant that an agent stored, one in a file counts once the owner verifies it.
    let store = Store::in_memory(Options::default()).unwrap();
    let shop = store.as_actor(&nurse());
    let consent = shop.put(grant(ADA, nurse().as_str())).unwrap();
    let resting = note(consent).namespace("shop");
    let resting = store.put(resting).unwrap();
    let away = grant(ADA, nurse().as_str()).set("is_withdrawal", true);
    let away = finished(away.set("prior_consent", consent));
    import(&store, &[&away], Some(&away));
    let verify = |handle: &Store| {
        handle.set_verification(&away.address(), Verification::Verified, Some("seen"))
    };
    assert_eq!(verify(&shop).unwrap_err().code(), "ERR_ACCESS_DENIED");
    assert!(shop.get(&resting).is_ok());
    verify(&store).unwrap();
    assert_eq!(shop.get(&resting).unwrap_err().code(), "ERR_CONSENT");
}

#[test]
fn the_path_the_query_and_the_fragment_of_a_did_url_are_no_part_of_the_party() {
    // DID Core 3.2: a DID URL is a DID, then a path, a query and a fragment.
    for url in ["", "#key-1", "?service=files", "/notes", "/notes?a=b#c"] {
        let store = Store::in_memory(Options::default()).unwrap();
        let consent = store.put(grant(ADA, nurse().as_str())).unwrap();
        let resting = store.put(note(consent)).unwrap();
        let away = Draft::consent(format!("{ADA}{url}"), nurse().as_str(), ["store"]);
        let away = away
            .set("is_withdrawal", true)
            .set("prior_consent", consent);
        let away = finished(away.created_at(Time::from_ms(3)));
        assert_eq!(store.warnings(&away).unwrap(), [], "{url}");
        store
            .as_actor(&did(ADA))
            .put(away.clone())
            .unwrap_or_else(|_| store.put(away.clone()).unwrap());
        let shown = store.as_actor(&nurse()).get(&resting);
        assert_eq!(shown.unwrap_err().code(), "ERR_CONSENT", "{url}");
        // Another party is another party, however much of its name is the same.
        let store = Store::in_memory(Options::default()).unwrap();
        let consent = store
            .put(grant(&format!("{ADA}.org"), nurse().as_str()))
            .unwrap();
        let resting = store.put(note(consent)).unwrap();
        let away = away_of(&away, consent);
        store.put(away).unwrap();
        assert!(store.as_actor(&nurse()).get(&resting).unwrap().is_some());
    }
}

fn away_of(grain: &Grain, consent: ContentAddress) -> Draft {
    let draft = Draft::from_json(&grain.to_json()).unwrap();
    draft.set("prior_consent", consent)
}

#[test]
fn a_batch_of_reads_names_the_grain_that_it_may_not_show() {
    let store = clinic();
    let agent = store.as_actor(&nurse());
    let consent = store.put(grant(ADA, nurse().as_str())).unwrap();
    let mine = agent.put(about(ADA, consent)).unwrap();
    let bobs = store.put(grant(BOB, "did:web:doctor.example")).unwrap();
    let bobs = store.put(about(BOB, bobs)).unwrap();
    let batch = agent.get_batch(&[mine, ContentAddress::of(b"absent"), mine]);
    let there: Vec<_> = batch.unwrap().iter().map(Option::is_some).collect();
    assert_eq!(there, [true, false, true]);
    let refused = agent.get_batch(&[mine, bobs, mine]).unwrap_err();
    assert_eq!(refused.code(), "ERR_CONSENT");
    assert!(refused.to_string().contains(&bobs.to_string()), "{refused}");
    assert!(refused.to_string().contains("grain 1"), "{refused}");
}
