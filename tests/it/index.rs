//! The index against a plain set of the same keys, through every change it can go through.

mod answers;
mod damage;
mod engine;
mod model;
mod overlay;
mod store;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use answers::{agree, answers, expected, try_answers};
use grainstore::codec::ContentAddress;
use grainstore::grain::{Draft, ForeignId, Grain, StatusChange, Time, Type};
use grainstore::index::{
    Batch, Family, Index, IndexOptions, IndexRecovery, Pattern, Snapshot, TermKey,
};
use grainstore::ledger::{Disk, EntryId, EntryLocation, LedgerPosition, StoreId};

const STORE: StoreId = StoreId::new([7; 16]);

fn open(disk: &Arc<dyn Disk>, options: &IndexOptions) -> (Index, IndexRecovery) {
    let terms = TermKey::new([9; 16]);
    Index::open(disk, STORE, terms, options.clone())
}

/// Everything on the calling thread, in runs of a few rows.
fn small() -> IndexOptions {
    IndexOptions {
        flush_rows: 50,
        background: false,
        ..IndexOptions::default()
    }
}

/// What a ledger entry says, as far as the index cares.
#[derive(Debug, Clone)]
enum Said {
    Grain(Box<Grain>),
    /// The grain of a row stops being current, replaced by the grain of another.
    Superseded(u64, u64),
    Alias(u64, u8),
    Mention(u64),
}

fn grain(n: u64) -> Grain {
    let draft = Draft::belief(
        format!("s{}", n % 7),
        format!("p{}", n % 3),
        format!("o{}", n % 11),
    );
    let mut draft = draft
        .confidence(0.5)
        .namespace(["a", "a:b", "a:b:c", "d"][usize::try_from(n % 4).unwrap()])
        .created_at(Time::from_ms(i64::try_from(n).unwrap() * 7 - 300))
        .tag(format!("t{}", n % 5))
        .set("nonce", i64::try_from(n).unwrap());
    if n.is_multiple_of(2) {
        draft = draft.user(format!("u{}", n % 3));
    }
    if n > 3 && n.is_multiple_of(3) {
        draft = draft.derived_from(grain(1).address());
    }
    draft.finish(Default::default()).unwrap()
}

/// The entries of a pretended ledger.
#[derive(Debug, Default, Clone)]
struct Entries(Vec<Said>);

impl Entries {
    fn address(&self, row: u64) -> ContentAddress {
        match &self.0[usize::try_from(row).unwrap()] {
            Said::Grain(grain) => grain.address(),
            _ => unreachable!("row {row} is no grain"),
        }
    }

    fn grains(&self) -> Vec<u64> {
        let rows = 0..u64::try_from(self.0.len()).unwrap();
        rows.filter(|row| matches!(self.0[usize::try_from(*row).unwrap()], Said::Grain(_)))
            .collect()
    }

    fn len(&self) -> u64 {
        u64::try_from(self.0.len()).unwrap()
    }

    /// Adds the entries from `from` to a batch, but for those that were erased.
    fn fill(&self, batch: &mut Batch, from: u64, erased: &[u64]) {
        for row in (from..self.len()).filter(|row| !erased.contains(row)) {
            self.fill_one(batch, row);
        }
    }

    /// Adds one entry to a batch.
    fn fill_one(&self, batch: &mut Batch, row: u64) {
        let said = &self.0[usize::try_from(row).unwrap()];
        match said {
            Said::Grain(grain) => batch.grain(EntryId::new(row), grain, 5),
            Said::Superseded(old, new) => {
                let change = StatusChange {
                    superseded_by: Some(self.address(*new)),
                    ..StatusChange::default()
                };
                batch.status(
                    EntryId::new(row),
                    5,
                    &self.address(*old),
                    Some(EntryId::new(*old)),
                    &change,
                );
            }
            Said::Alias(of, name) => {
                batch.alias(
                    EntryId::new(row),
                    &self.address(*of),
                    &ForeignId::new("f", "s", name.to_string()),
                );
            }
            Said::Mention(of) => batch.mention(EntryId::new(row), &self.address(*of)),
        }
    }

    /// Applies what the index does not have yet.
    fn apply(&self, index: &Index) {
        let mut batch = index.batch();
        self.fill(&mut batch, index.watermark(), &[]);
        index.publish(batch, self.len());
    }
}

fn place(row: u64) -> EntryLocation {
    let row = u32::try_from(row).unwrap();
    EntryLocation {
        segment: 1 + row / 100,
        offset: 64 + row % 100 * 300,
        check: row.wrapping_mul(0x9e37_79b9),
    }
}

fn places(range: Range<EntryId>) -> Vec<EntryLocation> {
    EntryId::all(&range).map(|row| place(row.get())).collect()
}

fn mark(entries: u64) -> LedgerPosition {
    LedgerPosition {
        entries,
        head: [u8::try_from(entries % 251).unwrap(); 32],
        segment: 1,
        offset: entries * 10,
    }
}

fn freeze(index: &Index) {
    let active = index.active_entries();
    let places = places(active.clone());
    index
        .rotate_memtable(Some(mark(active.end.get())), places)
        .unwrap();
}
