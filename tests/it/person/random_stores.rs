//! Random stores of several persons: after the erasure of one, no answer, no export and no file
//! holds what was erased, and the answers about the others are the same.

use std::collections::BTreeMap;

use grainstore::interchange::{Format, ImportFile, WriteOptions};

use super::*;
use crate::random::{Random, cases};

const PERSONS: [&str; 3] = ["alice", "bob", "carol"];
const FORMATS: [Format; 7] = [
    Format::Mg,
    Format::Jsonl,
    Format::Omi,
    Format::OmiJsonl,
    Format::Aimem,
    Format::AimemNdjson,
    Format::Pam,
];

/// A store, and the word that each grain alone says.
struct World {
    random: Random,
    disk: MemoryDisk,
    store: Store,
    words: BTreeMap<ContentAddress, String>,
    /// The current grains by person.
    own: BTreeMap<&'static str, Vec<ContentAddress>>,
    /// The words of alice's grains from files, which nothing holds.
    imported: Vec<(Format, String)>,
    made: u32,
}

impl World {
    fn new(seed: u64) -> Self {
        let disk = MemoryDisk::default();
        Self {
            random: Random::new(seed),
            store: open(&disk),
            disk,
            words: BTreeMap::new(),
            own: BTreeMap::new(),
            imported: Vec::new(),
            made: 0,
        }
    }

    fn word(&mut self) -> String {
        self.made += 1;
        format!("canary{}x", self.made)
    }

    fn put(&mut self, person: &'static str, word: String, draft: Draft) {
        let draft = draft.created_at(Time::from_ms(i64::from(self.made)));
        let address = self.store.put(draft).unwrap();
        self.words.insert(address, word);
        self.own.entry(person).or_default().push(address);
    }

    fn step(&mut self) {
        let person = self.random.pick(&PERSONS);
        let other = self.random.pick(&PERSONS);
        let word = self.word();
        match self.random.below(10) {
            0 | 1 => self.put(person, word.clone(), Draft::event(&*word).user(person)),
            2 => self.put(person, word.clone(), belief(person, &word)),
            3 => {
                let mention = Draft::belief(&*word, "knows", other).confidence(0.5);
                self.put(person, word, mention.user(person));
            }
            4 => {
                let Some(old) = self.own.entry(person).or_default().pop() else {
                    return;
                };
                let new = Draft::event(&*word).user(person).derived_from(old);
                let new = new.created_at(Time::from_ms(i64::from(self.made)));
                if let Ok(address) = self.store.supersede(&old, new, Some("newer")) {
                    self.words.insert(address, word);
                    self.own.entry(person).or_default().push(address);
                }
            }
            5 => {
                if let Some(of) = self.any_of(person) {
                    let vector = Embedding {
                        of,
                        model: "m".into(),
                        vector: vec![1.0, 0.5],
                    };
                    self.store.put_embeddings(&[vector]).unwrap();
                }
            }
            6 if self.random.flag() => {
                if let Some(held) = self.any_of(person) {
                    self.store
                        .admin()
                        .unwrap()
                        .place_hold(&held, ASKED)
                        .unwrap();
                }
            }
            7 => self.consent(person),
            8 => self.import(person, &word),
            _ => {
                self.store.maintenance().unwrap().flush_text().unwrap();
                if self.random.flag() {
                    self.store.maintenance().unwrap().compact().unwrap();
                }
            }
        }
    }

    fn any_of(&mut self, person: &'static str) -> Option<ContentAddress> {
        let own = self.own.get(person).filter(|own| !own.is_empty())?;
        Some(own[self.random.below(own.len())])
    }

    /// A consent of a person, at times withdrawn.
    fn consent(&mut self, person: &'static str) {
        let word = self.word();
        let consent = |more: &str, at| {
            let json = format!(
                r#"{{"type":"consent","subject_did":"{person}","grantee_did":"did:web:b",
                "scope":["store"],"jurisdiction":"{word}","created_at":{at},{more}}}"#
            );
            Draft::from_json(&json).unwrap()
        };
        let grant = consent(r#""is_withdrawal":false"#, self.made);
        let grant = self.store.put(grant).unwrap();
        self.words.insert(grant, word.clone());
        if self.random.flag() {
            let more = format!(r#""is_withdrawal":true,"prior_consent":"{grant}""#);
            self.store.put(consent(&more, self.made + 1_000)).unwrap();
        }
    }

    /// A file of a person, in a format that brings the word back.
    fn import(&mut self, person: &'static str, word: &str) {
        let side = Store::in_memory(Options::default()).unwrap();
        let draft = belief("user", word).user(person);
        side.put(draft.created_at(Time::from_ms(i64::from(self.made))))
            .unwrap();
        let format = self.random.pick(&FORMATS);
        let mut bytes = Vec::new();
        let (all, options) = (Filter::new(), WriteOptions::default());
        let written = side
            .admin()
            .unwrap()
            .export(format, &all, &options, &mut bytes);
        written.unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        let file = ImportFile::open(file.path(), Some(format), &Default::default()).unwrap();
        self.store.import(file).unwrap();
        if person == "alice" {
            self.imported.push((format, word.to_owned()));
        }
    }

    /// Everything that the store answers about a person by their grains.
    fn answers(&self, person: &str) -> Vec<String> {
        let filter = Filter::new().user(person).with_superseded();
        let found = self.store.query(&filter, 1_000, None).unwrap().results;
        let mut answers: Vec<String> = found
            .iter()
            .map(|found| {
                let status = self.store.status(&found.address).unwrap();
                let grain = self.store.get(&found.address).unwrap().unwrap();
                let model = self.store.embedding(&found.address, "m").unwrap();
                format!("{} {} {status:?} {model:?}", found.address, grain.to_json())
            })
            .collect();
        answers.sort();
        answers
    }

    /// Checks that nothing of the erased grains is anywhere.
    fn lacks(&self, erased: &[ContentAddress]) {
        for address in erased {
            assert!(!self.store.exists(address).unwrap());
        }
        let words = erased.iter().filter_map(|address| self.words.get(address));
        let imported = self.imported.iter().map(|(_, word)| word);
        let exports = self.exports();
        for word in words.chain(imported) {
            let search = self.store.search(word, &Filter::new(), 10).unwrap();
            assert_eq!(search.total, 0, "{word} {:?}", self.imported);
            assert!(!holds(&self.disk, word), "{word} {:?}", self.imported);
            for file in &exports {
                let mut windows = file.windows(word.len());
                assert!(!windows.any(|part| part == word.as_bytes()), "{word}");
            }
        }
    }

    fn exports(&self) -> Vec<Vec<u8>> {
        let (all, options) = (Filter::new().with_superseded(), WriteOptions::default());
        let admin = self.store.admin().unwrap();
        let files = FORMATS.iter().filter_map(|format| {
            let mut bytes = Vec::new();
            // Some formats hold one person alone.
            admin.export(*format, &all, &options, &mut bytes).ok()?;
            Some(bytes)
        });
        files.collect()
    }
}

fn erase_one(seed: u64) -> usize {
    let mut world = World::new(seed);
    for _ in 0..world.random.within(5..40) {
        world.step();
    }
    let scope = ErasureScope {
        mentions: world.random.flag(),
        except_kept: true,
        reseal_held: false,
    };
    let alice = Person::new("alice");
    let found = report(&world.store, &alice);
    let others = PERSONS.map(|person| world.answers(person));
    let done = world
        .store
        .admin()
        .unwrap()
        .erase_person(&alice, scope, ASKED)
        .unwrap();

    // The same selector: what is reported is what is erased.
    let chosen = found
        .about
        .iter()
        .chain(found.mentions.iter().filter(|_| scope.mentions));
    let mut chosen: Vec<_> = chosen
        .filter(|it| it.kept.is_none())
        .map(|it| it.address)
        .collect();
    chosen.sort();
    assert_eq!(done.erased, chosen);
    let gone_of = done.erased.iter().filter(|_| scope.mentions);
    let gone_of: Vec<String> = gone_of.map(ToString::to_string).collect();
    for _ in 0..2 {
        world.lacks(&done.erased);
        let left = report(&world.store, &alice);
        let left: Vec<_> = left.about.iter().map(|it| (it.address, it.kept)).collect();
        let kept = done
            .kept
            .iter()
            .map(|(address, rule)| (*address, Some(*rule)));
        let is_kept = left.iter().all(|one| kept.clone().any(|kept| kept == *one));
        assert!(is_kept, "{left:?}");
        for (person, before) in PERSONS.iter().zip(&others).skip(1) {
            let mut before = before.clone();
            // Mentions alone, and only where that was asked.
            let erased = |it: &String| gone_of.iter().any(|at| it.starts_with(at.as_str()));
            before.retain(|answer| !erased(answer));
            assert_eq!(world.answers(person), before, "{person}");
        }
        let checked = world.store.maintenance().unwrap().check().unwrap();
        assert_eq!(checked.findings, []);
        drop(std::mem::replace(
            &mut world.store,
            Store::in_memory(Options::default()).unwrap(),
        ));
        world.store = open(&world.disk);
    }
    done.erased.len()
}

#[test]
fn nothing_of_an_erased_person_is_in_any_answer_export_or_file() {
    let erased: usize = (0..u64::from(cases(40))).map(erase_one).sum();
    println!("{erased} grains erased");
    assert!(erased > 100);
}
