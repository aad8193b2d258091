//! The files of a store with sealed persons: no address, word or name of what is sealed is in any byte,
//! whatever operations wrote it.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;

use grainstore::grain::Verification;
use grainstore::interchange::{Format, ImportFile, WriteOptions};
use grainstore::policy::Regime;
use grainstore::store::{Embedding, Person};

use super::*;

use crate::sample::addresses_of;

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
    for address in addresses_of(&store.put_batch(batch).unwrap()) {
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
        let summary = store.import(file).unwrap();
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
    store.admin().unwrap().lock("alice").unwrap();
    drop(store);
    needles.lacks(&disk);
}

/// Events as a subscriber would print them, of this thread.
#[derive(Clone, Default)]
struct Log(Arc<parking_lot::Mutex<String>>);

impl tracing::Subscriber for Log {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        event.record(
            &mut |_: &tracing::field::Field, value: &dyn std::fmt::Debug| {
                writeln!(self.0.lock(), "{value:?}").unwrap();
            },
        );
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

/// Strings to look for, by their first eight bytes, so that one pass over a file finds all.
#[derive(Default)]
struct Canaries(HashMap<[u8; 8], Vec<Vec<u8>>>);

impl Canaries {
    fn add(&mut self, bytes: &[u8]) {
        let first = *bytes.first_chunk().unwrap();
        self.0.entry(first).or_default().push(bytes.to_vec());
    }

    /// Adds a word, its form in lower case, its stem, and their hashes.
    fn word(&mut self, word: &str, stem: &str) {
        for text in [word, &*word.to_lowercase(), stem] {
            self.add(text.as_bytes());
            self.add(ContentAddress::of(text.as_bytes()).as_bytes());
        }
    }

    fn count(&self) -> usize {
        self.0.values().map(Vec::len).sum()
    }

    /// Whether one of them is in the bytes.
    fn sing(&self, content: &[u8]) -> bool {
        content.windows(8).enumerate().any(|(at, window)| {
            let found = self.0.get(window).into_iter().flatten();
            found
                .clone()
                .any(|canary| content[at..].starts_with(canary))
        })
    }

    fn are_in_none(&self, disk: &MemoryDisk) {
        for (name, content) in files(disk) {
            assert!(!self.sing(&content), "{name}");
        }
    }
}

#[test]
fn no_canary_and_no_token_of_two_persons_stands_in_a_file_a_backup_or_a_log_line() {
    let disk = MemoryDisk::default();
    let log = Log::default();
    let _logged = tracing::subscriber::set_default(log.clone());
    let store = with_persons(&disk, &["alice", "bob"]);
    let count = crate::random::cases(400);
    let mut random = crate::random::Random::new(17);
    let mut canaries = Canaries::default();
    canaries.add(b"session-ostrich");
    let drafts = (0..count).map(|n| {
        let mut stem = String::from("q");
        for _ in 0..3 {
            write!(stem, "{:x}", random.number()).unwrap();
        }
        let word = format!("{}ings", stem.replacen('q', "Q", 1));
        canaries.word(&word, &stem);
        // Of both persons alike, so that equal tokens would show.
        let person = if n % 2 == 0 { "alice" } else { "bob" };
        let session = format!("session-ostrich{}", n / 2);
        note(&word, person).set("session_id", session)
    });
    let drafts: Vec<Draft> = drafts.collect();
    let addresses = addresses_of(&store.put_batch(drafts).unwrap());
    addresses.iter().for_each(|of| canaries.add(of.as_bytes()));
    canaries.are_in_none(&disk);
    // Queries, refusals and derived files, each of which may write or log.
    let hits = store.search("session", &Filter::new(), 5);
    assert!(hits.unwrap().results.is_empty());
    let wrong = store.put(note("it names her", "cora").derived_from(addresses[0]));
    assert_eq!(wrong.unwrap_err().code(), "ERR_POLICY_DENIED");
    store.maintenance().unwrap().flush_text().unwrap();
    canaries.are_in_none(&disk);
    store.maintenance().unwrap().compact().unwrap();
    canaries.are_in_none(&disk);
    let backup = MemoryDisk::default();
    let maintenance = store.maintenance().unwrap();
    maintenance.backup_to(&backup, "backup".as_ref()).unwrap();
    let tokens = tokens(&entries(&disk, &store));
    drop(store);
    canaries.are_in_none(&disk);
    canaries.are_in_none(&backup);
    assert!(!canaries.sing(log.0.lock().as_bytes()), "a line of the log");
    println!("{} strings of {count} words", canaries.count());

    // Of each person one of their name, and one of each session; no two are equal.
    assert_eq!(tokens.len(), 2 + count as usize);
    let mut sung = Canaries::default();
    let word = format!("Q{}", "0".repeat(40));
    sung.word(&word, &word);
    assert!(
        sung.sing(format!("..{word}..").as_bytes()),
        "the search finds one that is there"
    );
    let store = open(&backup);
    let snapshot = store.maintenance().unwrap().index_snapshot();
    assert!(snapshot.grains().is_empty());
}

/// Returns the different tokens on the cards of sealed grains.
fn tokens(entries: &[(EntryId, Kind, Vec<u8>)]) -> BTreeSet<Vec<u8>> {
    let mut tokens = BTreeSet::new();
    for (_, _, body) in entries
        .iter()
        .filter(|(_, kind, _)| *kind == Kind::SealedGrain)
    {
        let card = Encoding::MessagePack.decode(body, Profile::Extended);
        let card = card.unwrap();
        let found = card.get("t").unwrap().as_map().unwrap();
        for name in ["u", "s"] {
            tokens.insert(found.get(name).unwrap().as_bytes().unwrap().to_vec());
        }
    }
    tokens
}
