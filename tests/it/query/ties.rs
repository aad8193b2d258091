//! The order of results with equal keys or scores.

use grainstore::text::Ranking;
use grainstore::{ContentAddress, Draft, Options, Search, Store, Time};

use crate::sample::addresses_of;

/// Addresses in the order of a search, of `limit` grains.
fn found(store: &Store, ranking: &Ranking, limit: usize) -> Vec<ContentAddress> {
    let query = Search::words("green tea");
    let envelope = store.find(&query.ranking(*ranking).limit(limit));
    let results = envelope.unwrap().results;
    results.iter().map(|found| found.address).collect()
}

#[test]
fn hits_that_fit_alike_follow_in_the_order_of_their_addresses() {
    let store = Store::in_memory(Options::default()).unwrap();
    let drafts = (0..300).map(|moment| {
        // The same words in another second: the same score under another address.
        Draft::event("green tea").created_at(Time::from_ms(moment * 1_000))
    });
    let mut expected = addresses_of(&store.put_batch(drafts).unwrap());
    expected.sort_unstable();
    for limit in [7, 300] {
        let expected = &expected[..limit];
        for ranking in [Ranking::WORDS, Ranking::default()] {
            assert_eq!(found(&store, &ranking, limit), expected);
            store.maintenance().unwrap().flush_text().unwrap();
            assert_eq!(found(&store, &ranking, limit), expected);
        }
    }
}
