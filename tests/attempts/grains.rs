//! What the rules for a new grain refuse.

use grainstore::policy::{Regime, TrustRule};
use grainstore::store::RequiredConsent;
use grainstore::{Draft, Store};
use serde_json::{Value, json};

use super::{ACTOR, Case, OFFICE, Scene, belief, draft, with};

pub(super) const CASES: &[Case] = &[
    Case {
        rule: "the handle may write it",
        code: "ERR_ACCESS_DENIED",
        but: &[],
        ground: || {
            let inside = with(other(), json!({"namespace": "acme:chat"}));
            let outside = with(belief("ada", "dust"), json!({"namespace": "acme:pay"}));
            Scene {
                namespace: Some("acme:chat"),
                ..Scene::new(outside, inside)
            }
        },
        law: |_, _| {},
    },
    Case {
        rule: "the token that writes it sees",
        code: "ERR_NOT_FOUND",
        but: &[],
        ground: || {
            let inside = json!({"namespace": "acme:chat"});
            let link = json!({"hash": "0".repeat(64), "relation_type": "supports"});
            let links = json!({"namespace": "acme:chat", "related_to": [link]});
            Scene {
                namespace: Some("acme:chat"),
                ..Scene::new(with(belief("ada", "dust"), links), with(other(), inside))
            }
        },
        law: |_, _| {},
    },
    Case {
        rule: "it was not deleted here",
        code: "ERR_ERASED",
        but: &[],
        ground: || Scene::new(belief("ada", "dust"), other()),
        law: |store, scene| {
            let address = store.put(draft(&scene.grain)).unwrap();
            store.admin().unwrap().delete(&address, OFFICE).unwrap();
        },
    },
    Case {
        rule: "its person, if sealed, is unlocked",
        code: "ERR_LOCKED",
        but: &[],
        ground: || Scene {
            parent: |store| {
                seal(store);
                Vec::new()
            },
            ..Scene::new(
                with(belief("mira", "dust"), json!({"user_id": "mira"})),
                other(),
            )
        },
        law: |store, _| store.admin().unwrap().lock("mira").unwrap(),
    },
    Case {
        rule: "it is no disclosed view",
        code: "ERR_VIEW",
        but: &[],
        ground: || {
            let of = json!({"_disclosure_of": format!("sha256:{}", "0".repeat(64))});
            Scene::new(with(belief("ada", "dust"), of), other())
        },
        law: |_, _| {},
    },
    Case {
        rule: "an ownership claim is well formed",
        code: "ERR_SCHEMA",
        but: &[],
        ground: || {
            let claim = json!({"type": "belief", "subject": "did:web:a.example",
                "object": "Mallory", "relation": "mg:owned_by", "namespace": "agent:identity",
                "confidence": 1.0, "author_did": ACTOR});
            Scene::new(claim, other())
        },
        law: |_, _| {},
    },
    Case {
        rule: "its signer, or an unsigned writer",
        code: "ERR_UNTRUSTED",
        but: &[],
        ground: || {
            let guarded = json!({"namespace": "guarded"});
            Scene::new(with(belief("ada", "dust"), guarded), other())
        },
        law: |store, _| trust_one_signer(store),
    },
    Case {
        rule: "in the clear, it names no grain",
        code: "ERR_POLICY_DENIED",
        but: &[],
        ground: || Scene {
            parent: |store| {
                seal(store);
                vec![store.put(Draft::event("a secret").user("mira")).unwrap()]
            },
            ..Scene::new(belief("ada", "dust"), other())
        },
        law: |_, _| {},
    },
    Case {
        rule: "an ownership claim is stronger",
        code: "ERR_INVALIDATION_DENIED",
        but: &[],
        ground: || Scene {
            actor: OPERATOR,
            ..Scene::new(
                owned_by("Mallory"),
                with(other(), json!({"author_did": OPERATOR})),
            )
        },
        law: |store, _| {
            store.put(draft(&owned_by("Acme"))).unwrap();
        },
    },
    Case {
        rule: "it replaces no current parent",
        code: "ERR_INVALIDATION_DENIED",
        but: &[],
        ground: || Scene {
            parent: |store| {
                let policy = json!({"mode": "locked", "authorized": ["did:web:ada"]});
                let nuts = json!({"invalidation_policy": policy});
                vec![
                    store
                        .put(draft(&with(belief("ada", "nuts"), nuts)))
                        .unwrap(),
                ]
            },
            ..Scene::new(belief("ada", "nothing"), other())
        },
        law: |_, _| {},
    },
    Case {
        rule: "the delegations of its author",
        code: "ERR_ACCESS_DENIED",
        but: &[],
        ground: || {
            let covered = with(other(), json!({"namespace": "acme:chat"}));
            Scene::new(
                with(belief("ada", "dust"), json!({"namespace": "acme:pay"})),
                covered,
            )
        },
        law: |store, _| {
            let narrow = json!({"type": "goal", "description": "the chat", "goal_state": "active",
                "subject": "did:web:a.example", "relation": "mg:delegates_to", "object": ACTOR,
                "author_did": "did:web:a.example", "created_at": 1,
                "authorized_namespaces": ["acme:chat"], "delegation_depth": 0});
            store.put(draft(&narrow)).unwrap();
        },
    },
    Case {
        rule: "the regimes in force permit it",
        code: "ERR_POLICY_DENIED",
        but: &[],
        ground: || {
            let tags = json!({"structural_tags": ["reg:sox"]});
            Scene::new(with(belief("ada", "dust"), tags), other())
        },
        law: |store, _| {
            let regime = Regime::preset("sox").unwrap();
            let admin = store.admin().unwrap();
            admin.set_regimes(vec![regime], OFFICE).unwrap();
        },
    },
    Case {
        rule: "a goal starts after those",
        code: "ERR_DEPENDENCY",
        but: &[],
        ground: || {
            let first = first_goal("satisfied");
            let depends = super::finish(&first).to_string();
            let second = with(goal("second", "active"), json!({"depends_on": [depends]}));
            Scene {
                parent: |store| {
                    store.put(draft(&first_goal("satisfied"))).unwrap();
                    Vec::new()
                },
                ..Scene::new(second, goal("an old one", "suspended"))
            }
        },
        law: |store, _| {
            let first = super::finish(&first_goal("satisfied"));
            let again = with(first_goal("active"), json!({"created_at": 4}));
            store
                .supersede(&first, draft(&again).replacing(first), None)
                .unwrap();
        },
    },
    Case {
        rule: "a Consent comes from one who may",
        code: "ERR_INVALIDATION_DENIED",
        but: &[],
        ground: || {
            // The consent of another: its writer is neither the person nor the actor.
            let grant = consent(json!({}));
            let of = super::finish(&grant).to_string();
            let withdrawal = json!({"is_withdrawal": true, "prior_consent": of});
            let withdrawal = with(consent(withdrawal), json!({"author_did": ACTOR}));
            Scene::new(withdrawal, grant)
        },
        law: |_, _| {},
    },
    Case {
        rule: "the consent it rests on",
        code: "ERR_CONSENT",
        but: &[],
        ground: || {
            let clinic = json!({"namespace": "clinic"});
            Scene::new(with(belief("ada", "dust"), clinic), other())
        },
        law: |store, _| {
            let both = RequiredConsent {
                read: true,
                write: true,
            };
            let admin = store.admin().unwrap();
            admin.require_consent("clinic", both, OFFICE).unwrap();
        },
    },
];

const OPERATOR: &str = "did:web:operator.example";

/// An innocent grain that may be superseded.
fn other() -> Value {
    belief("an old one", "pollen")
}

fn goal(description: &str, state: &str) -> Value {
    json!({"type": "goal", "description": description, "goal_state": state, "created_at": 2,
           "author_did": ACTOR})
}

fn first_goal(state: &str) -> Value {
    with(goal("first", state), json!({"created_at": 3}))
}

fn consent(members: Value) -> Value {
    let consent = json!({"type": "consent", "subject_did": "did:web:ada.example",
        "scope": ["store"], "is_withdrawal": false, "grantee_did": "did:web:acme.example",
        "author_did": "did:web:clerk.example", "created_at": 3});
    with(consent, members)
}

fn owned_by(owner: &str) -> Value {
    json!({"type": "belief", "subject": "did:web:a.example", "object": owner,
        "relation": "mg:owned_by", "namespace": "agent:identity", "confidence": 1.0,
        "source_type": "system", "author_did": OPERATOR,
        "structural_tags": ["legal:ownership", "mg:protected"],
        "owner": {"type": "org", "name": owner},
        "invalidation_policy": {"mode": "soft_locked", "scope": "lineage",
            "authorized": [OPERATOR]},
        "created_at": 5})
}

/// Gives Mira a key, under which what is about her is sealed.
fn seal(store: &Store) {
    store.admin().unwrap().vault().add(&["mira"]).unwrap();
    store.admin().unwrap().unlock("mira").unwrap();
}

/// Lets one signer alone write in the namespace `guarded`.
pub(super) fn trust_one_signer(store: &Store) {
    let signer = "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK";
    let mut rule = TrustRule::new(signer.parse().unwrap());
    rule.namespaces = vec!["guarded".into()];
    rule.is_exclusive = true;
    store.admin().unwrap().trust(rule, "a test").unwrap();
}
