//! The tables of rules: each cell that refuses refuses through the library, whatever else a grain
//! holds, and docs/policy.md shows the tables as the store has them.

use grainstore::Error;
use grainstore::interchange::{Format, ImportFile};
use grainstore::ledger::EntryId;
use grainstore::store::{ErasureScope, Person, describe_rules};
use serde_json::{Value, json};

use super::*;
use crate::attempts::{Door, Scene, Told, draft, every_refusal, file, finish};
use crate::random::cases;

#[test]
fn the_policy_page_shows_the_tables() {
    let page = include_str!("../../../docs/policy.md");
    for table in describe_rules() {
        assert!(page.contains(&table), "docs/policy.md lacks:\n\n{table}");
    }
}

/// The library, which has words for every column.
struct Library;

impl Door for Library {
    const SILENT: &'static [(&'static str, &'static str, &'static str)] = &[
        (
            "its signers are trusted",
            "an actor's version",
            "an exclusive rule names a namespace, and a PAM record has none",
        ),
        (
            "its signers are trusted",
            "the owner's version",
            "an exclusive rule names a namespace, and a PAM record has none",
        ),
        (
            "for a program, it is cleared",
            "an actor's version",
            "no foreign record waits for a review",
        ),
        (
            "the handle sees the grain",
            "an actor's version",
            "no foreign record has a guarded tag",
        ),
        (
            "the handle may write, and",
            "an actor's version",
            "a reader is refused with the record itself",
        ),
    ];

    fn empty(&mut self) -> Store {
        let options = Options {
            text: None,
            ..crate::sealing::options()
        };
        Store::in_memory(options).unwrap()
    }

    fn attempt(&mut self, column: &str, scene: &Scene, store: Store) -> (Told, Store) {
        let told = match column {
            "put"
            | "supersede"
            | "supersede by a stored grain"
            | "contradict"
            | "verify"
            | "an actor's file"
            | "an actor's version" => by_actor(column, scene, &store),
            _ => by_owner(column, scene, &store),
        };
        (told, store)
    }
}

fn by_actor(column: &str, scene: &Scene, store: &Store) -> Told {
    let capability = Capability::default().by_token("kitchen");
    let capability = capability.author(&scene.actor.parse().unwrap());
    let capability = scene
        .namespace
        .iter()
        .copied()
        .fold(capability, Capability::inside);
    let capability = match scene.may_write {
        true => capability,
        false => capability.role(Role::Reader),
    };
    let handle = store.with_capability(capability.clone()).unwrap();
    match column {
        "put" => {
            let alone = refusal(handle.put(draft(&scene.grain)));
            let innocent = capability.fill(note("innocent"));
            let batch = handle.put_batch([innocent, draft(&scene.grain)]);
            [alone, refusal(batch)].concat()
        }
        "contradict" => refusal(handle.contradict(&scene.target, None)),
        "verify" => {
            let word = match scene.old["type"] == "goal" {
                true => Verification::Verified,
                false => Verification::Retracted,
            };
            refusal(handle.set_verification(&scene.target, word, None))
        }
        "an actor's file" | "an actor's version" => {
            let handle = store.with_capability(capability.bringing_unauthored());
            imported(&handle.unwrap(), column, scene)
        }
        _ => refusal(handle.supersede(&scene.target, draft(&scene.grain), None)),
    }
}

fn by_owner(column: &str, scene: &Scene, store: &Store) -> Told {
    let admin = store.admin().unwrap();
    let why = Authorization {
        reason: scene.reason,
        authority: "the office",
    };
    match column {
        "delete" => refusal(admin.delete(&scene.target, why)),
        "erase" => {
            let person = Person::new(scene.old["user_id"].as_str().unwrap());
            refusal(admin.erase_person(&person, ErasureScope::default(), why))
        }
        "hold" => refusal(admin.place_hold(&scene.target, why)),
        "review" => refusal(admin.clear_review(EntryId::new(1), why)),
        "a setting" => refusal(admin.set_regimes(Vec::new(), why)),
        "a conflict" => refusal(admin.resolve_conflict(&finish(&scene.grain), None)),
        _ => imported(store, column, scene),
    }
}

fn refusal<T>(done: Result<T, Error>) -> Told {
    let code = done.map_or_else(|error| error.code().as_str(), |_| "stored");
    vec![code.to_owned()]
}

fn imported(handle: &Store, column: &str, scene: &Scene) -> Told {
    let (format, text) = scene.file(column);
    let mut file = file(&text, Format::named(format).unwrap());
    file.is_own = column == "a file's ending";
    let summary = match handle.import(file) {
        Ok(summary) => summary,
        Err(error) => return refusal::<()>(Err(error)),
    };
    let refused = summary.refused.iter().map(|it| it.code().as_str());
    let denied = summary.denied.iter().map(|(.., rule)| rule.name());
    let erased = summary.erased.iter().map(|_| "ERR_ERASED");
    let told: Vec<_> = refused.chain(denied).chain(erased).collect();
    match told.is_empty() && !summary.findings.is_empty() {
        true => vec!["noted".to_owned()],
        false => told.into_iter().map(str::to_owned).collect(),
    }
}

#[test]
fn every_cell_that_refuses_refuses_at_every_door_of_its_way() {
    for seed in 0..u64::from(cases(4)) {
        every_refusal(&mut Library, seed << 32);
    }
}

/// A store without a text view, which no rule asks.
fn memory() -> Store {
    let options = Options {
        text: None,
        ..Options::default()
    };
    Store::in_memory(options).unwrap()
}

fn belief(subject: &str, object: &str) -> Value {
    json!({"type": "belief", "subject": subject, "relation": "allergic_to", "object": object,
           "confidence": 0.9, "created_at": 5})
}

/// A grain with more members, or with others in place of its own.
fn with(mut grain: Value, members: Value) -> Value {
    if let (Some(grain), Value::Object(members)) = (grain.as_object_mut(), members) {
        grain.extend(members);
    }
    grain
}

fn owned_by(owner: &str) -> Value {
    json!({"type": "belief", "subject": "did:web:a.example", "object": owner,
        "relation": "mg:owned_by", "namespace": "agent:identity", "confidence": 1.0,
        "source_type": "system", "author_did": "did:web:operator.example",
        "structural_tags": ["legal:ownership", "mg:protected"],
        "owner": {"type": "org", "name": owner},
        "invalidation_policy": {"mode": "soft_locked", "scope": "lineage",
            "authorized": ["did:web:operator.example"]},
        "created_at": 5})
}

fn consent(members: Value) -> Draft {
    draft(&with(
        json!({"type": "consent", "subject_did": "did:web:ada.example", "scope": ["store"],
               "is_withdrawal": false, "grantee_did": "did:web:acme.example"}),
        members,
    ))
}

#[test]
fn a_supersession_ends_no_second_parent_that_is_locked() {
    let store = memory();
    let dust = store.put(draft(&belief("ada", "dust"))).unwrap();
    let nuts = with(
        belief("ada", "nuts"),
        json!({"invalidation_policy": {"mode": "locked", "authorized": ["did:web:ada"]}}),
    );
    let nuts = store.put(draft(&nuts)).unwrap();
    let new = with(
        belief("ada", "nothing"),
        json!({"derived_from": [dust.to_string(), nuts.to_string()]}),
    );
    assert_eq!(code(store.put(draft(&new))), "ERR_INVALIDATION_DENIED");
    for reason in [None, Some("she says so")] {
        let refused = store.supersede(&dust, draft(&new), reason);
        assert_eq!(code(refused), "ERR_INVALIDATION_DENIED");
    }
    let is_current = |address| store.status(address).unwrap().is_current();
    assert!(is_current(&dust) && is_current(&nuts));
    // A summary says why it is derived, and replaces nothing but what it supersedes.
    let summary = with(new, json!({"consolidation_level": 1}));
    store.supersede(&dust, draft(&summary), None).unwrap();
    assert!(!is_current(&dust) && is_current(&nuts));
}

#[test]
fn a_supersession_brings_no_second_claim_of_ownership() {
    let store = memory();
    let acme = store.put(draft(&owned_by("Acme"))).unwrap();
    let other = store.put(draft(&belief("ada", "dust"))).unwrap();
    let rogue = with(
        owned_by("Mallory"),
        json!({"derived_from": [other.to_string()]}),
    );
    let refused = store.supersede(&other, draft(&rogue), None);
    assert_eq!(code(refused), "ERR_INVALIDATION_DENIED");
    // The owner changes hands by a successor of the claim itself, as its policy permits.
    let next = with(
        owned_by("Beta"),
        json!({"derived_from": [acme.to_string()]}),
    );
    store.supersede(&acme, draft(&next), Some("sold")).unwrap();
    let card = store.agent_card("did:web:a.example").unwrap();
    let owner = card.owner.unwrap().grain;
    assert_eq!(owner.text("object"), Some("Beta"));
    assert_eq!(card.other_owners.len(), 0);
}

#[test]
fn a_file_of_a_handle_brings_what_the_handle_could_put_and_is_booked_on_it() {
    let store = memory();
    let grant = store.put(consent(json!({"created_at": 3}))).unwrap();
    let rogue = store.as_actor(&did("rogue")).in_namespace("acme");
    let lines = [
        json!({"type": "event", "content": "mine", "created_at": 5, "namespace": "acme",
               "author_did": "did:web:rogue.example"}),
        json!({"type": "event", "content": "of another author", "created_at": 6,
               "namespace": "acme", "author_did": "did:web:victim.example"}),
        json!({"type": "event", "content": "of another namespace", "created_at": 7,
               "author_did": "did:web:rogue.example", "namespace": "victim"}),
        json!({"type": "event", "content": "guarded", "created_at": 8, "namespace": "acme",
               "author_did": "did:web:rogue.example", "structural_tags": ["phi:mrn"]}),
        json!({"type": "consent", "subject_did": "did:web:ada.example", "namespace": "acme",
               "author_did": "did:web:rogue.example", "grantee_did": "did:web:acme.example",
               "scope": ["store"], "is_withdrawal": true, "prior_consent": grant.to_string(),
               "created_at": 9}),
    ];
    let lines = lines.map(|line| line.to_string()).join("\n");
    let file = ImportFile::of_bytes(lines.as_bytes(), Some(Format::Jsonl), &Default::default());
    let summary = rogue.import(file.unwrap()).unwrap();
    assert_eq!(
        (summary.inserted, summary.refusals()),
        (1, 4),
        "{summary:?}"
    );
    let found = store.query(&Filter::new(), 9, None).unwrap();
    assert_eq!(found.total, 2, "the grant and the handle's own event");
    let audit = store.maintenance().unwrap().audit();
    let audit = audit.log(&Default::default(), None, 99).unwrap();
    let by: Vec<_> = audit.iter().filter_map(|it| it.by.as_deref()).collect();
    assert_eq!(
        by.len(),
        6,
        "the grain, four refusals, the import: {audit:?}"
    );
    assert!(by.iter().all(|by| *by == "did:web:rogue.example"));
}
