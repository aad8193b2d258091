use parking_lot::RwLock;
use roaring::RoaringTreemap;

use crate::codec::{ContentAddress, nfc};
use crate::grain::{Time, Type};

use super::key::{Prefix, ordered, prefix_of};
use super::memtable::Memtable;
use super::{Family, TermKey};

/// A view of the index as it was at one moment: later writes do not show.
#[derive(Debug, Clone, Copy)]
pub struct Snapshot<'a> {
    memtable: &'a RwLock<Memtable>,
    terms: &'a TermKey,
    watermark: u64,
}

/// A pattern of a triple; what is absent may be anything.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pattern<'a> {
    /// The subject.
    pub subject: Option<&'a str>,
    /// The relation.
    pub relation: Option<&'a str>,
    /// The object; of an object that is a map, its JSON.
    pub object: Option<&'a str>,
}

/// Rows, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rows(RoaringTreemap);

impl Rows {
    /// Returns the number of rows.
    pub fn len(&self) -> u64 {
        self.0.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether a row is among them.
    pub fn contains(&self, row: u64) -> bool {
        self.0.contains(row)
    }

    /// Returns the rows, lowest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = u64> {
        self.0.iter()
    }

    /// Keeps the rows that are also in `other`.
    pub fn intersect(&mut self, other: &Self) {
        self.0 &= &other.0;
    }
}

impl FromIterator<u64> for Rows {
    fn from_iter<I: IntoIterator<Item = u64>>(rows: I) -> Self {
        Self(rows.into_iter().collect())
    }
}

impl<'a> Snapshot<'a> {
    pub(super) const fn new(
        memtable: &'a RwLock<Memtable>,
        terms: &'a TermKey,
        watermark: u64,
    ) -> Self {
        Self {
            memtable,
            terms,
            watermark,
        }
    }

    /// Returns how many ledger entries this view covers.
    pub const fn watermark(&self) -> u64 {
        self.watermark
    }

    /// Returns the row of a grain.
    pub fn locate(&self, address: &ContentAddress) -> Option<u64> {
        let row = self.memtable.read().addresses.get(address).copied()?;
        self.sees(row).then_some(row)
    }

    /// Returns whether the grain of a row is current.
    pub fn is_current(&self, row: u64) -> bool {
        let ended = self.memtable.read().ended.get(&row).copied();
        !ended.is_some_and(|entry| self.sees(entry))
    }

    /// Returns the rows of all grains.
    pub fn grains(&self) -> Rows {
        let mut rows = self.memtable.read().grains.clone();
        rows.remove_range(self.watermark..);
        Rows(rows)
    }

    /// Returns the rows of grains that match a triple pattern.
    pub fn triples(&self, pattern: &Pattern<'_>) -> Rows {
        let term = |text: Option<&str>| text.map(|text| self.terms.hash(&[&nfc(text)]));
        let (s, p, o) = (
            term(pattern.subject),
            term(pattern.relation),
            term(pattern.object),
        );
        // The order whose prefix is exactly what is bound.
        let (family, bound) = match (s, p, o) {
            (Some(s), Some(p), Some(o)) => (Family::Spo, vec![s, p, o]),
            (Some(s), Some(p), None) => (Family::Spo, vec![s, p]),
            (Some(s), None, Some(o)) => (Family::Sop, vec![s, o]),
            (Some(s), None, None) => (Family::Spo, vec![s]),
            (None, Some(p), Some(o)) => (Family::Pos, vec![p, o]),
            (None, Some(p), None) => (Family::Pso, vec![p]),
            (None, None, Some(o)) => (Family::Osp, vec![o]),
            (None, None, None) => (Family::Spo, vec![]),
        };
        let prefix = bound.into_iter().fold(Prefix::new(family), Prefix::with);
        self.scan(prefix, prefix, 3)
    }

    /// Returns the rows of grains of a type.
    pub fn of_type(&self, of: Type) -> Rows {
        self.exact(Family::Type, u64::from(of.byte()))
    }

    /// Returns the rows whose field of `family` is `text`; of a namespace, also those inside it.
    pub fn with_text(&self, family: Family, text: &str) -> Rows {
        // Stored text is NFC; what people type need not be.
        self.exact(family, self.terms.hash(&[&nfc(text)]))
    }

    /// Returns the rows that point at a grain through `family`.
    pub fn pointing_at(&self, family: Family, address: &ContentAddress) -> Rows {
        self.exact(family, prefix_of(address))
    }

    /// Returns the rows of alias entries for a foreign name.
    pub fn foreign(&self, name: [&str; 3]) -> Rows {
        self.exact(Family::ForeignId, self.terms.hash(&name))
    }

    /// Returns the rows of the status entries of the grain at `row`, oldest first.
    pub fn status_entries(&self, row: u64) -> Rows {
        self.exact(Family::Status, row)
    }

    /// Returns the rows whose time of `family` is in `from..=to`; an open end is unbounded.
    pub fn in_time(&self, family: Family, from: Option<Time>, to: Option<Time>) -> Rows {
        let bound = |time: Option<Time>, open: i64| time.map_or(open, Time::ms);
        let low = Prefix::new(family).with(ordered(bound(from, i64::MIN)));
        let high = Prefix::new(family).with(ordered(bound(to, i64::MAX)));
        self.scan(low, high, 1)
    }

    fn exact(&self, family: Family, component: u64) -> Rows {
        let prefix = Prefix::new(family).with(component);
        self.scan(prefix, prefix, 1)
    }

    fn scan(&self, from: Prefix, to: Prefix, components: usize) -> Rows {
        let (low, high) = (from.low(), to.high());
        if low > high {
            return Rows::default();
        }
        let memtable = self.memtable.read();
        let rows = memtable
            .keys
            .range(low..=high)
            .map(|key| key.row(components));
        Rows(rows.filter(|row| self.sees(*row)).collect())
    }

    /// A row or entry is visible if it was published when the view was taken.
    const fn sees(&self, row: u64) -> bool {
        row < self.watermark
    }
}
