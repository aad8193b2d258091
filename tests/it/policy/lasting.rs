//! Protected grains and unattended background work (AIMEM 5).

use grainstore::codec::Value;
use grainstore::grain::{Grain, Verification};
use grainstore::interchange::{ImportFile, ReadOptions, aimem};
use grainstore::policy::{Capability, Role, Rule};
use grainstore::store::{Authorization, Error};
use grainstore::{ContentAddress, Draft, Filter, Options, Store};

/// A store with a memory of each kind; the fact is pinned.
fn store() -> Store {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bundle.json");
    let bundle = Value::Map(crate::aimem::sample());
    std::fs::write(&path, bundle.to_json()).unwrap();
    let reading = ImportFile::open(&path, None, &ReadOptions::default()).unwrap();
    assert!(reading.errors.is_empty(), "{:?}", reading.errors);
    let store = Store::in_memory(Options::default()).unwrap();
    store.import(reading).unwrap();
    store
}

/// The grain whose content is this.
fn grain(store: &Store, content: &str) -> ContentAddress {
    let found = store.query(&Filter::new(), 99, None).unwrap().results;
    let says = |field: &str, grain: &Grain| grain.text(field) == Some(content);
    let mut found = found.into_iter().filter(|one| {
        let is_chunk = aimem::residual(&one.grain).is_some();
        let mut fields = ["content", "object", "description"].into_iter();
        is_chunk && fields.any(|field| says(field, &one.grain))
    });
    found.next().unwrap().address
}

fn instead(of: ContentAddress) -> Draft {
    Draft::event("a summary").derived_from(of)
}

#[test]
fn work_that_nobody_asked_for_leaves_what_is_to_last_as_it_is() {
    let store = store();
    let job: Store = store
        .with_capability(Capability::default().role(Role::Job).cleared_for("phi"))
        .unwrap();
    // AIMEM 5, by name.
    let lasting = [
        "fact",
        "preference",
        "decision",
        "identity",
        "pitfall",
        "procedure",
    ];
    let lasting = lasting.map(|said| (grain(&store, said), said));
    for (address, said) in &lasting {
        let tried: [Result<(), Error>; 3] = [
            job.supersede(address, instead(*address), Some("old"))
                .map(drop),
            job.contradict(address, Some("old")),
            job.set_verification(address, Verification::Retracted, Some("old")),
        ];
        for tried in tried {
            let error = tried.unwrap_err();
            let is_rule = matches!(
                &error,
                Error::Denied {
                    rule: Rule::Lasting,
                    ..
                }
            );
            assert!(
                is_rule && error.to_string().contains("AIMEM 5"),
                "{said}: {error}"
            );
        }
        assert_eq!(store.status(address).unwrap(), Default::default());
        // It may be summed up.
        job.put(instead(*address).set("consolidation_level", 1))
            .unwrap();
    }
    for said in ["episodic", "goal"] {
        let fleeting = grain(&store, said);
        job.supersede(&fleeting, instead(fleeting), None).unwrap();
    }
    // Whoever asks for more gets it.
    let [(first, _), rest @ ..] = lasting;
    store
        .supersede(&first, instead(first), Some("asked"))
        .unwrap();
    let asked = Authorization {
        reason: "asked by the user",
        authority: "the user",
    };
    for (address, _) in rest {
        store.admin().unwrap().delete(&address, asked).unwrap();
    }
}

#[test]
fn only_a_chunk_of_a_lasting_kind_is_kept_from_unattended_work() {
    let store = Store::in_memory(Options::default()).unwrap();
    let job: Store = store
        .with_capability(Capability::default().role(Role::Job))
        .unwrap();
    let agent: Store = store.with_capability(Capability::default()).unwrap();
    let record = |json: &str| grainstore::codec::Map::from_iter([("x-aimem", json)]);
    let preference = || record(r#"{"memory_type":"preference"}"#);
    let belief = |relation: &str| Draft::belief("a", relation, "b").confidence(1.0);
    let contradicted = |draft: Draft, by: &Store| {
        let address = store.put(draft).unwrap();
        by.contradict(&address, Some("old")).is_ok()
    };
    assert!(!contradicted(
        belief("likes").set("context", preference()),
        &job
    ));
    assert!(!contradicted(
        Draft::event("x").set("context", preference()),
        &job
    ));
    for free in [
        belief("likes"),
        belief("drinks").set("context", record(r#"{"is_pinned":false}"#)),
        belief("eats").set("context", record(r#"{"memory_type":"episodic"}"#)),
        // Not chunks, whatever their record says.
        belief("aimem:edge:knows").set("context", preference()),
        belief("aimem:entity").set("context", preference()),
        belief("aimem:mentions").set("context", preference()),
        Draft::state(preference()),
    ] {
        assert!(contradicted(free.clone(), &job), "{free:?}");
    }
    // An agent that acts on a request is not unattended work.
    assert!(contradicted(
        belief("reads").set("context", preference()),
        &agent
    ));
}
