//! Reads on record: whatever hands a grain to somebody says so first, where a clause asks for it.

mod erased;
mod kept;
mod refused;

use grainstore::crypto::Did;
use grainstore::policy::Capability;
use grainstore::query::{Recall, Sort};
use grainstore::store::Embedding;
use grainstore::store::{AuditedRead, Handoff};
use grainstore::text::Ranking;
use grainstore::{Search, Time};

use super::*;

use crate::sample::addresses_of;

const OURS: &str = "name = \"ours\"\ntitle = \"ours\"\n[[clause]]\nid = \"reads\"\n\
    cites = \"a contract\"\nsays = \"we know who reads it\"\n\
    when = { tags = [\"watched\"] }\nrequires = { read_audit = true }\n";

fn watch(store: &Store) {
    let ours = Regime::parse(OURS).unwrap();
    store
        .admin()
        .unwrap()
        .set_regimes(vec![ours], TEST)
        .unwrap();
}

fn watching() -> Store {
    let store = memory();
    watch(&store);
    store
}

fn reads(store: &Store) -> Vec<AuditedRead> {
    store.admin().unwrap().reads(None, None, 1_000).unwrap()
}

fn bot() -> Did {
    "did:web:bot.example".parse().unwrap()
}

/// Two messages about tea with vectors, of which a clause asks if they are watched.
fn talk(store: &Store, is_watched: bool) -> [ContentAddress; 2] {
    let message = |text: &str| {
        let draft = note(text).session("s1").namespace("acme");
        let draft = draft.author(bot().as_str());
        if is_watched {
            draft.tag("watched")
        } else {
            draft
        }
    };
    let first = store.put(message("green tea")).unwrap();
    let answer = message("black tea").set("parent_message_id", first);
    let all = [first, store.put(answer).unwrap()];
    for (address, vector) in all.iter().zip([[1.0, 0.0], [0.9, 0.1]]) {
        store
            .put_embeddings(&[Embedding::new(*address, "tiny", &vector)])
            .unwrap();
    }
    all
}

/// A way of reading: what the record calls it, which of the two messages it hands out, and how.
type Way<R> = (&'static str, &'static [usize], fn(&R, [ContentAddress; 2]));

fn all() -> Filter {
    Filter::new()
}

/// The ways that the owner and a handle share.
macro_rules! ways {
    ($reader:ty) => {{
        let ways: [Way<$reader>; 11] = [
            ("get", &[0], |r, [a, _]| drop(r.get(&a).unwrap())),
            ("get", &[0, 1], |r, both| drop(r.get_batch(&both).unwrap())),
            ("query", &[0], |r, _| {
                drop(r.query(&all(), 1, None).unwrap())
            }),
            ("query", &[1, 0], |r, _| {
                let sort = Sort::default().descending();
                r.query(&all().sorted(sort), 9, None).unwrap();
            }),
            // The other turn of its session is handed out, too.
            ("search", &[0, 1], |r, _| {
                drop(r.search("black", &all(), 9).unwrap())
            }),
            ("nearest", &[0], |r, _| {
                r.find(&Search::near("tiny", &[1.0, 0.0]).filter(&all()).limit(1))
                    .unwrap();
            }),
            ("similar", &[1], |r, [a, _]| {
                r.find(&Search::like("tiny", a).filter(&all()).limit(9))
                    .unwrap();
            }),
            ("search_hybrid", &[0, 1], |r, _| {
                let vector = [1.0, 0.0];
                r.find(
                    &Search::words("tea")
                        .vector("tiny", &vector)
                        .filter(&all())
                        .limit(9),
                )
                .unwrap();
            }),
            ("recall", &[0, 1], |r, _| {
                r.recall("green tea?", &all(), &Recall::default()).unwrap();
            }),
            ("history", &[0], |r, [a, _]| drop(r.history(&a).unwrap())),
            ("thread", &[0, 1], |r, [_, b]| drop(r.thread(&b).unwrap())),
        ];
        ways
    }};
}

fn ways_of_the_owner() -> [Way<Store>; 4] {
    [
        ("get", &[0], |s, [a, _]| drop(s.delivery(&a).unwrap())),
        ("search", &[1], |s, _| {
            let query = Search::words("black");
            s.find(&query.filter(&all()).ranking(Ranking::WORDS).limit(9))
                .unwrap();
        }),
        ("embedding", &[1], |s, [_, b]| {
            drop(s.embedding(&b, "tiny").unwrap());
        }),
        ("export", &[0, 1], |s, _| {
            let shareable = WriteOptions {
                shareable: true,
                ..WriteOptions::default()
            };
            s.admin()
                .unwrap()
                .export(Format::Mg, &all(), &shareable, &mut Vec::new())
                .unwrap();
        }),
    ]
}

/// Runs a way on messages that are watched and on such that are not.
fn hold<R>((operation, which, way): Way<R>, by: Option<&str>, reader: impl Fn(&Store) -> R) {
    let store = watching();
    let messages = talk(&store, true);
    way(&reader(&store), messages);
    let mut expected: Vec<_> = which.iter().map(|nth| messages[*nth]).collect();
    expected.sort_unstable();
    let told = reads(&store);
    assert_eq!(told.len(), 1, "{operation}: {told:?}");
    assert_eq!(
        (&*told[0].operation, &told[0].addresses),
        (operation, &expected)
    );
    assert_eq!(told[0].by.as_deref(), by, "{operation}");
    assert_eq!(told[0].clauses, ["ours/reads"]);
    assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);

    let store = watching();
    let messages = talk(&store, false);
    let entries = store.maintenance().unwrap().stats().unwrap().entries;
    way(&reader(&store), messages);
    // That something was exported is on record in every store; who read what is not.
    assert_eq!(
        store.maintenance().unwrap().stats().unwrap().entries,
        entries + u64::from(operation == "export"),
        "{operation}"
    );
    assert_eq!(reads(&store), [], "{operation}");
}

#[test]
fn whatever_way_the_owner_reads_is_on_record_where_a_clause_asks_and_nowhere_else() {
    for way in ways!(Store).into_iter().chain(ways_of_the_owner()) {
        hold(way, None, Store::clone);
    }
}

#[test]
fn whatever_way_a_handle_reads_is_on_record_with_its_author() {
    for way in ways!(Store) {
        hold(way, Some(bot().as_str()), |store| {
            store.as_actor(&bot()).in_namespace("acme")
        });
    }
}

#[test]
fn an_export_in_any_format_is_a_read_of_what_it_takes() {
    let home = tempfile::tempdir().unwrap();
    for format in [
        Format::Mg,
        Format::Jsonl,
        Format::Aimem,
        Format::AimemNdjson,
        Format::Omi,
        Format::OmiJsonl,
        Format::Pam,
    ] {
        let store = watching();
        let mut both = talk(&store, true);
        both.sort_unstable();
        store.put(note("of which nobody asks")).unwrap();
        let plain = WriteOptions::default();
        store
            .admin()
            .unwrap()
            .export(format, &all(), &plain, &mut Vec::new())
            .unwrap();
        let path = home.path().join(format.to_string());
        store
            .admin()
            .unwrap()
            .export_file(format, &all(), &plain, &path)
            .unwrap();
        let told = reads(&store);
        assert_eq!(told.len(), 2, "{format}");
        for read in told {
            assert_eq!(
                (&*read.operation, &read.addresses[..]),
                ("export", &both[..])
            );
        }
    }
}

#[test]
fn what_else_hands_out_grains_is_on_record_too() {
    let store = watching();
    let watched = |json: &str| Draft::from_json(json).unwrap().tag("watched");
    let consent = r#"{"type":"consent","subject_did":"did:web:ada","grantee_did":"did:web:acme",
        "scope":["store"],"is_withdrawal":false,"created_at":1}"#;
    let consent = store.put(watched(consent)).unwrap();
    store
        .admin()
        .unwrap()
        .consents(&Default::default())
        .unwrap();
    let can = Draft::belief(bot().as_str(), "mg:has_capability", "speech");
    let can = can
        .confidence(1.0)
        .namespace("agent:identity")
        .tag("watched");
    let can = store.put(can).unwrap();
    assert_eq!(
        store.agent_card(bot().as_str()).unwrap().capabilities.len(),
        1
    );

    let desk: Did = "did:web:desk.example".parse().unwrap();
    let desk = store.as_actor(&desk).in_namespace("acme");
    let bill = desk.put(note("a bill").tag("watched")).unwrap();
    let handed = desk.hand_off(&bot(), &Handoff::of("settle it").context(bill));
    let expert = store.as_actor(&bot()).in_namespace("acme");
    let context = expert.take_over(&handed.unwrap().delegation).unwrap();
    assert_eq!(context.len(), 1);
    let told: Vec<_> = reads(&store).into_iter().collect();
    let told: Vec<_> = told
        .iter()
        .map(|read| (&*read.operation, &*read.addresses, read.by.as_deref()))
        .collect();
    let by = bot();
    assert_eq!(
        told,
        [
            ("consents", &[consent][..], None),
            ("agent_card", &[can], None),
            ("take_over", &[bill], Some(by.as_str())),
        ]
    );
}

#[test]
fn what_a_handle_does_not_see_is_not_on_record_as_read_by_it() {
    let store = watching();
    let [tea, _] = talk(&store, true);
    let unreviewed = Draft::reasoning("she is ill")
        .namespace("acme")
        .tag("watched");
    let unreviewed = store
        .put(unreviewed.set("requires_human_review", true))
        .unwrap();
    let elsewhere = store.as_actor(&bot()).in_namespace("else");
    assert_eq!(elsewhere.get(&tea).unwrap(), None);
    assert_eq!(elsewhere.get_batch(&[tea]).unwrap(), [None]);
    assert!(elsewhere.history(&tea).is_err() && elsewhere.thread(&tea).unwrap().is_empty());
    assert_eq!(elsewhere.query(&Filter::new(), 9, None).unwrap().total, 0);
    assert_eq!(elsewhere.search("tea", &Filter::new(), 9).unwrap().total, 0);
    let all = Filter::new();
    assert!(
        elsewhere
            .recall("tea", &all, &Recall::default())
            .unwrap()
            .passages
            .is_empty()
    );
    let here = store.in_namespace("acme");
    assert_eq!(
        here.get(&unreviewed).unwrap_err().code(),
        "ERR_REVIEW_REQUIRED"
    );
    assert!(here.get_batch(&[tea, unreviewed]).is_err(), "all or none");
    assert_eq!(
        here.query(&Filter::new().tag("none"), 9, None)
            .unwrap()
            .total,
        0
    );
    assert_eq!(reads(&store), []);
}

#[test]
fn what_is_left_out_of_an_answer_is_not_on_record_with_the_rest_of_it() {
    let store = watching();
    let mut both = talk(&store, true);
    both.sort_unstable();
    let secret = note("tea tea tea").namespace("acme").author(bot().as_str());
    let secret = store.put(secret.tag("watched").tag("phi:mrn")).unwrap();
    store
        .put_embeddings(&[Embedding::new(secret, "tiny", &[1.0, 0.0])])
        .unwrap();
    let handle = store.as_actor(&bot()).in_namespace("acme");
    handle.query(&all(), 9, None).unwrap();
    handle.search("tea", &all(), 9).unwrap();
    handle
        .find(&Search::near("tiny", &[1.0, 0.0]).filter(&all()).limit(9))
        .unwrap();
    handle.recall("tea", &all(), &Recall::default()).unwrap();
    let told = reads(&store);
    assert_eq!(told.len(), 4);
    assert!(told.iter().all(|read| read.addresses == both), "{told:?}");
}

#[test]
fn what_the_store_reads_for_itself_is_not_on_record() {
    let store = watching();
    let [tea, answer] = talk(&store, true);
    let newer = |text: &str, old| note(text).tag("watched").derived_from(old);
    let second = store
        .supersede(&tea, newer("white tea", tea), Some("why"))
        .unwrap();
    store.contradict(&second, Some("why")).unwrap();
    store.admin().unwrap().place_hold(&answer, TEST).unwrap();
    store.status(&tea).unwrap();
    store.exists(&tea).unwrap();
    store.list(None, 10).unwrap();
    store.admin().unwrap().heads(&tea).unwrap();
    store.admin().unwrap().policy_report().unwrap();
    store
        .maintenance()
        .unwrap()
        .explain(&Filter::new().tag("watched"))
        .unwrap();
    let asked = store::Asked::named("delete").unwrap();
    store
        .admin()
        .unwrap()
        .explain_policy(&answer, asked, &Default::default())
        .unwrap();
    assert_eq!(store.query(&Filter::new(), 0, None).unwrap().total, 1);
    let desk = store.as_actor(&bot()).in_namespace("acme");
    let handoff = Handoff::of("settle it").session("s1");
    desk.hand_off(&"did:web:expert.example".parse().unwrap(), &handoff)
        .unwrap();
    store.maintenance().unwrap().compact().unwrap();
    assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
    assert_eq!(reads(&store), []);
}

#[test]
fn the_presets_ask_for_reads() {
    for (preset, tag, clause) in [
        ("hipaa", "phi:mrn", "phi-reads"),
        ("pci", "pci:pan", "reads"),
    ] {
        let store = under(preset);
        let draft = note("x")
            .author(bot().as_str())
            .user("ada")
            .set("processing_basis", "contract");
        let address = store.put(draft.tag(tag).tag("reg:pci-dss")).unwrap();
        let group = tag.split(':').next().unwrap();
        let cleared = store
            .with_capability(Capability::default().author(&bot()).cleared_for(group))
            .unwrap();
        assert!(cleared.get(&address).unwrap().is_some());
        assert!(store.as_actor(&bot()).get(&address).unwrap().is_none());
        let found = store
            .admin()
            .unwrap()
            .reads(Some(&address), None, 9)
            .unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].clauses, [format!("{preset}/{clause}")]);
        let report = store.admin().unwrap().policy_report().unwrap();
        assert_eq!(report.counts["reads on record"], 1);
        assert!(report.clauses.iter().all(|one| one.missing.is_none()));
    }
}

#[test]
fn a_read_that_two_regimes_ask_for_names_both() {
    let store = memory();
    let theirs = OURS.replace("ours", "theirs").replace("watched", "theirs");
    let regimes = [OURS, &theirs].map(|text| Regime::parse(text).unwrap());
    store
        .admin()
        .unwrap()
        .set_regimes(regimes.to_vec(), TEST)
        .unwrap();
    for tags in [&["watched"][..], &["theirs"], &["watched", "theirs"], &[]] {
        let draft = tags.iter().fold(note("x"), |draft, tag| draft.tag(*tag));
        store.put(draft.set("app_n", tags.len() as u64)).unwrap();
    }
    store.query(&Filter::new(), 9, None).unwrap();
    let mut told: Vec<_> = reads(&store).into_iter().map(|read| read.clauses).collect();
    told.sort();
    let (ours, theirs) = ("ours/reads".to_owned(), "theirs/reads".to_owned());
    assert_eq!(
        told,
        [vec![ours.clone()], vec![ours, theirs.clone()], vec![theirs]]
    );
    store
        .admin()
        .unwrap()
        .set_regimes(Vec::new(), TEST)
        .unwrap();
    store.query(&Filter::new(), 9, None).unwrap();
    assert_eq!(reads(&store).len(), 3, "nobody asks any more");
}

#[test]
fn a_read_of_many_grains_is_in_entries_of_at_most_a_hundred() {
    let store = watching();
    let all = (0..250).map(|n| note(&n.to_string()).tag("watched"));
    let mut all = addresses_of(&store.put_batch(all).unwrap());
    store.query(&Filter::new(), 1_000, None).unwrap();
    let reads = reads(&store);
    let lens: Vec<_> = reads.iter().map(|read| read.addresses.len()).collect();
    assert_eq!(lens, [100, 100, 50]);
    all.sort_unstable();
    let told: Vec<_> = reads.into_iter().flat_map(|read| read.addresses).collect();
    assert_eq!(told, all);
    let page = store.admin().unwrap().reads(None, None, 2).unwrap();
    let rest = store
        .admin()
        .unwrap()
        .reads(None, Some(page[1].entry), 9)
        .unwrap();
    assert_eq!((page.len(), rest.len()), (2, 1));
}
