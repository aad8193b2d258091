use crate::index::{Column, Family, RowSet, Snapshot};
use crate::store::{Store, Version};

use super::Error;

/// In which order a query is answered. Grains that are alike in it follow in the order of their
/// addresses; those without the field come last, either way.
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

/// What grains are sorted by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SortBy {
    /// When they were stored, which no two grains share.
    #[default]
    Stored,
    /// `created_at`.
    CreatedAt,
    /// `valid_from`.
    ValidFrom,
    /// `valid_to`.
    ValidTo,
    /// `system_valid_from`, else when they were stored (ruling I20).
    KnownFrom,
    /// `confidence`.
    Confidence,
    /// `importance`.
    Importance,
}

impl SortBy {
    /// Every order, as people name them.
    pub const NAMES: [(&'static str, Self); 7] = [
        ("stored", Self::Stored),
        ("created_at", Self::CreatedAt),
        ("valid_from", Self::ValidFrom),
        ("valid_to", Self::ValidTo),
        ("system_valid_from", Self::KnownFrom),
        ("confidence", Self::Confidence),
        ("importance", Self::Importance),
    ];

    /// Returns the order of a name.
    pub fn named(name: &str) -> Option<Self> {
        let found = Self::NAMES.iter().find(|(known, _)| *known == name);
        found.map(|(_, by)| *by)
    }

    /// Returns the name of the field, and the family that has it; none for the order of rows.
    const fn field(self) -> Option<(&'static str, Family)> {
        Some(match self {
            Self::Stored => return None,
            Self::CreatedAt => ("created_at", Family::CreatedAt),
            Self::ValidFrom => ("valid_from", Family::ValidTime),
            Self::ValidTo => ("valid_to", Family::ValidTo),
            Self::KnownFrom => ("system_valid_from", Family::SystemTime),
            Self::Confidence => ("confidence", Family::Confidence),
            Self::Importance => ("importance", Family::Importance),
        })
    }
}

/// Where a grain stands in an order: the value, then the beginning of the address, then the row.
///
/// So an order is total, and a place stays what it is when its grain is gone.
pub(super) type Place = [u64; 3];

impl Sort {
    /// Returns an order from the least value on.
    pub const fn by(by: SortBy) -> Self {
        Self {
            by,
            descends: false,
        }
    }

    /// Returns the order from the greatest value on.
    #[must_use]
    pub const fn descending(mut self) -> Self {
        self.descends = true;
        self
    }

    /// Returns the first `limit` places behind `after`, and whether there are more.
    pub(super) fn page(
        self,
        store: &Store,
        snapshot: &Snapshot,
        rows: &RowSet,
        after: Option<Place>,
        limit: usize,
    ) -> Result<(Vec<Place>, bool), Error> {
        let mut places = match self.by.field() {
            None => self.stored(rows, after, limit),
            Some(field) => {
                // Behind the page stands whether there is more.
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

    /// Returns one place more than `limit` in the order of rows, if there are so many.
    fn stored(self, rows: &RowSet, after: Option<Place>, limit: usize) -> Vec<Place> {
        let more = limit.saturating_add(1);
        let last = after.map(|[_, _, row]| row);
        if self.descends {
            let rest = rows.iter_before(last.unwrap_or(u64::MAX));
            return rest.take(more).map(|row| [!row, 0, row]).collect();
        }
        let rest = rows.iter_from(last.map_or(0, |row| row.saturating_add(1)));
        rest.take(more).map(|row| [row, 0, row]).collect()
    }

    /// Returns the first `len` places behind `after`, and perhaps more of them, in any order.
    fn places(
        self,
        store: &Store,
        snapshot: &Snapshot,
        rows: &RowSet,
        (field, family): (&str, Family),
        after: Option<Place>,
        len: usize,
    ) -> Result<Vec<Place>, Error> {
        let is_behind = |place: &Place| after.is_none_or(|after| *place > after);
        if rows.len() <= FEW {
            let place = |row| {
                let version = store.version_at(snapshot, row)?;
                let prefix = Column::address(&version.grain.address());
                Ok([self.value(value_of(&version, field)), prefix, row])
            };
            let places: Result<Vec<Place>, Error> = rows.iter().map(place).collect();
            return Ok(places?.into_iter().filter(is_behind).collect());
        }
        let (values, addresses) = (snapshot.column(family)?, snapshot.column(Family::Address)?);
        let mut keyed: Vec<(u64, u64)> = rows
            .iter()
            .map(|row| (self.value(values.get(row)), row))
            .collect();
        let mut passed = 0;
        if let Some([value, ..]) = after {
            keyed.retain(|(its, _)| *its >= value);
            passed = keyed.iter().filter(|(its, _)| *its == value).count();
        }
        // Only what may be among them has its address looked up.
        let last = len.saturating_sub(1).saturating_add(passed);
        if last < keyed.len() {
            let (_, (worst, _), _) = keyed.select_nth_unstable(last);
            let worst = *worst;
            keyed.retain(|(value, _)| *value <= worst);
        }
        let places = keyed.into_iter().map(|(value, row)| {
            let prefix = addresses.get(row).unwrap_or(0);
            [value, prefix, row]
        });
        Ok(places.filter(is_behind).collect())
    }

    /// Returns what is least for what comes first.
    fn value(self, component: Option<u64>) -> u64 {
        match component {
            None => u64::MAX,
            Some(component) if self.descends => !component,
            Some(component) => component,
        }
    }
}

/// Returns what the index would have of a grain.
fn value_of(version: &Version, field: &str) -> Option<u64> {
    let value = version.grain.field(field).and_then(Column::component);
    match field {
        "system_valid_from" => value.or_else(|| Column::component(&version.stored_at.ms().into())),
        "created_at" => value.or_else(|| Column::component(&0.into())),
        _ => value,
    }
}

/// So few grains are read; of more, the values are taken from the index.
const FEW: u64 = 48;
