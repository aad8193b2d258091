//! Protection outlives the grain it came from (OMS 23.6, 23.7): deleting an old version or an
//! ancestor opens nothing.

use grainstore::ledger::MemoryDisk;
use grainstore::policy::{Actor, Operation};
use grainstore::store::{Asked, Authorization};
use grainstore::{ContentAddress, Draft, Store, Time};

use super::{ALICE, opened_at};

const OFFICE: Authorization<'static> = Authorization {
    reason: "asked for",
    authority: "the office",
};

fn protected(mode: &str, scope: &str) -> Draft {
    let json = format!(
        r#"{{"type":"event","content":"the deed","created_at":1,"author_did":"{ALICE}",
            "invalidation_policy":{{"mode":"{mode}","scope":"{scope}",
                "protection_reason":"a secret"}}}}"#
    );
    Draft::from_json(&json).unwrap()
}

fn note(text: &str) -> Draft {
    Draft::event(text).created_at(Time::from_ms(2))
}

fn delete(store: &Store, address: &ContentAddress) {
    store.admin().unwrap().delete(address, OFFICE).unwrap();
}

/// The rule that keeps a grain from being replaced without a reason.
fn rule(store: &Store, address: &ContentAddress) -> Option<String> {
    let asked = Asked::Change(Operation::Supersede);
    let explained = store
        .admin()
        .unwrap()
        .explain_policy(address, asked, &Actor::default());
    let rule = explained.unwrap().rule;
    let new = note("another").derived_from(*address);
    let refused = store.supersede(address, new, None).err();
    assert_eq!(refused.is_some(), rule.is_some(), "{refused:?} {rule:?}");
    rule
}

/// Checks live, and after the store is opened again.
fn both(disk: &MemoryDisk, store: Store, check: impl Fn(&Store)) {
    assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
    check(&store);
    drop(store);
    check(&opened_at(disk, 1_000).0);
}

#[test]
fn the_deletion_of_an_ancestor_opens_nothing_that_was_derived_from_it() {
    for deleted in [vec![0], vec![1], vec![0, 1], vec![1, 0]] {
        let disk = MemoryDisk::default();
        let (store, _) = opened_at(&disk, 1_000);
        let root = store.put(protected("locked", "subtree")).unwrap();
        let between = store.put(note("between").derived_from(root)).unwrap();
        let below = store.put(note("below").derived_from(between)).unwrap();
        let kept = [root, between];
        for at in &deleted {
            delete(&store, &kept[*at]);
        }
        let late = store.put(note("late").derived_from(between)).unwrap();
        both(&disk, store, |store| {
            assert_eq!(rule(store, &below).as_deref(), Some("locked"));
            assert_eq!(rule(store, &late).as_deref(), Some("locked"), "{deleted:?}");
        });
    }
}

#[test]
fn the_deletion_of_an_old_version_opens_no_newer_one() {
    for deleted in [vec![0], vec![1], vec![0, 1], vec![1, 0]] {
        let disk = MemoryDisk::default();
        let (store, _) = opened_at(&disk, 1_000);
        let first = store.put(protected("soft_locked", "grain")).unwrap();
        let mut versions = vec![first];
        for text in ["second", "third"] {
            let old = *versions.last().unwrap();
            let new = note(text).derived_from(old);
            versions.push(store.supersede(&old, new, Some("newer")).unwrap());
        }
        // P13: what is merely derived from it is another's.
        let aside = store.put(note("aside").derived_from(versions[0])).unwrap();
        let third = versions[2];
        assert_eq!(rule(&store, &third).as_deref(), Some("soft_locked"));
        for at in &deleted {
            delete(&store, &versions[*at]);
        }
        both(&disk, store, |store| {
            assert_eq!(
                rule(store, &third).as_deref(),
                Some("soft_locked"),
                "{deleted:?}"
            );
        });
        let (store, _) = opened_at(&disk, 1_000);
        let fourth = note("fourth").derived_from(third);
        let fourth = store.supersede(&third, fourth, Some("newer")).unwrap();
        assert_eq!(rule(&store, &fourth).as_deref(), Some("soft_locked"));
        assert_eq!(rule(&store, &aside), None);
    }
}

#[test]
fn a_later_version_of_scope_lineage_protects_an_earlier_one_after_its_deletion() {
    let disk = MemoryDisk::default();
    let (store, _) = opened_at(&disk, 1_000);
    let first = store.put(note("first")).unwrap();
    let second = protected("locked", "lineage").derived_from(first);
    let second = store.supersede(&first, second, None).unwrap();
    delete(&store, &second);
    both(&disk, store, |store| {
        let refused = store.contradict(&first, Some("x")).unwrap_err();
        assert_eq!(refused.code(), "ERR_INVALIDATION_DENIED");
    });
}

#[test]
fn what_an_erased_grain_leaves_is_its_rule_and_none_of_its_words() {
    let disk = MemoryDisk::default();
    let (store, _) = opened_at(&disk, 1_000);
    let root = store.put(protected("locked", "subtree")).unwrap();
    let below = store.put(note("below").derived_from(root)).unwrap();
    let admin = store.admin().unwrap();
    assert_eq!(admin.resting_on(&root).unwrap(), [below]);
    assert_eq!(admin.protected_by(&root).unwrap(), [below]);
    delete(&store, &root);
    drop(store);
    assert!(!holds(&disk, b"a secret"));
    assert!(!holds(&disk, ALICE.as_bytes()));
    assert!(!holds(&disk, b"the deed"));
    assert!(holds(&disk, b"locked"), "the search finds what is there");
}

#[test]
fn an_open_grain_leaves_nothing() {
    let (store, _) = opened_at(&MemoryDisk::default(), 1_000);
    let root = store.put(note("root")).unwrap();
    let below = store.put(note("below").derived_from(root)).unwrap();
    store.put(protected("locked", "grain")).unwrap();
    assert_eq!(store.admin().unwrap().protected_by(&root).unwrap(), []);
    delete(&store, &root);
    assert_eq!(rule(&store, &below), None);
}

#[test]
fn the_scope_that_an_erased_grain_had_is_the_scope_of_its_rule() {
    for (scope, reaches) in [("grain", false), ("lineage", false), ("subtree", true)] {
        let (store, _) = opened_at(&MemoryDisk::default(), 1_000);
        let root = store.put(protected("locked", scope)).unwrap();
        let below = store.put(note("below").derived_from(root)).unwrap();
        delete(&store, &root);
        assert_eq!(rule(&store, &below).is_some(), reaches, "{scope}");
    }
}

#[test]
fn a_timed_rule_outlives_its_grain_until_its_time_has_come() {
    let (store, clock) = opened_at(&MemoryDisk::default(), 1_000);
    let timed = r#"{"type":"event","content":"the deed","created_at":1,"invalidation_policy":
        {"mode":"timed","scope":"subtree","locked_until":60,"fallback_mode":"open"}}"#;
    let root = store.put(Draft::from_json(timed).unwrap()).unwrap();
    let below = store.put(note("below").derived_from(root)).unwrap();
    delete(&store, &root);
    assert_eq!(rule(&store, &below).as_deref(), Some("timed"));
    clock.set(60_000);
    assert_eq!(rule(&store, &below), None);
}

#[test]
fn a_goal_moves_as_it_lists_although_an_earlier_version_is_deleted() {
    // The rule that the earlier one left knows no transitions; the goal that repeats it does.
    let (store, _) = opened_at(&MemoryDisk::default(), 1_000);
    let goal = |state: &str| {
        let json = format!(
            r#"{{"type":"goal","description":"dig","goal_state":"{state}","created_at":1,
                "allowed_transitions":["active","suspended"],
                "invalidation_policy":{{"mode":"locked"}}}}"#
        );
        Draft::from_json(&json).unwrap()
    };
    let first = store.put(goal("active")).unwrap();
    let second = goal("suspended").derived_from(first);
    let second = store.supersede(&first, second, None).unwrap();
    delete(&store, &first);
    let third = goal("active")
        .derived_from(second)
        .created_at(Time::from_ms(3));
    assert!(store.supersede(&second, third, None).is_ok());
}

/// Whether any file of the ledger holds these bytes.
fn holds(disk: &MemoryDisk, bytes: &[u8]) -> bool {
    use grainstore::ledger::{Disk, OpenMode};
    let names = disk.list("ledger").unwrap();
    names.iter().any(|name| {
        let file = disk
            .open(&format!("ledger/{name}"), OpenMode::Read)
            .unwrap();
        let mut content = vec![0; usize::try_from(file.len_bytes().unwrap()).unwrap()];
        file.read_at(&mut content, 0).unwrap();
        content.windows(bytes.len()).any(|window| window == bytes)
    })
}
