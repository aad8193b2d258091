//! Which consents there are: every answer against a plain look at all of them.

use grainstore::codec::{Canonical, Encoding, Profile, Value};
use grainstore::grain::Field;
use grainstore::interchange::{ImportFile, ReadOptions};
use grainstore::ledger::MemoryDisk;
use grainstore::store::{Consent, ConsentFilter, Summary};
use grainstore::{ContentAddress, Draft, Options, Store, Time};

use crate::random::{Random, seeds};

const PEOPLE: [&str; 3] = ["did:web:ada", "did:web:bob", "did:web:c\u{e9}line"];
const SHOPS: [&str; 2] = ["did:web:shop", "did:web:clinic"];
const SCOPES: [&str; 4] = ["store", "retrieve", "share", "train"];
const PURPOSES: [&str; 2] = ["delivery", "research"];

/// A consent as the reference knows it.
struct Known {
    address: ContentAddress,
    texts: [Vec<&'static str>; 4],
    /// From when, and until when, as far as it says so.
    window: (i64, Option<i64>),
    is_grant: bool,
    /// When it was withdrawn or replaced.
    ended: Option<i64>,
}

struct World {
    store: Store,
    clock: std::sync::Arc<crate::store::SetClock>,
    now: i64,
    all: Vec<Known>,
}

impl World {
    fn put(&mut self, random: &mut Random) {
        let person = random.pick(&PEOPLE);
        let shop = random.pick(&SHOPS);
        let mut scope: Vec<_> = random.many(1..4, |random| random.pick(&SCOPES));
        scope.dedup();
        let purposes: Vec<_> = random.many(0..3, |random| random.pick(&PURPOSES));
        let created = self.now - i64::try_from(random.below(50)).unwrap();
        let mut draft = grant(person, shop, &scope).created_at(Time::from_ms(created));
        // One purpose is a text, several are a list.
        match purposes.as_slice() {
            [] => {}
            [one] => draft = draft.set("purpose", *one),
            many => draft = draft.set("purpose", Value::from(many.to_vec())),
        }
        let mut window = (created, None);
        if random.flag() {
            window.0 = self.now + i64::try_from(random.below(40)).unwrap() - 20;
            draft = draft.set("valid_from", window.0);
        }
        if random.flag() {
            window.1 = Some(window.0 + 1 + i64::try_from(random.below(60)).unwrap());
            draft = draft.set("valid_to", window.1.unwrap());
        }
        let draft = draft.set("nonce", i64::try_from(self.all.len()).unwrap());
        let address = self.store.put(draft).unwrap();
        self.all.push(Known {
            address,
            texts: [vec![person], vec![shop], scope, purposes],
            window,
            is_grant: true,
            ended: None,
        });
    }

    fn withdraw(&mut self, random: &mut Random) {
        if self.all.is_empty() {
            return;
        }
        let at = random.below(self.all.len());
        let known = &mut self.all[at];
        if !known.is_grant || known.ended.is_some() {
            return;
        }
        let [person, shop, scope, _] = known.texts.clone();
        let draft = grant(person[0], shop[0], &scope)
            .set("is_withdrawal", true)
            .set("prior_consent", known.address.to_string())
            .created_at(Time::from_ms(self.now));
        let address = self.store.put(draft).unwrap();
        known.ended = Some(self.now);
        self.all.push(Known {
            address,
            texts: [person, shop, scope, vec![]],
            window: (self.now, None),
            is_grant: false,
            ended: None,
        });
    }

    fn agrees(&self, random: &mut Random) {
        for _ in 0..6 {
            let mut one = |of: &[&'static str]| random.flag().then(|| random.pick(of));
            let asked = [one(&PEOPLE), one(&SHOPS), one(&SCOPES), one(&PURPOSES)];
            let at = random
                .flag()
                .then(|| self.now - i64::try_from(random.below(100)).unwrap());
            let filter = ConsentFilter {
                subject: asked[0],
                grantee: asked[1],
                scope: asked[2],
                purpose: asked[3],
                at: at.map(Time::from_ms),
            };
            let expected = self.all.iter().filter(|known| {
                let (from, to) = known.window;
                let mut texts = asked.iter().zip(&known.texts);
                texts.all(|(asked, has)| asked.is_none_or(|asked| has.contains(&asked)))
                    && at.is_none_or(|at| {
                        known.is_grant
                            && from <= at
                            && to.is_none_or(|to| at < to)
                            && known.ended.is_none_or(|ended| at < ended)
                    })
            });
            let expected: Vec<_> = expected.map(|known| known.address).collect();
            let found = self.store.admin().unwrap().consents(&filter).unwrap();
            assert_eq!(addresses(&found), expected, "{filter:?}");
        }
    }
}

fn grant(person: &str, shop: &str, scope: &[&str]) -> Draft {
    Draft::new(grainstore::Type::Consent)
        .set("subject_did", person)
        .set("grantee_did", shop)
        .set("scope", Value::from(scope.to_vec()))
        .set("is_withdrawal", false)
}

fn addresses(found: &[Consent]) -> Vec<ContentAddress> {
    let found = found.iter();
    found.map(|consent| consent.grain.address()).collect()
}

#[test]
fn consents_are_found_by_who_whom_what_for_and_when() {
    for seed in seeds(60) {
        let mut random = Random::new(seed);
        let disk = MemoryDisk::default();
        let open = |now| {
            let (options, clock) = crate::store::at(now);
            let mut options = Options {
                ballast_bytes: 0,
                text: None,
                ..options
            };
            // Most of them are in runs.
            options.index.flush_rows = 8;
            options.index.background = false;
            let disk = std::sync::Arc::new(disk.clone());
            (Store::open_on(disk, options).unwrap(), clock)
        };
        let (store, clock) = open(1_000);
        let mut world = World {
            store,
            clock,
            now: 1_000,
            all: Vec::new(),
        };
        for _ in 0..25 {
            match random.below(3) {
                0 => world.withdraw(&mut random),
                _ => world.put(&mut random),
            }
            world.now += 1 + i64::try_from(random.below(9)).unwrap();
            world.clock.set(world.now);
        }
        world.agrees(&mut random);
        let World { store, .. } = &world;
        assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
        drop(std::mem::replace(
            &mut world.store,
            Store::in_memory(Options::default()).unwrap(),
        ));
        (world.store, world.clock) = open(world.now);
        world.agrees(&mut random);
    }
}

#[test]
fn a_consent_says_what_became_of_it() {
    let (store, clock) = super::opened_at(&MemoryDisk::default(), 1_000);
    let first = grant(PEOPLE[0], SHOPS[0], &["store"]).created_at(Time::from_ms(10));
    let first = store.put(first).unwrap();
    let second = grant(PEOPLE[0], SHOPS[0], &["store", "share"])
        .set("prior_consent", first.to_string())
        .set("supersession_justification", "renewed");
    clock.set(2_000);
    let second = store.supersede(&first, second, None).unwrap();
    clock.set(3_000);
    let withdrawal = grant(PEOPLE[0], SHOPS[0], &["share"])
        .set("is_withdrawal", true)
        .set("prior_consent", second.to_string());
    let withdrawal = store.put(withdrawal).unwrap();
    let all = store
        .admin()
        .unwrap()
        .consents(&ConsentFilter::default())
        .unwrap();
    assert_eq!(addresses(&all), [first, second, withdrawal]);
    assert_eq!(all[0].replaced_by, Some(second));
    assert_eq!(all[0].ended_at, Some(Time::from_ms(2_000)));
    // What withdraws a renewal withdraws what it renewed.
    assert_eq!(all[0].withdrawn.unwrap().by, withdrawal);
    assert_eq!(all[1].withdrawn.unwrap().at, Time::from_ms(3_000));
    assert_eq!((all[2].withdraws, all[2].withdrawn), (Some(second), None));
    let at = |ms| {
        let at = Some(Time::from_ms(ms));
        let filter = ConsentFilter {
            at,
            ..ConsentFilter::default()
        };
        addresses(&store.admin().unwrap().consents(&filter).unwrap())
    };
    assert_eq!(at(9), []);
    assert_eq!(at(10), [first]);
    assert_eq!(at(2_000), [second]);
    assert_eq!(at(2_999), [second]);
    assert_eq!(at(3_000), []);
}

#[test]
fn a_withdrawal_is_no_consent_that_stands_and_says_whether_its_grant_is_here() {
    let (store, _) = super::opened_at(&MemoryDisk::default(), 1_000);
    let grant = store.put(grant(PEOPLE[0], SHOPS[0], &["store"])).unwrap();
    let json = |prior: &str| {
        format!(
            r#"{{"type":"consent","subject_did":"{}","grantee_did":"{}","scope":["store"],
                "is_withdrawal":true,"created_at":1,"prior_consent":"{prior}"}}"#,
            PEOPLE[0], SHOPS[0]
        )
        .replace('\n', " ")
    };
    // A file may hold what a put refuses: it is kept, told, and stands for nothing.
    let text = grant.to_string();
    let bent = [
        text.to_uppercase(),
        text[..40].to_owned(),
        "the last one".to_owned(),
    ];
    for prior in &bent {
        let draft =
            Draft::from_json(&json(prior)).and_then(|draft| draft.finish(Default::default()));
        let code = draft.unwrap_err().code();
        assert!(code.as_str().starts_with("ERR_HASH_"), "{prior}: {code}");
        let summary = imported(&store, &foreign(&json(prior), prior));
        assert_eq!(summary.inserted, 1, "{:?}", summary.refused);
        let told = summary
            .findings
            .iter()
            .any(|(_, text)| text.contains("prior_consent"));
        assert!(told, "{:?}", summary.findings);
    }
    let unknown = store
        .put(Draft::from_json(&json(&"cd".repeat(32))).unwrap())
        .unwrap();
    let warned = store
        .warnings(&store.get(&unknown).unwrap().unwrap())
        .unwrap();
    assert!(warned[0].message.contains("not here"), "{warned:?}");
    let all = store
        .admin()
        .unwrap()
        .consents(&ConsentFilter::default())
        .unwrap();
    let now = Time::from_ms(2_000);
    for consent in &all {
        let is_grant = consent.grain.address() == grant;
        assert_eq!(consent.is_in_force_at(now), is_grant);
        assert_eq!(consent.is_withdrawal, !is_grant);
        assert!(!consent.is_grant_here);
    }
    assert_eq!(all.len(), 5);
    // The grant itself is withdrawn by its whole address, and the withdrawal knows it.
    let withdrawal = store.put(Draft::from_json(&json(&text)).unwrap()).unwrap();
    let all = store
        .admin()
        .unwrap()
        .consents(&ConsentFilter::default())
        .unwrap();
    let found = all
        .iter()
        .find(|consent| consent.grain.address() == withdrawal)
        .unwrap();
    assert!(found.is_grant_here && found.withdraws == Some(grant));
    assert!(!all.iter().any(|consent| consent.is_in_force_at(now)));
}

fn imported(store: &Store, blob: &[u8]) -> Summary {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.jsonl");
    let hex = data_encoding::HEXLOWER.encode(blob);
    let line = serde_json::json!({"address": ContentAddress::of(blob).to_string(), "blob": hex});
    std::fs::write(&path, format!("{line}\n")).unwrap();
    let reading = ImportFile::open(&path, None, &ReadOptions::default()).unwrap();
    store.import(reading).unwrap()
}

/// The blob of a withdrawal as an implementation writes it that asks nothing of a reference.
fn foreign(json: &str, prior: &str) -> Vec<u8> {
    let address = "ab".repeat(32);
    let draft = Draft::from_json(&json.replace(prior, &address)).unwrap();
    let grain = draft.finish(Default::default()).unwrap();
    let mut fields = grain.fields().clone();
    fields.insert("prior_consent", prior);
    let short: grainstore::codec::Map = fields
        .iter()
        .map(|(name, value)| (Field::named(name).unwrap().key, value.clone()))
        .collect();
    let map = Canonical::new(short, Profile::Extended).unwrap();
    let mut blob = grain.header().to_bytes().to_vec();
    Encoding::MessagePack.encode_into(&mut blob, &map);
    blob
}
