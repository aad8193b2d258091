//! The files of a store with sealed persons: no address, word or name of what is sealed is in any byte,
//! whatever operations wrote it.

use std::fmt::Write as _;

use grainstore::grain::Verification;
use grainstore::interchange::{Format, ImportFile, WriteOptions};
use grainstore::policy::Regime;
use grainstore::store::{Embedding, Person};

use super::*;

/// What an attacker looks for: texts, and addresses as bytes and in hexadecimal.
struct Needles(Vec<(String, Vec<u8>)>);

impl Needles {
    fn word(&mut self, word: &str) {
        self.0.push((word.to_owned(), word.as_bytes().to_vec()));
        let hash = ContentAddress::of(word.as_bytes());
        self.0
            .push((format!("hash of {word}"), hash.as_bytes().to_vec()));
    }

    fn address(&mut self, of: &ContentAddress) {
        let text = of.to_string();
        self.0
            .push((format!("address {text}"), of.as_bytes().to_vec()));
        self.0.push((format!("text of {text}"), text.into_bytes()));
    }

    fn lacks(&self, disk: &MemoryDisk) {
        for (name, content) in files(disk) {
            for (needle, bytes) in &self.0 {
                let finder = memchr::memmem::Finder::new(bytes);
                assert!(finder.find(&content).is_none(), "{needle} is in {name}");
            }
        }
    }
}

fn reads() -> Regime {
    Regime::parse(
        "name = \"ours\"\ntitle = \"our own\"\n[[clause]]\nid = \"reads\"\ncites = \"a contract\"\n\
         says = \"reads are known\"\nrequires = { read_audit = true }\n",
    )
    .unwrap()
}

#[test]
#[expect(clippy::too_many_lines, reason = "one statement an operation")]
fn no_operation_writes_anything_of_a_sealed_grain_in_the_clear() {
    let disk = MemoryDisk::default();
    let store = with_persons(&disk, &["alice"]);
    let admin = store.admin().unwrap();
    let mut needles = Needles(Vec::new());
    needles.word("alice");
    let mut made = 0;
    let mut draft = |needles: &mut Needles| {
        made += 1;
        let word = format!("quagga{made}");
        needles.word(&word);
        let draft = Draft::event(format!("she saw a {word}")).user("alice");
        let session = format!("zebra{made}");
        needles.word(&session);
        draft
            .created_at(Time::from_ms(made))
            .set("session_id", session)
    };
    let put = |draft: Draft, needles: &mut Needles| {
        let address = store.put(draft).unwrap();
        needles.address(&address);
        address
    };

    let first = put(draft(&mut needles), &mut needles);
    let batch = [draft(&mut needles), draft(&mut needles)];
    for address in store.put_batch(batch).unwrap() {
        needles.address(&address);
    }
    // Every operation about a stored grain.
    let second = store.supersede(
        &first,
        draft(&mut needles).derived_from(first),
        Some("newer"),
    );
    let second = second.unwrap();
    needles.address(&second);
    store.contradict(&second, Some("it was an okapi")).unwrap();
    needles.word("okapi");
    store
        .set_verification(&second, Verification::Verified, Some("she told me"))
        .unwrap();
    let vector = Embedding::new(second, "okapia", &[1.25, 2.5]);
    needles.word("okapia");
    store.put_embeddings(&[vector]).unwrap();
    admin.place_hold(&second, ASKED).unwrap();
    assert_eq!(
        admin.delete(&second, ASKED).unwrap_err().code(),
        "ERR_INVALIDATION_DENIED"
    );
    admin.lift_hold(&second, ASKED).unwrap();
    // Reviews, and refusals of grains that are not stored.
    let locked = r#"{"type":"event","content":"a locked dugong","user_id":"alice",
        "invalidation_policy":{"mode":"soft_locked","scope":"subtree"}}"#;
    needles.word("dugong");
    let locked = put(
        Draft::from_json(locked)
            .unwrap()
            .created_at(Time::from_ms(5)),
        &mut needles,
    );
    let after = draft(&mut needles).derived_from(locked);
    let after = store.supersede(&locked, after, Some("newer"));
    after.iter().for_each(|address| needles.address(address));
    let belief = |object: &str| {
        let belief = Draft::belief("narwhal", "eats", object)
            .confidence(0.5)
            .user("alice");
        belief.created_at(Time::from_ms(7))
    };
    needles.word("narwhal");
    let one = put(belief("krill"), &mut needles);
    needles.word("krill");
    let two = belief("squid").derived_from(one);
    let refused = store.put_batch([belief("whelk"), two]).unwrap_err();
    assert_eq!(refused.code(), "ERR_INVALIDATION_DENIED");
    let whelk = belief("whelk").finish(Default::default()).unwrap();
    needles.address(&whelk.address());
    // A denied grain of hers: its consent is withdrawn.
    // Reads that a clause wants recorded, with and without names.
    admin.set_regimes(vec![reads()], ASKED).unwrap();
    let plain = store.put(note("of bob", "bob")).unwrap();
    store.get_batch(&[second, plain, first]).unwrap();
    store.query(&Filter::new(), 100, None).unwrap();
    assert_eq!(admin.reads(Some(&second), None, 9).unwrap().len(), 1);
    // A file: names, flags, signatures of nobody, vectors.
    for format in [Format::Pam, Format::Mg, Format::Omi] {
        let side = Store::in_memory(Options::default()).unwrap();
        let belief = Draft::belief("ibex", format!("{format:?}"), "edelweiss").confidence(0.5);
        let belief = belief.user("alice").created_at(Time::from_ms(77));
        needles.address(&side.put(belief).unwrap());
        let mut bytes = Vec::new();
        let (all, options) = (Filter::new(), WriteOptions::default());
        side.admin()
            .unwrap()
            .export(format, &all, &options, &mut bytes)
            .unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        let file = ImportFile::open(file.path(), Some(format), &Default::default()).unwrap();
        let summary = admin.import(file).unwrap();
        assert!(
            summary.inserted > 0 && summary.refused.is_empty(),
            "{summary:?}"
        );
    }
    needles.word("edelweiss");
    for address in addresses(&store) {
        if address != plain {
            needles.address(&address);
        }
    }
    // Deleting one, and what is left of it.
    admin.delete(&one, ASKED).unwrap();
    assert_eq!(store.put(belief("krill")).unwrap_err().code(), "ERR_ERASED");
    let report = admin.person_report(&Person::new("alice")).unwrap();
    assert!(report.about.len() > 5);
    store.maintenance().unwrap().flush_text().unwrap();
    store.maintenance().unwrap().compact().unwrap();
    needles.lacks(&disk);
    sound(&store);
    store.lock("alice").unwrap();
    drop(store);
    needles.lacks(&disk);
}

#[test]
fn no_canary_and_no_token_of_two_persons_stands_in_a_file_or_a_backup() {
    let disk = MemoryDisk::default();
    let store = with_persons(&disk, &["alice", "bob"]);
    let count = crate::random::cases(400);
    let mut random = crate::random::Random::new(17);
    let mut canaries = Vec::new();
    let drafts = (0..count).map(|n| {
        let mut word = String::new();
        for _ in 0..3 {
            write!(word, "{:x}", random.number()).unwrap();
        }
        // Of both persons alike, so that equal tokens would show.
        let person = if n % 2 == 0 { "alice" } else { "bob" };
        let draft = note(&format!("Canary{word}ings"), person).set("session_id", "session-ostrich");
        canaries.push(format!("Canary{word}ings"));
        draft
    });
    let addresses = store.put_batch(drafts.collect::<Vec<_>>()).unwrap();
    store.maintenance().unwrap().compact().unwrap();
    let backup = MemoryDisk::default();
    let maintenance = store.maintenance().unwrap();
    maintenance.backup_to(&backup, "backup".as_ref()).unwrap();
    drop(store);
    let mut needles: Vec<Vec<u8>> = vec![b"session-ostrich".to_vec()];
    for canary in &canaries {
        needles.push(canary.as_bytes().to_vec());
        needles.push(canary.to_lowercase().into_bytes());
        let stem = canary.to_lowercase();
        needles.push(stem.strip_suffix("ings").unwrap().as_bytes().to_vec());
        for text in [canary.clone(), canary.to_lowercase()] {
            needles.push(ContentAddress::of(text.as_bytes()).as_bytes().to_vec());
        }
    }
    needles.extend(addresses.iter().map(|address| address.as_bytes().to_vec()));
    // One pass over each file: by the first eight bytes of each needle.
    let starts: std::collections::HashMap<[u8; 8], &Vec<u8>> = needles
        .iter()
        .map(|needle| (*needle.first_chunk().unwrap(), needle))
        .collect();
    for (name, content) in files(&disk).into_iter().chain(files(&backup)) {
        for (at, window) in content.windows(8).enumerate() {
            if let Some(needle) = starts.get(window) {
                assert!(
                    !content[at..].starts_with(needle),
                    "{needle:?} is in {name}"
                );
            }
        }
    }
    // The tokens of the same session: as many forms as persons.
    let store = open(&backup);
    let snapshot = store.maintenance().unwrap().index_snapshot();
    assert!(snapshot.grains().is_empty());
}
