//! Stores whose segments are compressed.

use std::collections::BTreeMap;

use grainstore::store::Authorization;

use super::*;

/// Each note has common words, and again and again a word of its own.
fn note(nth: usize) -> Draft {
    let common = "the ferry to the island leaves at noon and comes back before it is dark";
    let own = format!("{} ", own_word(nth)).repeat(7);
    Draft::event(format!("{common} {own}")).created_at(Time::from_ms(1_000))
}

fn own_word(nth: usize) -> String {
    let mut rest = nth * 7_919 + 50_000_017;
    let mut word = String::new();
    for _ in 0..9 {
        word.push(char::from(b'a' + u8::try_from(rest % 26).unwrap()));
        rest = rest * 31 / 17;
    }
    word
}

/// Returns whether a file of a store has a word.
fn has_word(folder: &Path, word: &str) -> bool {
    fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return has_word(&path, word);
        }
        let bytes = fs::read(&path).unwrap();
        bytes.windows(word.len()).any(|at| at == word.as_bytes())
    })
}

fn compressing() -> Options {
    Options {
        segment_bytes: 1 << 20,
        ..options()
    }
}

/// Compaction compresses; two processes delete, and neither leaves a word or disturbs the other.
#[test]
fn a_grain_is_deleted_from_a_compressed_store_with_every_word() {
    let home = Home::new();
    let keeper = Store::open(home.path("s"), compressing()).unwrap();
    let addresses = addresses_of(&keeper.put_batch((0..400).map(note)).unwrap());
    let sizes = keeper.maintenance().unwrap().compact().unwrap();
    assert_eq!(sizes.after.ledger_bytes, sizes.before.ledger_bytes);
    let sizes = keeper.maintenance().unwrap().compress().unwrap();
    let (before, after) = (sizes.before.ledger_bytes, sizes.after.ledger_bytes);
    assert!(after < before * 6 / 10, "{after} of {before}");
    let sizes = keeper.maintenance().unwrap().compact().unwrap();
    assert_eq!(sizes.after.ledger_bytes, after, "it was compressed");

    let other = Store::open(home.path("s"), compressing()).unwrap();
    let ledger = home.path("s/ledger");
    let in_dictionary = (0..400).filter(|nth| has_word(&ledger, &own_word(*nth)));
    let in_dictionary: Vec<_> = in_dictionary.take(6).collect();
    assert!(in_dictionary.len() > 2, "{in_dictionary:?}");
    let mut left: BTreeMap<_, _> = addresses.iter().copied().zip(0..).collect();
    let none_of_it = (0..400).find(|nth| !in_dictionary.contains(nth));
    for (turn, nth) in in_dictionary.into_iter().chain(none_of_it).enumerate() {
        let store = if turn % 2 == 0 { &other } else { &keeper };
        let erasure = Authorization {
            reason: "no longer wanted",
            authority: "the office",
        };
        store
            .admin()
            .unwrap()
            .delete(&addresses[nth], erasure)
            .unwrap();
        left.remove(&addresses[nth]);
        assert!(!has_word(&home.path("s"), &own_word(nth)), "{nth}");
        for store in [&keeper, &other] {
            store.put(note(1_000 + nth)).unwrap();
            assert!(store.get(&addresses[nth]).unwrap().is_none());
            for (address, nth) in &left {
                let found = store.get(address).unwrap().unwrap();
                assert_eq!(
                    found.text("content"),
                    note(*nth)
                        .finish(Profile::Extended)
                        .unwrap()
                        .text("content")
                );
            }
        }
    }
    assert_eq!(keeper.maintenance().unwrap().check().unwrap().findings, []);

    let backup = keeper
        .maintenance()
        .unwrap()
        .backup(home.path("b"))
        .unwrap();
    assert!(backup.segments > 0);
    drop((keeper, other));
    let restored = Store::open(home.path("b"), compressing()).unwrap();
    let store = Store::open(home.path("s"), compressing()).unwrap();
    assert_eq!(told(&restored), told(&store));
    assert_eq!(store.maintenance().unwrap().check().unwrap().findings, []);
    drop(store);
    let repaired = grainstore::recovery::repair(home.path("s"), compressing()).unwrap();
    assert_eq!(told(&repaired), told(&restored));
}
