//! What the rules for a change refuse.

use grainstore::Store;
use grainstore::policy::Regime;
use serde_json::{Value, json};

use super::grains::trust_one_signer;
use super::{ACTOR, Case, OFFICE, Scene, belief, with};

pub(super) const CASES: &[Case] = &[
    Case {
        rule: "the handle sees the grain",
        code: "ERR_NOT_FOUND",
        but: &[],
        // An agent without the clearance for health data.
        ground: || of(json!({"structural_tags": ["phi:mrn"]})),
        law: |_, _| {},
    },
    Case {
        rule: "the handle may write, and the delegations",
        code: "ERR_ACCESS_DENIED",
        but: &[],
        ground: || Scene {
            may_write: false,
            ..of(json!({}))
        },
        law: |_, _| {},
    },
    Case {
        rule: "a delegation, a Consent and who is who",
        code: "ERR_ACCESS_DENIED",
        // The copy is taken, and its statement is not.
        but: &[("a file's ending", "noted")],
        ground: || {
            let delegation = json!({"type": "goal", "description": "all", "goal_state": "active",
                "subject": ACTOR, "relation": "mg:delegates_to", "object": "did:web:b.example",
                "author_did": ACTOR, "created_at": 2});
            Scene::new(belief("ada", "dust"), delegation)
        },
        law: |_, _| {},
    },
    Case {
        rule: "for a program, it is cleared",
        code: "ERR_REVIEW_REQUIRED",
        but: &[],
        ground: || of(json!({"requires_human_review": true})),
        law: |_, _| {},
    },
    Case {
        rule: "its signers are trusted",
        code: "ERR_UNTRUSTED",
        but: &[],
        ground: || of(json!({"namespace": "guarded"})),
        law: |store, _| trust_one_signer(store),
    },
    Case {
        rule: "it has a reason where a regime",
        code: "ERR_POLICY_DENIED",
        but: &[],
        ground: || of(json!({})),
        law: |store, _| ask_for_reasons(store),
    },
    Case {
        rule: "the policies that protect the grain",
        code: "ERR_INVALIDATION_DENIED",
        but: &[
            ("the owner's version", "legal_hold"),
            ("an actor's version", "legal_hold"),
            ("a file's ending", "legal_hold"),
        ],
        ground: || of(json!({})),
        law: |store, scene| {
            let admin = store.admin().unwrap();
            admin.place_hold(&scene.target, OFFICE).unwrap();
        },
    },
    Case {
        rule: "its retention is over",
        code: "ERR_INVALIDATION_DENIED",
        but: &[],
        ground: || of(json!({"retention_policy": {"deletion_requires": "court_order"}})),
        law: |_, _| {},
    },
    Case {
        rule: "it has a reason and an authority",
        code: "ERR_AUTHORITY",
        but: &[("delete", "ERR_INVALIDATION_DENIED")],
        ground: || Scene {
            reason: "",
            ..of(json!({}))
        },
        law: |_, _| {},
    },
];

/// A scene of a stored grain about a person, and an innocent new version of it.
fn of(members: Value) -> Scene {
    let person = json!({"user_id": "ada"});
    let old = with(with(belief("ada", "pollen"), person.clone()), members);
    Scene::new(with(belief("ada", "dust"), person), old)
}

fn ask_for_reasons(store: &Store) {
    let text = "name = \"why\"\ntitle = \"reasons\"\n[[clause]]\nid = \"why\"\ncites = \"a test\"\n\
        says = \"a change has a reason\"\nwhen = { fields = [\"created_at\"] }\n\
        requires = { justification = true }\n";
    let regime = Regime::parse(text).unwrap();
    let admin = store.admin().unwrap();
    admin.set_regimes(vec![regime], OFFICE).unwrap();
}
