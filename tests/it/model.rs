//! Random histories of a store against a plain map: after every step and every reopening, both
//! hold the same grains with the same status, and the store finds nothing wrong with itself.

use std::collections::BTreeMap;

use grainstore::grain::{Draft, Time};
use grainstore::{ContentAddress, Filter, Store};
use proptest::prelude::*;

use crate::sample::addresses_of;
use crate::store::at;

#[derive(Debug, Clone)]
enum Step {
    Put(u8),
    PutBatch(Vec<u8>),
    /// A batch whose last grain is refused.
    BadBatch(Vec<u8>),
    Supersede(prop::sample::Index, u8),
    Reopen,
    FlushText,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => any::<u8>().prop_map(Step::Put),
        2 => prop::collection::vec(any::<u8>(), 0..6).prop_map(Step::PutBatch),
        1 => prop::collection::vec(any::<u8>(), 0..4).prop_map(Step::BadBatch),
        3 => (any::<prop::sample::Index>(), any::<u8>()).prop_map(|(at, n)| Step::Supersede(at, n)),
        1 => Just(Step::Reopen),
        1 => Just(Step::FlushText),
    ]
}

fn draft(n: u8) -> Draft {
    Draft::belief(format!("subject{}", n % 5), "likes", format!("thing{n}"))
        .confidence(0.5)
        .namespace(if n.is_multiple_of(2) {
            "even"
        } else {
            "odd:inner"
        })
        .created_at(Time::from_ms(i64::from(n)))
}

/// What the store should say: each grain's object, and what superseded it.
type Model = BTreeMap<ContentAddress, (String, Option<ContentAddress>)>;

fn object(n: u8) -> String {
    format!("thing{n}")
}

fn put(model: &mut Model, address: ContentAddress, n: u8) {
    model.entry(address).or_insert((object(n), None));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_store_is_the_fold_of_its_history(steps in prop::collection::vec(step(), 1..40)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let open = || Store::open(&path, at(1_000).0).unwrap();
        let mut store = open();
        let mut model = Model::new();
        for step in steps {
            match step {
                Step::Put(n) => put(&mut model, store.put(draft(n)).unwrap(), n),
                Step::PutBatch(ns) => {
                    let addresses = addresses_of(&store.put_batch(ns.iter().copied().map(draft)).unwrap());
                    for (address, n) in addresses.into_iter().zip(ns) {
                        put(&mut model, address, n);
                    }
                }
                Step::BadBatch(ns) => {
                    let bad = draft(0).confidence(9.0);
                    let drafts = ns.into_iter().map(draft).chain([bad]);
                    prop_assert!(store.put_batch(drafts).is_err());
                }
                Step::Supersede(at, n) => {
                    if model.is_empty() {
                        continue;
                    }
                    let old = *at.get(&model.keys().copied().collect::<Vec<_>>());
                    let new = draft(n).derived_from(old);
                    let expected = new.clone().finish(Default::default()).unwrap().address();
                    let result = store.supersede(&old, new, None);
                    match model[&old].1 {
                        None => {
                            prop_assert_eq!(result.unwrap(), expected);
                            model.get_mut(&old).unwrap().1 = Some(expected);
                            put(&mut model, expected, n);
                        }
                        Some(by) if by == expected => prop_assert_eq!(result.unwrap(), by),
                        Some(_) => prop_assert_eq!(result.unwrap_err().code(), "ERR_CONFLICT"),
                    }
                }
                Step::Reopen => {
                    drop(store);
                    store = open();
                }
                Step::FlushText => store.maintenance().unwrap().flush_text().unwrap(),
            }
        }
        agrees(&store, &model)?;
        drop(store);
        agrees(&open(), &model)?;
    }
}

fn agrees(store: &Store, model: &Model) -> Result<(), TestCaseError> {
    let mut listed = store.list(None, usize::MAX).unwrap().addresses;
    listed.sort();
    prop_assert_eq!(listed, model.keys().copied().collect::<Vec<_>>());
    for (address, (object, superseded_by)) in model {
        let grain = store.get(address).unwrap().unwrap();
        prop_assert_eq!(grain.text("object"), Some(object.as_str()));
        prop_assert_eq!(store.status(address).unwrap().superseded_by, *superseded_by);
    }
    for subject in 0..5 {
        let subject = format!("subject{subject}");
        let filter = Filter::new().subject(&subject).namespace("odd");
        let found = store.query(&filter, usize::MAX, None).unwrap();
        let mut found: Vec<_> = found.results.iter().map(|found| found.address).collect();
        let expected = model.iter().filter(|(address, (_, superseded_by))| {
            let grain = store.get(address).unwrap().unwrap();
            superseded_by.is_none()
                && grain.text("subject") == Some(&subject)
                && grain.text("namespace") == Some("odd:inner")
        });
        found.sort();
        prop_assert_eq!(
            found,
            expected.map(|(address, _)| *address).collect::<Vec<_>>()
        );
    }
    let words = store
        .search("thing7 thing8 likes", &Filter::new(), usize::MAX)
        .unwrap();
    let current = model
        .values()
        .filter(|(_, superseded_by)| superseded_by.is_none());
    prop_assert_eq!(
        words.total,
        current.count() as u64,
        "every grain says \"likes\""
    );
    prop_assert_eq!(
        store.maintenance().unwrap().check().unwrap().findings,
        vec![]
    );
    Ok(())
}
