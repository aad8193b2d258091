//! Sort orders of a query, and the selection of one page in such an order.
//!
//! Only positions are computed here; the grains of a page are read by the caller.

use crate::index::{Column, Family, RowSet, Snapshot};
use crate::ledger::EntryId;
use crate::store::read::version_at;
use crate::store::{Access, Version};

use super::{Error, Filter};

/// The sort order of a query. Grains without the field come last in either direction. Grains of one
/// time follow in the order of storage, which is the order in which they were said; grains equal
/// under another key follow by address, which is the same in every store.
///
/// ```
/// use grainstore::query::{Sort, SortBy};
///
/// let newest_first = Sort::by(SortBy::CreatedAt).descending();
/// assert_ne!(newest_first, Sort::default());
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sort {
    by: SortBy,
    descends: bool,
}

/// The sort key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SortBy {
    /// The order of storage, which has no ties.
    #[default]
    Stored,
    /// The address, by its first eight bytes: the same order in every store.
    Address,
    /// The time of the event: `timestamp_ms`, else `created_at` (ruling P5).
    Time,
    /// `created_at`.
    CreatedAt,
    /// `valid_from`.
    ValidFrom,
    /// `valid_to`.
    ValidTo,
    /// `system_valid_from`, or the time of storage if absent (ruling I20).
    KnownFrom,
    /// `confidence`.
    Confidence,
    /// `importance`.
    Importance,
}

impl SortBy {
    /// All sort keys with their names.
    pub const NAMES: [(&'static str, Self); 10] = [
        ("stored", Self::Stored),
        ("address", Self::Address),
        ("time", Self::Time),
        ("timestamp_ms", Self::Time),
        ("created_at", Self::CreatedAt),
        ("valid_from", Self::ValidFrom),
        ("valid_to", Self::ValidTo),
        ("system_valid_from", Self::KnownFrom),
        ("confidence", Self::Confidence),
        ("importance", Self::Importance),
    ];

    /// Returns the sort key with this name.
    pub fn named(name: &str) -> Option<Self> {
        let found = Self::NAMES.iter().find(|(known, _)| *known == name);
        found.map(|(_, by)| *by)
    }

    /// Returns the name of the field and its index family; `None` for the order of storage.
    const fn field(self) -> Option<(&'static str, Family)> {
        Some(match self {
            Self::Stored => return None,
            Self::Address => ("address", Family::Address),
            Self::Time => ("time", Family::EventTime),
            Self::CreatedAt => ("created_at", Family::CreatedAt),
            Self::ValidFrom => ("valid_from", Family::ValidTime),
            Self::ValidTo => ("valid_to", Family::ValidTo),
            Self::KnownFrom => ("system_valid_from", Family::SystemTime),
            Self::Confidence => ("confidence", Family::Confidence),
            Self::Importance => ("importance", Family::Importance),
        })
    }
}

/// The position of a grain in an order: the value, what decides between equal values, the row.
///
/// The order is total, and a position remains valid when its grain is erased.
pub(super) type Place = [u64; 3];

impl Sort {
    /// Returns the ascending order by a key.
    pub const fn by(by: SortBy) -> Self {
        Self {
            by,
            descends: false,
        }
    }

    /// Returns the order of a query: that of the [filter](super::Filter::sorted), or else of one
    /// [session](super::Filter::session) by time (OMS 28.6), of other grains by storage.
    pub fn of(filter: &Filter) -> Self {
        filter.order.unwrap_or_else(|| {
            Self::by(if filter.is_of_session() {
                SortBy::Time
            } else {
                SortBy::Stored
            })
        })
    }

    /// Returns the descending order.
    #[must_use]
    pub const fn descending(mut self) -> Self {
        self.descends = true;
        self
    }

    /// Returns the first `limit` positions after `after`, and whether there are more.
    pub(super) fn page(
        self,
        store: &Access,
        snapshot: &Snapshot,
        rows: &RowSet,
        after: Option<Place>,
        limit: usize,
    ) -> Result<(Vec<Place>, bool), Error> {
        let mut places = match self.by.field() {
            None => self.stored(rows, after, limit),
            Some(field) => {
                // One position more tells whether there is another page.
                let len = limit.saturating_add(1);
                let mut places = self.places(store, snapshot, rows, field, after, len)?;
                places.sort_unstable();
                places
            }
        };
        let has_more = places.len() > limit;
        places.truncate(limit);
        Ok((places, has_more))
    }

    /// Returns up to `limit` + 1 positions in the order of storage.
    fn stored(self, rows: &RowSet, after: Option<Place>, limit: usize) -> Vec<Place> {
        let more = limit.saturating_add(1);
        let last = after.map(|[_, _, row]| EntryId::new(row));
        if self.descends {
            let rest = rows.iter_before(last.unwrap_or(EntryId::new(u64::MAX)));
            let rest = rest.take(more).map(EntryId::get);
            return rest.map(|row| [!row, 0, row]).collect();
        }
        let rest = rows.iter_from(last.map_or(EntryId::FIRST, EntryId::next));
        let rest = rest.take(more).map(EntryId::get);
        rest.map(|row| [row, 0, row]).collect()
    }

    /// Returns the first `len` positions after `after`, and possibly more of them, unsorted.
    fn places(
        self,
        store: &Access,
        snapshot: &Snapshot,
        rows: &RowSet,
        (field, family): (&str, Family),
        after: Option<Place>,
        len: usize,
    ) -> Result<Vec<Place>, Error> {
        let is_behind = |place: &Place| after.is_none_or(|after| *place > after);
        if rows.len() <= FEW {
            let place = |row| {
                let version = version_at(store, snapshot, row)?;
                let address = || Some(Column::address(&version.grain.address()));
                let value = self.value(value_of(&version, field));
                Ok([value, self.among_equals(row, address), row.get()])
            };
            let places: Result<Vec<Place>, Error> = rows.iter().map(place).collect();
            return Ok(places?.into_iter().filter(is_behind).collect());
        }
        let (values, addresses) = (snapshot.column(family)?, snapshot.column(Family::Address)?);
        // `created_at` is indexed where it is not the time of the event.
        let others = match family {
            Family::CreatedAt => Some(snapshot.column(Family::EventTime)?),
            _ => None,
        };
        let value = |row| {
            let other = || others.as_ref().and_then(|others| others.get(row));
            self.value(values.get(row).or_else(other))
        };
        let mut keyed: Vec<(u64, EntryId)> = rows.iter().map(|row| (value(row), row)).collect();
        let mut passed = 0;
        if let Some([value, ..]) = after {
            keyed.retain(|(its, _)| *its >= value);
            passed = keyed.iter().filter(|(its, _)| *its == value).count();
        }
        // Addresses are looked up only for rows that can be on the page.
        let last = len.saturating_sub(1).saturating_add(passed);
        if last < keyed.len() {
            let (_, (worst, _), _) = keyed.select_nth_unstable(last);
            let worst = *worst;
            keyed.retain(|(value, _)| *value <= worst);
        }
        let places = keyed.into_iter().map(|(value, row)| {
            let equals = self.among_equals(row, || addresses.get(row));
            [value, equals, row.get()]
        });
        Ok(places.filter(is_behind).collect())
    }

    /// Returns what decides between a grain and those of the same value.
    fn among_equals(self, row: EntryId, address: impl FnOnce() -> Option<u64>) -> u64 {
        match (self.by, self.descends) {
            // OMS 28.6: messages of one millisecond keep their order.
            (SortBy::Time, false) => row.get(),
            (SortBy::Time, true) => !row.get(),
            _ => address().unwrap_or(0),
        }
    }

    /// Maps a value so that the first in the order is the smallest.
    fn value(self, component: Option<u64>) -> u64 {
        match component {
            None => u64::MAX,
            Some(component) if self.descends => !component,
            Some(component) => component,
        }
    }
}

/// Returns the value that the index has for a grain.
fn value_of(version: &Version, field: &str) -> Option<u64> {
    let grain = &version.grain;
    // The payload is decoded where a field of it decides.
    let value = || grain.field(field).and_then(Column::component);
    match field {
        "address" => Some(Column::address(&grain.address())),
        "time" => Column::component(&grain.event_time().ms().into()),
        "system_valid_from" => {
            value().or_else(|| Column::component(&version.stored_at.ms().into()))
        }
        "created_at" => value().or_else(|| Column::component(&0.into())),
        _ => value(),
    }
}

/// Up to this many grains are read; for more, the values come from the index.
const FEW: u64 = 48;
