//! Pages of one answer, while others write.

use grainstore::query::{Cursor, Sort, SortBy};
use grainstore::store::Authorization;
use grainstore::{Draft, Filter, Store, Time};
use proptest::prelude::*;

use super::scan::{asked, in_order, sort, sorts};
use super::world::{Step, World, index_options, step};
use crate::store::at;

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, max_shrink_iters: 300, ..ProptestConfig::default() })]

    #[test]
    fn pages_are_of_the_moment_of_the_first_whatever_is_written_between_them(
        index in index_options(),
        before in prop::collection::vec(step(), 1..80),
        between in prop::collection::vec(step(), 40),
        asked in asked(),
        (by, descends) in sorts(),
        limit in 1..7_usize,
    ) {
        let mut world = World::new(index);
        world.run(before);
        let filter = asked.filter(&world.kept);
        let sort = sort(by, descends);
        let mut expected = in_order(asked.scan(&world.kept, world.now), by, descends);
        let mut between = between.into_iter();
        let (mut seen, mut cursor) = (Vec::new(), None);
        loop {
            let page = world.store.query(&filter.clone().sorted(sort), limit, cursor).unwrap();
            prop_assert!(page.results.len() <= limit);
            prop_assert_eq!(page.total, expected.len() as u64);
            seen.extend(page.results.iter().map(|found| found.address));
            let Some(next) = page.next_cursor else { break };
            cursor = Some(next.to_string().parse::<Cursor>().unwrap());
            for step in between.by_ref().take(3) {
                if let Step::Delete(_) = step {
                    // What is erased is gone at once, from this answer too.
                    world.step(step);
                    let is_here = |address: &_| {
                        world.kept.iter().any(|kept| kept.grain.address() == *address)
                    };
                    expected.retain(is_here);
                    seen.retain(is_here);
                } else {
                    world.step(step);
                }
            }
        }
        prop_assert_eq!(seen, expected);
    }
}

#[test]
fn what_was_replaced_stays_so_on_later_pages_though_its_successor_is_erased() {
    let store = Store::in_memory(at(1).0).unwrap();
    let event = |text: &str| Draft::event(text).created_at(Time::from_ms(1));
    let old = store.put(event("old")).unwrap();
    let new = event("new").derived_from(old);
    let new = store.supersede(&old, new, None).unwrap();
    for text in ["one", "two", "three"] {
        store.put(event(text)).unwrap();
    }
    let current = Filter::new();
    let page = store.query(&current, 1, None).unwrap();
    assert_eq!((page.results[0].address, page.total), (new, 4));
    let deletion = Authorization {
        reason: "asked",
        authority: "the owner",
    };
    store.admin().unwrap().delete(&new, deletion).unwrap();
    let rest = store.query(&current, 9, page.next_cursor).unwrap();
    let texts: Vec<_> = rest
        .results
        .iter()
        .map(|found| found.grain.text("content"))
        .collect();
    assert_eq!(texts, [Some("one"), Some("two"), Some("three")]);
    assert_eq!(rest.total, 3);
}

#[test]
fn pages_follow_one_another_to_the_end_or_to_an_error() {
    let store = Store::in_memory(at(1).0).unwrap();
    store
        .put_batch((0..5).map(|n| Draft::event(format!("event {n}"))))
        .unwrap();
    let newest_first = Filter::new().sorted(Sort::by(SortBy::Stored).descending());
    let pages: Vec<_> = store.pages(&newest_first, 2).map(Result::unwrap).collect();
    let lens: Vec<_> = pages.iter().map(|page| page.results.len()).collect();
    assert_eq!(lens, [2, 2, 1]);
    let at_once = store.query(&newest_first, 9, None).unwrap().results;
    let one_by_one = pages.iter().flat_map(|page| &page.results);
    assert!(
        one_by_one
            .map(|it| it.address)
            .eq(at_once.iter().map(|it| it.address))
    );
    assert_eq!(
        store.pages(&Filter::new().subject("x"), 2).count(),
        1,
        "an empty one"
    );

    let refused = Filter::new().namespace("");
    let mut pages = store.pages(&refused, 2);
    assert_eq!(pages.next().unwrap().unwrap_err().code(), "ERR_FILTER");
    assert!(pages.next().is_none());
}

#[test]
fn a_cursor_is_of_one_question() {
    let store = Store::in_memory(at(1).0).unwrap();
    for n in 0..5 {
        let draft = Draft::event(format!("event {n}")).created_at(Time::from_ms(n));
        store.put(draft).unwrap();
    }
    let all = Filter::new();
    let cursor = store.query(&all, 2, None).unwrap().next_cursor;
    let other = Filter::new().subject("x");
    let refused = store.query(&other, 2, cursor).unwrap_err();
    assert_eq!(refused.code(), "ERR_CURSOR");
    let refused = store.query(&all.clone().sorted(Sort::by(SortBy::CreatedAt)), 2, cursor);
    assert_eq!(refused.unwrap_err().code(), "ERR_CURSOR");
    // The same question, whether its order is named or not.
    for same in [all.clone(), all.sorted(Sort::default())] {
        let rest = store.query(&same, 9, cursor).unwrap();
        assert_eq!((rest.results.len(), rest.total), (3, 5));
    }
    for text in [
        "",
        "c",
        "c.1.2.3",
        "c.01.1.00000000.0.0.0",
        "c.1.00000000.0.0.0",
        "c.1.1.00000000.0.0.0.0",
        "after-41",
    ] {
        assert_eq!(
            text.parse::<Cursor>().unwrap_err().code(),
            "ERR_CURSOR",
            "{text}"
        );
    }
}

#[test]
fn grains_that_are_alike_in_an_order_follow_by_their_addresses() {
    let store = Store::in_memory(at(1).0).unwrap();
    let mut addresses = Vec::new();
    for n in 0..200 {
        let belief = Draft::belief("a", "b", format!("c{n}")).confidence(0.5);
        addresses.push(store.put(belief).unwrap());
    }
    addresses.sort();
    for sort in [
        Sort::by(SortBy::Confidence),
        Sort::by(SortBy::Confidence).descending(),
    ] {
        let found = store.query(&Filter::new().sorted(sort), 200, None).unwrap();
        assert!(
            found
                .results
                .iter()
                .map(|found| found.address)
                .eq(addresses.clone())
        );
    }
}
