//! Stores that older versions wrote: every later one opens them, and they say what they said.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use grainstore::crypto::{self, Algorithm, Random, Statement, sign};
use grainstore::grain::Verification;
use grainstore::policy::TrustRule;
use grainstore::store::Clock;
use serde_json::{Value as Json, json};

use super::*;
use crate::signing::key;

/// A second at each look.
#[derive(Debug)]
struct Ticks(AtomicI64);

impl Clock for Ticks {
    fn now(&self) -> Time {
        Time::from_ms(self.0.fetch_add(1_000, Ordering::Relaxed))
    }
}

/// Numbers that are the same each time.
#[derive(Debug)]
struct Counted(AtomicU64);

impl Random for Counted {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), crypto::Error> {
        for part in bytes.chunks_mut(8) {
            let n = self.0.fetch_add(1, Ordering::Relaxed);
            let drawn = n.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes();
            part.copy_from_slice(&drawn[..part.len()]);
        }
        Ok(())
    }
}

fn fixed() -> Options {
    Options {
        clock: Arc::new(Ticks(AtomicI64::new(1_768_471_200_000))),
        random: Arc::new(Counted(AtomicU64::new(1))),
        text: None,
        ..options()
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("test-vectors/stores")
}

/// Grains of every type, a supersession, a contradiction, a verification, a denial, an alias.
fn write(path: &Path) {
    let store = Store::open(path, fixed()).unwrap();
    let input = Map::from_iter([("q", "tea")]);
    let all = [
        Draft::belief("ada", "prefers", "green tea").confidence(0.9),
        Draft::belief("ada", "works at", "the mill").confidence(0.7),
        Draft::event("the kettle was bought").namespace("home:kitchen"),
        Draft::state(Map::from_iter([("mood", "calm")])),
        Draft::workflow(vec!["boil".to_owned(), "pour".to_owned()], "tea time"),
        Draft::action("search", input, "done", false),
        Draft::observation("sensor-1", "thermometer"),
        Draft::goal("drink less coffee"),
        Draft::reasoning("tea has less caffeine"),
        Draft::consensus(vec!["ada".to_owned(), "bob".to_owned()], 2, 2, 0),
        Draft::consent("ada", "store", vec!["memory".to_owned()]),
    ];
    let addresses: Vec<_> = all.map(|draft| store.put(draft).unwrap()).into();
    let newer = Draft::belief("ada", "prefers", "black tea").confidence(0.8);
    let newer = newer.derived_from(addresses[0]);
    store
        .supersede(&addresses[0], newer, Some("she said so"))
        .unwrap();
    store.contradict(&addresses[1], None).unwrap();
    let verified = Verification::Verified;
    store
        .set_verification(&addresses[2], verified, None)
        .unwrap();
    let locked = Map::from_iter([("mode", "locked")]);
    let locked = Draft::belief("ada", "was born in", "Turin")
        .confidence(1.0)
        .set("invalidation_policy", locked);
    let locked = store.put(locked).unwrap();
    let denied = store.contradict(&locked, None).unwrap_err();
    assert_eq!(denied.code(), "ERR_INVALIDATION_DENIED");
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data/pam");
    let reading = grainstore::interchange::ImportFile::open(&sample, None, &Default::default());
    store.import(reading.unwrap()).unwrap();
    store.maintenance().unwrap().compact().unwrap();
}

/// Signed grains under a trust rule, a grain that only its signer may contradict, a checkpoint.
/// Returns the signature that contradicts that grain: `tests/smallest.rs` asks whether it counts.
fn write_signed(path: &Path) -> Vec<u8> {
    let store = Store::open(path, fixed()).unwrap();
    let ada = key(Algorithm::Ed25519, 7);
    let bob = key(Algorithm::P256, 8);
    let mut rule = TrustRule::new(ada.did());
    rule.namespaces.push("tea".into());
    rule.is_exclusive = true;
    store.admin().unwrap().trust(rule, "our own agent").unwrap();
    for (key, namespace, object) in [(&ada, "tea", "black tea"), (&bob, "home", "a mill")] {
        let draft = Draft::belief("ada", "prefers", object).confidence(0.9);
        let draft = draft.namespace(namespace).author(key.did().as_str());
        let draft = draft.created_at(Time::from_ms(1)).to_be_signed();
        let grain = draft.finish(Profile::Extended).unwrap();
        let grain = sign(grain, key, &key.did(), Some(1)).unwrap();
        store.put(grain).unwrap();
    }
    let policy = Map::from_iter([
        ("mode", Value::from("delegated")),
        ("authorized", Value::Array(vec![ada.did().as_str().into()])),
    ]);
    let rent = Draft::belief("rent", "is", "900").confidence(1.0);
    let rent = store.put(rent.set("invalidation_policy", policy)).unwrap();
    let maintenance = store.maintenance().unwrap();
    maintenance.checkpoint(&ada, &ada.did()).unwrap();
    let store_id = *maintenance.stats().unwrap().store_id.as_bytes();
    maintenance.compact().unwrap();
    let contradiction = Statement::contradict(rent, store_id).unwrap();
    contradiction.sign(&ada, &ada.did(), None).unwrap()
}

/// What a store says, as it stands beside it.
fn said(store: &Store) -> Json {
    let grains = told(store).into_iter().map(|(address, status)| {
        json!({
            "address": address.to_string(),
            "superseded_by": status.superseded_by.map(|by| by.to_string()),
            "system_valid_to": status.system_valid_to.map(Time::ms),
            "verification": status.verification.name(),
            "contradicted": status.contradicted,
        })
    });
    let grains: Vec<_> = grains.collect();
    let stats = store.maintenance().unwrap().stats().unwrap();
    let head: String = stats
        .head
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    json!({ "entries": stats.entries, "head": head, "grains": grains })
}

#[test]
#[ignore = "writes the store that later versions must open: once for each format version"]
fn write_a_store_of_this_version() {
    keep("v1", write);
}

#[test]
#[ignore = "writes the store with signatures: once for each format version"]
fn write_a_store_with_signatures_of_this_version() {
    let signature = keep("signed", write_signed);
    fs::write(folder().join("signed.cose"), signature).unwrap();
}

fn keep<T>(name: &str, write: impl FnOnce(&Path) -> T) -> T {
    let path = folder().join(name);
    drop(fs::remove_dir_all(&path));
    let written = write(&path);
    fs::remove_file(path.join("LOCK")).unwrap();
    let home = Home::new();
    copy(&path, &home.path("s"));
    let text = serde_json::to_string_pretty(&said(&home.open("s"))).unwrap();
    fs::write(path.with_extension("json"), text + "\n").unwrap();
    written
}

#[test]
fn a_store_of_every_version_opens_and_says_what_it_said() {
    let kept = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap());
    let mut versions = 0;
    for path in kept.map(|entry| entry.path()).filter(|path| path.is_dir()) {
        let expected = fs::read_to_string(path.with_extension("json")).unwrap();
        let expected: Json = serde_json::from_str(&expected).unwrap();
        let home = Home::new();
        copy(&path, &home.path("s"));
        let store = home.open("s");
        // The index is derived: files of an older version of it are built anew, and that is told.
        let rebuilt = store
            .maintenance()
            .unwrap()
            .recovery_report()
            .index_rebuilt
            .as_deref();
        assert!(
            rebuilt.is_none_or(|why| why.contains("version")),
            "{rebuilt:?}"
        );
        assert_eq!(
            store
                .maintenance()
                .unwrap()
                .check_structure()
                .unwrap()
                .findings,
            []
        );
        assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
        assert_eq!(said(&store), expected);
        let found = store.search("black tea", &Filter::new(), 9).unwrap();
        assert!(found.total > 0);
        store.put(draft(1)).unwrap();
        drop(store);
        let repaired = grainstore::recovery::repair(home.path("s"), options()).unwrap();
        assert_eq!(
            repaired.maintenance().unwrap().check().unwrap().findings,
            []
        );
        versions += 1;
    }
    assert_eq!(versions, 5);
}

/// Its segment has a term for each row, lengths of every field and a store of documents.
#[test]
fn a_text_view_with_a_term_for_each_row_is_built_anew_and_finds_the_same() {
    let home = Home::new();
    copy(&folder().join("text-rows"), &home.path("s"));
    let store = home.open("s");
    let maintenance = store.maintenance().unwrap();
    let rebuilt = maintenance.recovery_report().text_rebuilt.as_deref();
    assert!(
        rebuilt.is_some_and(|why| why.contains("another version")),
        "{rebuilt:?}"
    );
    // As the last version with such a segment answered.
    for (words, expected) in [
        ("black tea", "b63705c4 e6259192 096c52e5 290f452f bc34cb3b"),
        ("coffee", "290f452f e6259192 096c52e5 bc34cb3b"),
        ("Porto kettle", "b55c4232 f4d02c64 742ebfd4"),
        ("secret", "bc34cb3b 096c52e5 290f452f"),
        ("tee", "742ebfd4 b55c4232 f4d02c64"),
    ] {
        let found = store.search(words, &Filter::new(), 9).unwrap().results;
        let found = found
            .iter()
            .map(|it| it.address.to_string()[..8].to_owned());
        assert_eq!(found.collect::<Vec<_>>().join(" "), expected, "{words}");
    }
}

/// Runs of version 4 have statements in six orders; pairs of their parts are written now.
#[test]
fn an_index_of_an_earlier_version_is_built_anew_and_answers_alike() {
    let home = Home::new();
    copy(&folder().join("runs-v4"), &home.path("s"));
    let store = home.open("s");
    let maintenance = store.maintenance().unwrap();
    let rebuilt = maintenance.recovery_report().index_rebuilt.as_deref();
    let expected = "index/0000000000000001.run is of another format version";
    assert_eq!(rebuilt, Some(expected));
    let asked = |store: &Store| {
        let all = store.query(&Filter::new(), 100, None).unwrap().results;
        let all: Vec<_> = all
            .iter()
            .map(|found| found.grain.triple().unwrap())
            .collect();
        let parts = [
            [None, Some("ada"), Some("bob"), Some("eve")],
            [None, Some("likes"), Some("works_at"), Some("eats")],
            [None, Some("tea"), Some("mill"), Some("bread")],
        ];
        for s in parts[0] {
            for (p, o) in parts[1].into_iter().flat_map(|p| parts[2].map(|o| (p, o))) {
                let mut filter = Filter::new();
                filter = s.into_iter().fold(filter, Filter::subject);
                filter = p.into_iter().fold(filter, Filter::relation);
                filter = o.into_iter().fold(filter, Filter::object);
                let found = store.query(&filter, 100, None).unwrap().results.len();
                let is = |asked: Option<&str>, part: Option<&str>| {
                    asked.is_none_or(|it| Some(it) == part)
                };
                let expected = all.iter().filter(|it| {
                    is(s, it.subject.as_deref())
                        && is(p, it.relation.as_deref())
                        && is(o, it.object.as_deref())
                });
                assert_eq!(found, expected.count(), "{s:?} {p:?} {o:?}");
            }
        }
        all.len()
    };
    assert_eq!(asked(&store), 6);
    store
        .put(Draft::belief("eve", "eats", "bread").confidence(0.5))
        .unwrap();
    assert_eq!(asked(&store), 7);
    store.maintenance().unwrap().compact().unwrap();
    assert_eq!(asked(&store), 7);
    let runs = fs::read_dir(home.path("s").join("index")).unwrap();
    let runs = runs.map(|entry| entry.unwrap().path());
    let runs: Vec<_> = runs
        .filter(|path| path.extension() == Some("run".as_ref()))
        .collect();
    let versions: Vec<_> = runs.iter().map(|path| fs::read(path).unwrap()[9]).collect();
    assert_eq!(versions, [6]);
}
