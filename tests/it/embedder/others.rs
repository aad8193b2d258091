//! Embedding beside other processes, and of sealed persons.

use super::*;

#[test]
fn the_keeper_alone_embeds_what_any_process_stores_and_all_find_it() {
    let disk = MemoryDisk::default();
    let [of_keeper, of_other] = ["concepts@1"; 2].map(Concepts::named);
    let keeper = open(&disk, &[Arc::clone(&of_keeper)]);
    let other = open(&disk, &[Arc::clone(&of_other)]);
    let dog = put(&other, "a dog");
    put(&keeper, "a train");
    flush(&other);
    assert!(of_other.passages().is_empty());
    keeper.maintenance().unwrap().tend().unwrap();
    flush(&keeper);
    assert_eq!(of_keeper.passages(), ["a dog", "a train"]);
    let found = other.search("pet", &Filter::new(), 1).unwrap();
    assert_eq!(addresses(&found), [dog]);
    assert_eq!(statuses(&other)[0].waiting, 0);
}

#[test]
fn a_process_that_takes_the_place_of_the_keeper_embeds_what_waits() {
    let disk = MemoryDisk::default();
    let of_other = Concepts::named("concepts@1");
    let keeper = open(&disk, &[]);
    let other = open(&disk, &[Arc::clone(&of_other)]);
    put(&keeper, "a dog");
    put(&other, "a train");
    drop(keeper);
    other.maintenance().unwrap().tend().unwrap();
    flush(&other);
    assert_eq!(of_other.passages(), ["a dog", "a train"]);
}

#[test]
fn a_store_opened_for_reading_embeds_questions_alone() {
    let disk = MemoryDisk::default();
    let store = open(&disk, &[Concepts::named("concepts@1")]);
    let dog = put(&store, "a dog");
    flush(&store);
    let model = Concepts::named("concepts@1");
    let reader = Store::open_on(Arc::new(disk), options(&[Arc::clone(&model)]).read_only());
    let reader = reader.unwrap();
    let found = reader.search("pet", &Filter::new(), 1).unwrap();
    assert_eq!(addresses(&found), [dog]);
    flush(&reader);
    assert!(model.passages().is_empty());
}

#[cfg(feature = "sealing")]
#[test]
fn a_sealed_person_is_embedded_while_unlocked_and_no_file_has_the_vector() {
    use crate::sealing::{self, files};

    let disk = MemoryDisk::default();
    let model = Concepts::named("concepts@okapi");
    let open = || {
        let options = Options {
            embedders: vec![Arc::clone(&model) as _],
            ..sealing::options()
        };
        Store::open_on(Arc::new(disk.clone()), options).unwrap()
    };
    let of_alice = |text: &str| {
        Draft::event(text)
            .user("alice")
            .created_at(Time::from_ms(9))
    };
    let store = sealing::with_persons(&disk, &["alice"]);
    let one = store.put(of_alice("her dog")).unwrap();
    drop(store);
    // Locked: nothing of her waits, and nothing of her reaches the model.
    let store = open();
    flush(&store);
    assert!(model.passages().is_empty());
    store.admin().unwrap().unlock("alice").unwrap();
    let two = store.put(of_alice("her clinic")).unwrap();
    flush(&store);
    assert_eq!(model.passages(), ["her clinic", "her dog"]);
    assert_eq!(near(&store, "concepts@okapi", "pet"), [one]);
    assert!(store.embedding(&two, "concepts@okapi").unwrap().is_some());
    let stored = Concepts::vector("her clinic");
    let needles = [
        b"okapi".to_vec(),
        stored.into_iter().flat_map(f32::to_be_bytes).collect(),
    ];
    store.admin().unwrap().lock("alice").unwrap();
    assert_eq!(near(&store, "concepts@okapi", "pet"), []);
    drop(store);
    for (name, content) in files(&disk) {
        for needle in &needles {
            let finder = memchr::memmem::Finder::new(needle);
            assert!(finder.find(&content).is_none(), "{needle:?} is in {name}");
        }
    }
}
