//! `explain_policy`: it says what an operation would meet, and changes nothing.

use super::*;

#[test]
fn an_explanation_is_what_happens_and_leaves_no_entry() {
    let protected = |mode: &str, scope: &str| {
        let json = format!(
            r#"{{"type":"belief","subject":"a","relation":"b","object":"{mode} {scope}",
                "confidence":1,"created_at":1,
                "invalidation_policy":{{"mode":"{mode}","scope":"{scope}","authorized":
                ["did:web:c.example"],"threshold":1,"locked_until":1,"fallback_mode":"open"}}}}"#
        );
        Draft::from_json(&json).unwrap()
    };
    let modes = [
        "open",
        "soft_locked",
        "locked",
        "quorum",
        "delegated",
        "timed",
        "hold",
        "consent_cascade",
        "unheard_of",
    ];
    for mode in modes {
        for scope in ["grain", "subtree", "lineage"] {
            for below in [false, true] {
                let store = memory();
                let root = store.put(protected(mode, scope)).unwrap();
                let target = match below {
                    false => root,
                    true => store.put(note("a child").derived_from(root)).unwrap(),
                };
                agrees(&store, &target, &[root, target], mode);
            }
        }
    }
}

/// Asks, then does it, for every operation that can be done; each on a store of its own would show
/// the same, but what is denied changes nothing, and what is allowed ends the sequence.
fn agrees(store: &Store, target: &ContentAddress, protectors: &[ContentAddress], mode: &str) {
    let reasons = [None, Some("because")];
    for (operation, reason) in ["verify", "delete", "contradict", "supersede"]
        .into_iter()
        .flat_map(|operation| reasons.map(|reason| (operation, reason)))
    {
        let asked = store::Asked::named(operation).unwrap();
        let actor = grainstore::policy::Actor {
            justification: reason,
            authority: reason,
            ..Default::default()
        };
        let entries = store.maintenance().unwrap().stats().unwrap().entries;
        let told = store
            .admin()
            .unwrap()
            .explain_policy(target, asked, &actor)
            .unwrap();
        assert_eq!(
            store.maintenance().unwrap().stats().unwrap().entries,
            entries,
            "{mode} {operation}"
        );
        let retracted = grainstore::grain::Verification::Retracted;
        let done = match operation {
            "verify" => store.set_verification(target, retracted, reason),
            "contradict" => store.contradict(target, reason),
            "supersede" => {
                let new = note("another").derived_from(*target);
                store.supersede(target, new, reason).map(drop)
            }
            _ => store.admin().unwrap().delete(
                target,
                Authorization {
                    reason: reason.unwrap_or_default(),
                    authority: reason.unwrap_or_default(),
                },
            ),
        };
        assert_eq!(
            told.is_allowed,
            done.is_ok(),
            "{mode} {operation} {reason:?}: {told:?}"
        );
        if let Err(error) = done {
            let rule = told.rule.unwrap();
            assert!(error.to_string().contains(&rule), "{error}, {rule}");
            assert!(
                protectors.contains(&told.protected_by.unwrap()),
                "{mode} {operation}"
            );
        } else if operation != "verify" {
            return;
        }
    }
}

#[test]
fn an_explanation_knows_regimes_exports_and_reviews() {
    let store = under("sox");
    let record = note("paid")
        .tag("profile:finance")
        .user("ada")
        .author("did:web:a.example");
    let record = store.put(record).unwrap();
    let ask = |word: &str, justification| {
        let actor = grainstore::policy::Actor {
            justification,
            ..Default::default()
        };
        let asked = store::Asked::named(word).unwrap();
        store
            .admin()
            .unwrap()
            .explain_policy(&record, asked, &actor)
            .unwrap()
    };
    let told = ask("contradict", None);
    assert_eq!(
        (told.is_allowed, told.rule.as_deref()),
        (false, Some("sox/changes"))
    );
    let told = ask("contradict", Some("an error"));
    assert_eq!((told.is_allowed, told.is_reviewed), (true, true));
    assert_eq!(ask("delete", Some("x")).rule.as_deref(), Some("retention"));
    assert_eq!(ask("export", None).rule.as_deref(), Some("finance_basis"));
    assert!(ask("rely", None).is_allowed);
    let guess = Draft::reasoning("fraud").set("requires_human_review", true);
    let guess = store.put(guess).unwrap();
    let rely = store::Asked::Rely;
    let told = store
        .admin()
        .unwrap()
        .explain_policy(&guess, rely, &Default::default())
        .unwrap();
    assert_eq!(told.rule.as_deref(), Some("unreviewed"));
}
