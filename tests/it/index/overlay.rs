//! Overlays: an index with the entries of some persons in overlays answers as one that holds all in its
//! files, and once they are dropped as one that never had them.

use super::*;
use grainstore::index::Addresses;
use grainstore::ledger::MemoryDisk;
use proptest::prelude::*;

const PERSONS: [Option<[u8; 16]>; 3] = [None, Some([1; 16]), Some([2; 16])];

/// An entry, and the person whose overlay holds it.
fn history(picks: &[(u8, u8, u8)]) -> (Entries, Vec<Option<[u8; 16]>>) {
    let (mut entries, mut owners) = (Entries::default(), Vec::new());
    for (n, (kind, at, person)) in (0..).zip(picks) {
        let grains = entries.grains();
        let pick = |at: u8| grains.get(usize::from(at) % grains.len().max(1)).copied();
        let owner = PERSONS[usize::from(*person) % PERSONS.len()];
        let said = match (kind % 5, pick(*at), pick(at.wrapping_mul(7))) {
            (1, Some(old), Some(new)) => Said::Superseded(old, new),
            (2, Some(of), _) => Said::Alias(of, at % 5),
            (3, Some(of), _) => Said::Mention(of),
            _ => Said::Grain(Box::new(grain(n))),
        };
        entries.0.push(said);
        owners.push(owner);
    }
    (entries, owners)
}

/// Applies the entries of `chosen` owners, in batches, the sealed ones to overlays if `over` is set.
fn build(
    entries: &Entries,
    owners: &[Option<[u8; 16]>],
    addresses: Addresses,
    over: bool,
    is_chosen: &dyn Fn(Option<[u8; 16]>) -> bool,
) -> Index {
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::default());
    let options = IndexOptions {
        addresses,
        ..small()
    };
    let (index, _) = open(&disk, &options);
    let mut row = 0;
    while row < entries.len() {
        let end = entries.len().min(row + 7);
        let mut batches: BTreeMap<Option<[u8; 16]>, Batch> = BTreeMap::new();
        for at in row..end {
            let owner = owners[usize::try_from(at).unwrap()];
            if !is_chosen(owner) {
                continue;
            }
            let place = if over { owner } else { None };
            let batch = batches.entry(place).or_insert_with(|| index.batch());
            entries.fill_one(batch, at);
        }
        let base = batches.remove(&None).unwrap_or_else(|| index.batch());
        for (uid, batch) in batches {
            index.publish_overlay(uid.unwrap(), batch);
        }
        index.publish(base, end);
        if index.is_memtable_full() {
            freeze(&index);
        }
        row = end;
    }
    index
}

fn pick() -> impl Strategy<Value = (u8, u8, u8)> {
    (any::<u8>(), any::<u8>(), any::<u8>())
}

#[test]
fn an_index_with_overlays_answers_as_one_without_and_as_none_once_they_are_dropped() {
    let config = ProptestConfig::with_cases(crate::random::cases(40));
    proptest!(config, |(picks in prop::collection::vec(pick(), 1..200), is_map: bool)| {
        let addresses = if is_map { Addresses::Map } else { Addresses::Filters };
        let (entries, owners) = history(&picks);
        let all = build(&entries, &owners, addresses, false, &|_| true);
        let over = build(&entries, &owners, addresses, true, &|_| true);
        prop_assert_eq!(answers(&over.snapshot()), answers(&all.snapshot()));
        let half = entries.len() / 2;
        let earlier = over.snapshot().as_of(half).unwrap();
        prop_assert_eq!(answers(&earlier), answers(&all.snapshot().as_of(half).unwrap()));
        // In the order of rows, as one index has them.
        let from = |index: &Index| {
            let snapshot = index.snapshot();
            snapshot.grains_from(EntryId::new(half)).collect::<Vec<_>>()
        };
        prop_assert_eq!(from(&over), from(&all));
        for row in entries.grains() {
            let address = entries.address(row);
            let found = over.snapshot().candidates(&address).unwrap();
            prop_assert!(found.contains(EntryId::new(row)));
            let person = owners[usize::try_from(row).unwrap()];
            prop_assert_eq!(over.snapshot().overlay_of(EntryId::new(row)), person);
            let statuses = |index: &Index| {
                let snapshot = index.snapshot();
                let rows = snapshot.status_entries(EntryId::new(row));
                rows.map(Result::unwrap).collect::<Vec<_>>()
            };
            prop_assert_eq!(statuses(&over), statuses(&all));
        }
        let before = over.snapshot();
        over.merge_all().unwrap();
        prop_assert_eq!(answers(&over.snapshot()), answers(&all.snapshot()));
        over.drop_overlay(&[1; 16]);
        over.drop_overlay(&[2; 16]);
        let none = build(&entries, &owners, addresses, false, &|owner| owner.is_none());
        prop_assert_eq!(answers(&over.snapshot()), answers(&none.snapshot()));
        prop_assert_eq!(answers(&before), answers(&all.snapshot()), "an older snapshot stays");
    });
}
