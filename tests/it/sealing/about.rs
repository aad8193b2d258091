//! Whom a grain is about has one definition: a report lists, a key seals and an erasure takes the
//! same grains.

use grainstore::codec::Map;
use grainstore::interchange::{Format, ImportFile, ReadOptions, WriteOptions};
use grainstore::store::{ErasureScope, Person};

use super::*;
use crate::random::{Random, cases, seeds};

/// Everybody and everything that a place may name, not all of them persons with keys.
const NAMES: [&str; 5] = [
    "alice",
    "bob",
    "tea",
    "did:web:alice.example",
    "A\u{301}na \"q\"",
];

/// Returns a grain that names somebody in some of the places that may be about a person.
fn any_draft(random: &mut Random, at: i64) -> Draft {
    let mut draft = match random.below(3) {
        0 => Draft::event(format!("canary{at}")),
        1 => Draft::belief(random.pick(&NAMES), "likes", format!("canary{at}")).confidence(0.5),
        _ => Draft::observation(random.pick(&NAMES), format!("canary{at}")),
    };
    for place in ["user_id", "subject", "subject_did"] {
        if random.below(3) == 0 {
            let name = match place {
                "subject_did" => NAMES[3],
                _ => random.pick(&NAMES),
            };
            draft = draft.set(place, name);
        }
    }
    let mut context = Map::new();
    for member in ["x-omi", "x-omi-inherited", "x-pam"] {
        if random.below(3) == 0 {
            let subject: Map = [("id", random.pick(&NAMES))].into_iter().collect();
            let record = Map::from_iter([("subject", subject)]);
            let json = grainstore::codec::Value::Map(record).to_json();
            context.insert(member, json.replace('\u{301}', "\\u0301"));
        }
    }
    if context.iter().next().is_some() {
        draft = draft.set("context", context);
    }
    draft.created_at(Time::from_ms(at))
}

#[test]
fn what_a_report_lists_is_what_a_key_seals_and_an_erasure_takes() {
    for seed in seeds(cases(20).into()) {
        let random = &mut Random::new(seed);
        let person = random.pick(&[NAMES[0], NAMES[3], NAMES[4]]);
        let stores = [open(&MemoryDisk::default()), open(&MemoryDisk::default())];
        let vault = |store: &Store| {
            store.admin().unwrap().vault().add(&[person]).unwrap();
            store.admin().unwrap().vault().seal(person).unwrap();
            store.admin().unwrap().unlock(person).unwrap();
        };
        // One has the key before the grains, the other one after.
        vault(&stores[0]);
        for at in 0..12 {
            let draft = any_draft(random, at);
            let [one, other] = [0, 1].map(|i| stores[i].put(draft.clone()));
            assert_eq!(one.is_ok(), other.is_ok(), "{seed}");
        }
        let all = addresses(&stores[1]);
        let of = Person::new(person);
        let report = stores[1].admin().unwrap().person_report(&of).unwrap();
        let mut about: Vec<_> = report.about.iter().map(|found| found.address).collect();
        about.sort_unstable();
        vault(&stores[1]);
        for (i, store) in stores.iter().enumerate() {
            store.admin().unwrap().lock(person).unwrap();
            let hidden = all.iter().filter(|it| store.get(it).unwrap().is_none());
            let mut hidden: Vec<_> = hidden.copied().collect();
            hidden.sort_unstable();
            assert_eq!(hidden, about, "{seed}, store {i}: {person}");
            let admin = store.admin().unwrap();
            let done = admin.erase_person(&of, ErasureScope::default(), ASKED);
            assert_eq!(done.unwrap().erased, about, "{seed}: {person}");
            sound(store);
        }
    }
}

/// An OMI file of one person: they are in its envelope alone, with a name and a part of its own, and
/// are named in the record of another one.
const OMI: &str = r#"{"format":"open-memory-interchange","version":"0.2",
"subject":{"id":"u-77","label":"Ana Canary"},"ext":{"x.test":{"note":"canaryext"}},
"memories":[
{"id":"urn:uuid:00000000-0000-4000-8000-000000000001","type":"episodic","content":"canaryone",
"created":"2026-01-02T03:04:05Z"},
{"id":"urn:uuid:00000000-0000-4000-8000-000000000002","type":"semantic","content":"canarytwo",
"created":"2026-01-02T03:04:06Z","entities":[{"name":"canarything","type":"thing"}]},
{"id":"urn:uuid:00000000-0000-4000-8000-000000000003","type":"semantic","content":"of bob",
"created":"2026-01-02T03:04:07Z","subject":{"id":"bob","type":"person"},
"entities":[{"name":"u-77","type":"person"}]}]}"#;

fn import(store: &Store) {
    let reading = ImportFile::of_bytes(OMI.as_bytes(), Some(Format::Omi), &ReadOptions::default());
    let reading = reading.unwrap();
    assert!(reading.errors.is_empty(), "{:?}", reading.errors);
    assert!(store.import(reading).unwrap().is_complete());
}

fn everything(disk: &MemoryDisk) -> Vec<u8> {
    files(disk)
        .into_iter()
        .flat_map(|(_, content)| content)
        .collect()
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes
        .windows(text.len())
        .any(|part| part == text.as_bytes())
}

const WORDS: [&str; 5] = [
    "Ana Canary",
    "canaryext",
    "canaryone",
    "canarytwo",
    "canarything",
];

#[test]
fn the_envelope_of_an_omi_file_is_sealed_reported_and_erased_with_its_person() {
    let person = Person::new("u-77");
    for adds_first in [true, false] {
        let disk = MemoryDisk::default();
        let store = open(&disk);
        let admin = store.admin().unwrap();
        let add = || admin.vault().add(&["u-77"]).unwrap();
        if adds_first {
            add();
            store.admin().unwrap().unlock("u-77").unwrap();
            import(&store);
        } else {
            import(&store);
            let report = admin.person_report(&person).unwrap();
            assert_eq!((report.about.len(), report.mentions.len()), (3, 1));
            add();
            assert_eq!(admin.vault().seal("u-77").unwrap(), 3);
            store.admin().unwrap().unlock("u-77").unwrap();
        }
        let bytes = everything(&disk);
        for word in WORDS {
            assert!(!holds(&bytes, word), "{word} is in a file");
        }
        let scope = ErasureScope {
            mentions: true,
            ..ErasureScope::default()
        };
        let done = admin.erase_person(&person, scope, ASKED).unwrap();
        assert_eq!(done.erased.len(), 4);
        let mut exported = Vec::new();
        let filter = Filter::new().with_superseded();
        let options = WriteOptions::default();
        admin
            .export(Format::Jsonl, &filter, &options, &mut exported)
            .unwrap();
        for word in WORDS.iter().chain(&["u-77"]) {
            assert!(!holds(&exported, word), "{word} is in an export");
        }
        sound(&store);
    }
}
