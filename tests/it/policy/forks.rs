//! Forks of lineages that imports bring (ruling I17): the head in force is the same in any order of
//! arrival.

use grainstore::interchange::{Format, ImportFile, ReadOptions};
use grainstore::policy::Rule;
use grainstore::store::{Fork, Summary};
use grainstore::{ContentAddress, Draft, Grain, Options, Store, Time};

fn memory() -> Store {
    Store::in_memory(Options::default()).unwrap()
}

fn belief(object: &str, created_at: i64, more: &str, parent: Option<&Grain>) -> Grain {
    let json = format!(
        r#"{{"type":"belief","subject":"rent","relation":"is","object":"{object}",
            "confidence":0.9{more}}}"#
    );
    let mut draft = Draft::from_json(&json)
        .unwrap()
        .created_at(Time::from_ms(created_at));
    if let Some(parent) = parent {
        draft = draft.derived_from(parent.address());
    }
    draft.finish(Default::default()).unwrap()
}

fn status(of: &Grain, more: &str) -> String {
    format!(r#"{{"status":{{"of":"{}"{more}}}}}"#, of.address())
}

fn import(store: &Store, lines: &[String]) -> Summary {
    store.import(file(lines)).unwrap()
}

fn file(lines: &[String]) -> ImportFile {
    let lines = lines.join("\n") + "\n";
    let options = ReadOptions::default();
    ImportFile::of_bytes(lines.as_bytes(), Some(Format::Jsonl), &options).unwrap()
}

/// The winner, and the others with the rule that speaks against them.
fn heads(store: &Store, of: &Grain) -> (ContentAddress, Vec<(ContentAddress, Option<Rule>)>) {
    let heads = store.admin().unwrap().heads(&of.address()).unwrap();
    let fork = |fork: &Fork| (fork.address, fork.denied);
    (heads.winner, heads.others.iter().map(fork).collect())
}

#[test]
fn a_head_that_is_here_stands_before_an_imported_fork() {
    let store = memory();
    let old = belief("900", 1, "", None);
    let ours = belief("950", 2, "", Some(&old));
    let theirs = belief("990", 9, "", Some(&old));
    store.put(old.clone()).unwrap();
    store.supersede(&old.address(), ours.clone(), None).unwrap();
    let refused = store
        .supersede(&old.address(), theirs.clone(), None)
        .unwrap_err();
    assert_eq!(
        refused.code(),
        "ERR_CONFLICT",
        "here, the second is a conflict"
    );
    let summary = import(&store, &[theirs.to_json()]);
    assert_eq!(summary.inserted, 1);
    assert!(
        summary.findings[0].1.contains("beside"),
        "{:?}",
        summary.findings
    );
    let expected = (ours.address(), vec![(theirs.address(), None)]);
    for of in [&old, &ours, &theirs] {
        assert_eq!(heads(&store, of), expected);
    }
    assert_eq!(
        store.admin().unwrap().heads(&old.address()).unwrap().others[0].of,
        old.address()
    );
    // It goes on from there, and both branches are ends still.
    let next = belief("960", 3, "", Some(&ours));
    store
        .supersede(&ours.address(), next.clone(), None)
        .unwrap();
    let expected = (next.address(), vec![(theirs.address(), None)]);
    assert_eq!(heads(&store, &theirs), expected);
}

#[test]
fn what_an_import_would_put_in_place_of_a_current_grain_does_not_stand() {
    let store = memory();
    let old = belief("900", 1, "", None);
    let theirs = belief("990", 9, "", Some(&old));
    store.put(old.clone()).unwrap();
    let summary = import(&store, &[theirs.to_json()]);
    assert!(
        summary.findings[0].1.contains("does not supersede"),
        "{:?}",
        summary.findings
    );
    assert_eq!(
        heads(&store, &old),
        (old.address(), vec![(theirs.address(), None)])
    );
}

#[test]
fn a_fork_of_a_locked_grain_that_a_file_brings_is_a_conflict() {
    let locked = r#","invalidation_policy":{"mode":"locked","scope":"grain"}"#;
    let old = belief("900", 1, locked, None);
    let theirs = belief("990", 9, "", Some(&old));
    let said = [
        theirs.to_json(),
        old.to_json(),
        status(&old, &format!(r#","superseded_by":"{}""#, theirs.address())),
    ];
    for is_own in [false, true] {
        let store = memory();
        store.put(old.clone()).unwrap();
        let opened = || {
            let mut file = file(&said);
            file.is_own = is_own;
            file
        };
        let preview = store.admin().unwrap().preview_import(opened()).unwrap();
        let summary = store.import(opened()).unwrap();
        for told in [&preview, &summary] {
            let conflicts: Vec<_> = told.conflicts.iter().map(|it| &*it.versions).collect();
            assert_eq!(conflicts, [[old.address(), theirs.address()]], "{told:?}");
            assert!(!told.is_complete());
        }
        let listed = store.admin().unwrap().conflicts().unwrap();
        assert_eq!(listed.len(), 1);
        assert_eq!(listed[0].versions, [old.address(), theirs.address()]);
        // What policy protects is not given up for it.
        let resolve = |keep: &Grain| {
            let admin = store.admin().unwrap();
            admin.resolve_conflict(&keep.address(), Some("asked"))
        };
        assert_eq!(
            resolve(&theirs).unwrap_err().code(),
            "ERR_INVALIDATION_DENIED"
        );
        assert_eq!(store.admin().unwrap().conflicts().unwrap().len(), 1);
        resolve(&old).unwrap();
        assert_eq!(store.admin().unwrap().conflicts().unwrap(), []);
        assert!(!store.status(&theirs.address()).unwrap().is_current());
    }
}

#[test]
fn a_fork_that_ends_is_no_conflict_any_more() {
    let store = memory();
    let old = belief("900", 1, "", None);
    let theirs = belief("990", 9, "", Some(&old));
    store.put(old.clone()).unwrap();
    assert_eq!(import(&store, &[theirs.to_json()]).conflicts.len(), 1);
    // The owner vouches for the same file.
    let said = status(&old, &format!(r#","superseded_by":"{}""#, theirs.address()));
    let copy = || {
        let mut copy = file(&[old.to_json(), said.clone(), theirs.to_json()]);
        copy.is_own = true;
        copy
    };
    let preview = store.admin().unwrap().preview_import(copy()).unwrap();
    for summary in [preview, store.import(copy()).unwrap()] {
        assert_eq!((summary.corrected, summary.conflicts.len()), (1, 0));
    }
    assert_eq!(store.admin().unwrap().conflicts().unwrap(), []);
}

#[test]
fn among_imported_forks_the_newest_that_policy_allows_stands_in_whatever_order_they_came() {
    let old = belief("900", 1, "", None);
    let first = belief("950", 2, "", Some(&old));
    let second = belief("990", 9, "", Some(&old));
    for [pointed, other] in [[&first, &second], [&second, &first]] {
        let store = memory();
        let by = format!(r#","superseded_by":"{}""#, pointed.address());
        import(
            &store,
            &[old.to_json(), status(&old, &by), pointed.to_json()],
        );
        import(&store, &[other.to_json()]);
        let expected = (second.address(), vec![(first.address(), None)]);
        assert_eq!(heads(&store, &old), expected);
    }
    // A superseder that policy would have denied never stands, whatever its file says.
    let soft = r#","invalidation_policy":{"mode":"soft_locked"}"#;
    let old = belief("900", 1, soft, None);
    let said = r#","supersession_justification":"the lease was renewed""#;
    let justified = belief("950", 2, said, Some(&old));
    let bare = belief("990", 9, "", Some(&old));
    let store = memory();
    let by = format!(r#","superseded_by":"{}""#, bare.address());
    import(
        &store,
        &[
            old.to_json(),
            status(&old, &by),
            bare.to_json(),
            justified.to_json(),
        ],
    );
    let denied = vec![(bare.address(), Some(Rule::SoftLocked))];
    assert_eq!(heads(&store, &old), (justified.address(), denied));
    let locked = r#","invalidation_policy":{"mode":"locked"}"#;
    let old = belief("900", 1, locked, None);
    let bare = belief("990", 9, "", Some(&old));
    let store = memory();
    let by = format!(r#","superseded_by":"{}""#, bare.address());
    import(&store, &[old.to_json(), status(&old, &by), bare.to_json()]);
    let denied = vec![(bare.address(), Some(Rule::Locked))];
    assert_eq!(heads(&store, &bare), (old.address(), denied));
}
