//! Ruling I18: what a file says about grains that are here counts for nothing that would weaken
//! them, whichever format it comes in.

use std::path::Path;

use grainstore::grain::Verification;
use grainstore::interchange::{Format, ImportFile, ReadOptions, WriteOptions};
use grainstore::store::{Authorization, Summary};
use grainstore::{ContentAddress, Draft, Filter, Grain, Options, Store, Time};

const ASKED: Authorization<'static> = Authorization {
    reason: "asked by letter",
    authority: "the data protection officer",
};
const COUNSEL: Authorization<'static> = Authorization {
    reason: "Doe v. Acme",
    authority: "counsel",
};

fn memory() -> Store {
    Store::in_memory(Options::default()).unwrap()
}

fn belief(object: &str, more: &str) -> Grain {
    let json = format!(
        r#"{{"type":"belief","subject":"rent","relation":"is","object":"{object}",
            "confidence":0.9{more}}}"#
    );
    let draft = Draft::from_json(&json)
        .unwrap()
        .created_at(Time::from_ms(1));
    draft.finish(Default::default()).unwrap()
}

fn after(object: &str, parent: &Grain) -> Grain {
    belief(
        object,
        &format!(r#","derived_from":["{}"]"#, parent.address()),
    )
}

fn import(store: &Store, path: &Path) -> Summary {
    let reading = ImportFile::open(path, None, &ReadOptions::default()).unwrap();
    store.import(reading).unwrap()
}

/// What a store says, as a JSON import and as an archive with a manifest say it.
fn files(of: &Store, folder: &Path) -> Vec<std::path::PathBuf> {
    [(Format::Jsonl, "a.jsonl"), (Format::Mg, "a.mg")]
        .map(|(format, name)| {
            let path = folder.join(name);
            let all = Filter::new().with_superseded();
            of.admin()
                .unwrap()
                .export_file(format, &all, &WriteOptions::default(), &path)
                .unwrap();
            path
        })
        .into()
}

/// Lets every file of `theirs` in, and then sees that nothing about `address` has changed.
fn is_unmoved(ours: &Store, theirs: &Store, address: &ContentAddress) {
    let folder = tempfile::tempdir().unwrap();
    let before = ours.status(address).unwrap();
    for file in files(theirs, folder.path()) {
        import(ours, &file);
        assert_eq!(ours.status(address).unwrap(), before, "{}", file.display());
    }
    let found = ours.maintenance().unwrap().check().unwrap().findings;
    assert_eq!(found, []);
}

#[test]
fn a_file_does_not_bring_back_what_was_superseded() {
    let (ours, theirs) = (memory(), memory());
    let old = belief("900", "");
    ours.put(old.clone()).unwrap();
    ours.supersede(&old.address(), after("950", &old), None)
        .unwrap();
    theirs.put(old.clone()).unwrap();
    is_unmoved(&ours, &theirs, &old.address());
    assert!(!ours.status(&old.address()).unwrap().is_current());
    // Nor is it bent to another successor.
    theirs
        .supersede(&old.address(), after("1", &old), None)
        .unwrap();
    is_unmoved(&ours, &theirs, &old.address());
}

#[test]
fn a_file_does_not_end_or_dispute_what_is_current() {
    let (ours, theirs) = (memory(), memory());
    let old = belief("900", r#","invalidation_policy":{"mode":"locked"}"#);
    let open = belief("open", "");
    for store in [&ours, &theirs] {
        store.put(open.clone()).unwrap();
    }
    ours.put(old.clone()).unwrap();
    theirs
        .supersede(&open.address(), after("1", &open), None)
        .unwrap();
    is_unmoved(&ours, &theirs, &open.address());
    assert!(ours.status(&open.address()).unwrap().is_current());
    // A file can be written by hand, and say of a locked grain what no store would do.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hostile.jsonl");
    let status = format!(
        r#"{{"status":{{"of":"{}","superseded_by":"{}","contradicted":true,
            "verification_status":"retracted","system_valid_to":5}}}}"#,
        old.address(),
        after("1", &old).address()
    );
    let status = status.replace('\n', " ");
    let lines = [old.to_json(), status, after("1", &old).to_json()];
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    let summary = import(&ours, &path);
    assert_eq!(summary.inserted, 1);
    assert!(
        summary.findings[0].1.contains("does not supersede"),
        "{:?}",
        summary.findings
    );
    assert_eq!(ours.status(&old.address()).unwrap(), Default::default());
}

#[test]
fn a_file_does_not_undo_a_retraction_or_raise_to_verified() {
    for ours_is in [
        Verification::Retracted,
        Verification::Contested,
        Verification::Unverified,
    ] {
        let (ours, theirs) = (memory(), memory());
        let grain = belief("900", "");
        for store in [&ours, &theirs] {
            store.put(grain.clone()).unwrap();
        }
        let address = grain.address();
        if ours_is != Verification::Unverified {
            ours.set_verification(&address, ours_is, None).unwrap();
        }
        theirs
            .set_verification(&address, Verification::Verified, None)
            .unwrap();
        is_unmoved(&ours, &theirs, &address);
        assert_eq!(ours.status(&address).unwrap().verification, ours_is);
    }
}

#[test]
fn a_file_does_not_lift_a_hold() {
    let (ours, theirs) = (memory(), memory());
    let placed = belief("900", "");
    let own = belief("own", r#","invalidation_policy":{"mode":"hold"}"#);
    for store in [&ours, &theirs] {
        store.put(placed.clone()).unwrap();
        store.put(own.clone()).unwrap();
    }
    ours.admin()
        .unwrap()
        .place_hold(&placed.address(), COUNSEL)
        .unwrap();
    assert!(
        theirs
            .admin()
            .unwrap()
            .lift_hold(&own.address(), COUNSEL)
            .unwrap()
    );
    theirs.contradict(&own.address(), None).unwrap();
    for grain in [&placed, &own] {
        is_unmoved(&ours, &theirs, &grain.address());
        let denied = ours
            .admin()
            .unwrap()
            .delete(&grain.address(), ASKED)
            .unwrap_err();
        assert!(denied.to_string().contains("hold"), "{denied}");
    }
    assert_eq!(ours.admin().unwrap().holds().len(), 1);
}

#[test]
fn a_file_sets_no_policy_on_what_is_here() {
    // What it brings may claim to be the past of a grain that never named it, and be locked.
    let ours = memory();
    let grain = belief("900", "");
    ours.put(grain.clone()).unwrap();
    for scope in ["grain", "subtree", "lineage"] {
        let policy = format!(r#","invalidation_policy":{{"mode":"locked","scope":"{scope}"}}"#);
        let past = belief(scope, &policy);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hostile.jsonl");
        let status = format!(
            r#"{{"status":{{"of":"{}","superseded_by":"{}"}}}}"#,
            past.address(),
            grain.address()
        );
        std::fs::write(&path, [past.to_json(), status].join("\n") + "\n").unwrap();
        assert_eq!(import(&ours, &path).inserted, 1);
    }
    // Nor may what claims to replace it lock its lineage.
    let locked = r#","invalidation_policy":{"mode":"locked","scope":"lineage"}"#;
    let parents = format!(r#","derived_from":["{}"]{locked}"#, grain.address());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hostile.jsonl");
    std::fs::write(&path, belief("1", &parents).to_json() + "\n").unwrap();
    import(&ours, &path);
    ours.supersede(&grain.address(), after("950", &grain), None)
        .unwrap();
    ours.contradict(&grain.address(), None).unwrap();
}

#[test]
fn a_file_from_before_a_deletion_restores_nothing() {
    let store = memory();
    let old = belief("900", "");
    store.put(old.clone()).unwrap();
    let gone = store
        .supersede(&old.address(), after("950", &old), None)
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let before = files(&store, folder.path());
    store.admin().unwrap().delete(&gone, ASKED).unwrap();
    let status = store.status(&old.address()).unwrap();
    assert!(!status.is_current() && status.superseded_by.is_none());
    for file in before {
        let summary = import(&store, &file);
        assert_eq!(
            (summary.inserted, summary.erased.len()),
            (0, 1),
            "{}",
            file.display()
        );
        assert!(!store.exists(&gone).unwrap());
        assert_eq!(store.status(&old.address()).unwrap(), status);
        assert_eq!(store.search("950", &Filter::new(), 9).unwrap().total, 0);
    }
    assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
}
