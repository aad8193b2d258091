//! The table of rules × ways in: each cell that refuses refuses at every door of that way, whatever
//! else a grain holds, and docs/policy.md shows the table as the store has it.

use grainstore::interchange::{Format, ImportFile, ReadOptions};
use grainstore::policy::Regime;
use grainstore::store::{RequiredConsent, Summary, describe_rules};
use grainstore::{Error, Grain};
use serde_json::{Value, json};

use super::delegation::delegation;
use super::*;
use crate::random::cases;

const OFFICE: Authorization<'static> = Authorization {
    reason: "a test",
    authority: "the office",
};

#[test]
fn the_policy_page_shows_the_tables() {
    let page = include_str!("../../../docs/policy.md");
    for table in describe_rules() {
        assert!(page.contains(&table), "docs/policy.md lacks:\n\n{table}");
    }
}

/// A store, a handle on it, and a grain that violates a rule there.
struct Attempt {
    store: Store,
    handle: Store,
    grain: Value,
}

/// A rule by the words of its row, and a grain that violates it.
struct Violation {
    rule: &'static str,
    make: fn() -> Attempt,
}

/// A store without a text view, which no rule asks.
fn memory() -> Store {
    let options = Options {
        text: None,
        ..Options::default()
    };
    Store::in_memory(options).unwrap()
}

fn attempt(store: Store, handle: Store, grain: Value) -> Attempt {
    Attempt {
        store,
        handle,
        grain,
    }
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

fn draft(grain: &Value) -> Draft {
    Draft::from_json(&grain.to_string()).unwrap()
}

const VIOLATIONS: &[Violation] = &[
    Violation {
        rule: "the handle may write it",
        make: || {
            let store = memory();
            let grain = with(belief("ada", "dust"), json!({"namespace": "acme:payroll"}));
            attempt(store.clone(), bot(&store), grain)
        },
    },
    Violation {
        rule: "it was not deleted here",
        make: || {
            let store = memory();
            attempt(store.clone(), store, belief("ada", "dust"))
        },
    },
    Violation {
        rule: "an ownership claim is well formed",
        make: || {
            let store = memory();
            let grain = json!({"type": "belief", "subject": "did:web:a.example", "object": "Mallory",
                "relation": "mg:owned_by", "namespace": "agent:identity", "confidence": 1.0,
                "created_at": 5});
            attempt(store.clone(), store, grain)
        },
    },
    Violation {
        rule: "an ownership claim is stronger",
        make: || {
            let store = memory();
            store.put(draft(&owned_by("Acme"))).unwrap();
            attempt(store.clone(), store, owned_by("Mallory"))
        },
    },
    Violation {
        rule: "it replaces no current parent",
        make: || {
            let store = memory();
            let nuts = with(
                belief("ada", "nuts"),
                json!({"invalidation_policy": {"mode": "locked", "authorized": ["did:web:ada"]}}),
            );
            let locked = store.put(draft(&nuts)).unwrap();
            let grain = with(
                belief("ada", "nothing"),
                json!({"derived_from": [locked.to_string()]}),
            );
            attempt(store.clone(), store, grain)
        },
    },
    Violation {
        rule: "the delegations of its author cover it",
        make: || {
            let store = memory();
            let narrow = r#","authorized_namespaces":["acme:chat"],"delegation_depth":0"#;
            store.put(delegation("a", "b", narrow)).unwrap();
            let grain = with(
                belief("ada", "dust"),
                json!({"author_did": "did:web:b.example", "namespace": "acme:pay"}),
            );
            attempt(store.clone(), store.as_actor(&did("b")), grain)
        },
    },
    Violation {
        rule: "the regimes in force permit it",
        make: || {
            let store = memory();
            let pci = Regime::preset("pci").unwrap();
            store
                .admin()
                .unwrap()
                .set_regimes(vec![pci], OFFICE)
                .unwrap();
            let grain = with(
                belief("ada", "dust"),
                json!({"structural_tags": ["pci:cvv"]}),
            );
            attempt(store.clone(), store, grain)
        },
    },
    Violation {
        rule: "a goal starts after those it depends on",
        make: || {
            let store = memory();
            let first = json!({"type": "goal", "description": "first", "goal_state": "active",
                "created_at": 3});
            let first = store.put(draft(&first)).unwrap();
            let grain = json!({"type": "goal", "description": "second", "goal_state": "active",
                "created_at": 5, "depends_on": [first.to_string()]});
            attempt(store.clone(), store, grain)
        },
    },
    Violation {
        rule: "a Consent comes from one who may",
        make: || {
            let store = memory();
            // A file takes no consent from the agent that brought it.
            let clerk = store.as_actor(&did("clerk"));
            let grant = clerk.put(consent(json!({"created_at": 3}))).unwrap();
            let withdrawal = json!({"type": "consent", "subject_did": "did:web:ada.example",
                "grantee_did": "did:web:acme.example", "scope": ["store"], "is_withdrawal": true,
                "prior_consent": grant.to_string(), "author_did": "did:web:rogue.example",
                "created_at": 5});
            attempt(store.clone(), store.as_actor(&did("rogue")), withdrawal)
        },
    },
    Violation {
        rule: "the consent it rests on is in force",
        make: || {
            let store = memory();
            let both = RequiredConsent {
                read: true,
                write: true,
            };
            let admin = store.admin().unwrap();
            admin.require_consent("clinic", both, OFFICE).unwrap();
            let grain = with(belief("ada", "dust"), json!({"namespace": "clinic"}));
            attempt(store.clone(), store, grain)
        },
    },
];

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

/// The doors of each way, in the order of the columns of the table.
const DOORS: [(&str, usize); 5] = [
    ("put", 0),
    ("put_batch", 0),
    ("supersede", 1),
    ("import by the owner", 3),
    ("import by the handle", 4),
];

/// Proposes the grain at a door. Returns the refusal, or for a file its summary.
fn propose(at: &str, attempt: &Attempt, grain: &Value) -> Result<Option<Summary>, Error> {
    let (store, handle) = (&attempt.store, &attempt.handle);
    let read = |store: &Store| {
        let line = grain.to_string();
        let options = ReadOptions::default();
        let file = ImportFile::of_bytes(line.as_bytes(), Some(Format::Jsonl), &options).unwrap();
        assert!(file.errors.is_empty(), "{:?}", file.errors);
        store.import(file).map(Some)
    };
    match at {
        "put" => handle.put(draft(grain)).map(|_| None),
        "put_batch" => {
            let innocent = match handle.capability() {
                Some(capability) => capability.fill(note("innocent")),
                None => note("innocent"),
            };
            handle.put_batch([innocent, draft(grain)]).map(|_| None)
        }
        "supersede" => {
            let old = grain["derived_from"].as_array().unwrap().last().unwrap();
            let old = old.as_str().unwrap().parse().unwrap();
            let done = handle.supersede(&old, draft(grain), None);
            let status = store.status(&old).unwrap();
            assert_eq!(status.is_current(), done.is_err(), "the old one");
            done.map(|_| None)
        }
        "import by the owner" => read(store),
        _ => read(handle),
    }
}

/// Members that change nothing of the violation.
fn decoration() -> impl Strategy<Value = Value> {
    let tags = proptest::collection::vec("[a-z]{3}:[a-z]{2,5}", 0..3);
    (
        tags,
        "[a-z ]{0,12}",
        6..2_000_000_000_000_i64,
        any::<bool>(),
    )
        .prop_map(|(tags, text, at, is_reasoned)| {
            let mut members = json!({"created_at": at, "app_note": text});
            if !tags.is_empty() {
                members["semantic_tags"] = json!(tags);
            }
            if is_reasoned {
                members["app_reason"] = json!("because");
            }
            members
        })
}

fn effect(rule: &str, column: usize) -> String {
    let [table, _] = describe_rules();
    let row = table.lines().find(|line| line.contains(rule)).unwrap();
    row.split(" | ").nth(column + 1).unwrap().trim().to_owned()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(12)))]

    #[test]
    fn every_cell_that_refuses_refuses_at_every_door_of_its_way(members in decoration()) {
        for violation in VIOLATIONS {
            for (door, column) in DOORS {
                let effect = effect(violation.rule, column);
                let attempt = (violation.make)();
                // A file of the owner is not judged by what a handle may.
                if effect == "–" {
                    continue;
                }
                let mut grain = with(attempt.grain.clone(), members.clone());
                if door == "import by the handle" && attempt.handle.capability().is_none() {
                    continue;
                }
                if door == "supersede" {
                    let parents = grain["derived_from"].as_array().cloned().unwrap_or_default();
                    let old = replaced_by(&attempt, &grain);
                    let old = json!(old.to_string());
                    grain["derived_from"] = json!([parents, vec![old]].concat());
                }
                let finished = finish(&attempt, &grain);
                let address = finished.address();
                if violation.rule == "it was not deleted here" {
                    attempt.store.put(finished.clone()).unwrap();
                    attempt.store.admin().unwrap().delete(&address, OFFICE).unwrap();
                }
                let done = propose(door, &attempt, &grain);
                let is_stored = attempt.store.exists(&address).unwrap();
                let rule = violation.rule;
                match (&*effect, done) {
                    ("refuse", Err(error)) => {
                        prop_assert!(!is_stored, "{rule} at {door}: {error}");
                    }
                    ("refuse", Ok(summary)) => {
                        let told = summary.map(|it| it.refusals());
                        prop_assert_eq!(told, Some(1), "{} at {}", rule, door);
                        prop_assert!(!is_stored, "{rule} at {door}");
                    }
                    ("note", Ok(Some(summary))) => {
                        prop_assert!(is_stored, "{rule} at {door}: {summary:?}");
                        prop_assert!(!summary.findings.is_empty(), "{rule} at {door}");
                    }
                    (effect, done) => {
                        prop_assert!(false, "{rule} at {door}: {effect} {done:?}");
                    }
                }
            }
        }
    }
}

/// Stores an innocent grain that the attempt may supersede.
fn replaced_by(attempt: &Attempt, grain: &Value) -> ContentAddress {
    let innocent = match grain["type"].as_str().unwrap() {
        "goal" => json!({"type": "goal", "description": "an old one", "goal_state": "suspended",
            "created_at": 2}),
        "consent" => {
            return attempt
                .store
                .put(consent(json!({"created_at": 4})))
                .unwrap();
        }
        _ => belief("an old one", "pollen"),
    };
    let innocent = with(innocent, json!({"created_at": 2}));
    let innocent = match attempt.handle.capability() {
        Some(capability) => {
            let scoped = capability.fill(draft(&innocent));
            match attempt.handle.put(scoped.clone()) {
                Ok(address) => return address,
                Err(_) => scoped.namespace("acme:chat"),
            }
        }
        None => draft(&innocent),
    };
    attempt.store.put(innocent).unwrap()
}

fn finish(attempt: &Attempt, grain: &Value) -> Grain {
    let draft = match attempt.handle.capability() {
        Some(capability) => capability.fill(draft(grain)),
        None => draft(grain),
    };
    draft.finish(Default::default()).unwrap()
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
