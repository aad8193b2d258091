//! `Maintenance::groups`: how many grains have each value of a field, by a column of the index.
//!
//! Grains are read of the groups that are returned alone, so that a store of any size answers.

use std::collections::HashMap;
use std::ops::Range;

use crate::codec::ContentAddress;
use crate::index::Family;
use crate::ledger::EntryId;
use crate::store::read::{now, read_recorder, unless_erased, version_at};
use crate::store::{Access, Version};

use super::plan::rows_at;
use super::{Error, Filter};

/// The number of grains with one value, and some of them: up to four of the earliest by the time of
/// the event, then the latest.
type Group = (u64, Vec<ContentAddress>);

/// See [`Maintenance::groups`](crate::Maintenance::groups).
pub(crate) fn groups(
    store: &Access,
    filter: &Filter,
    field: &str,
    page: Range<usize>,
) -> Result<(usize, Vec<Group>), Error> {
    let (total, shown) = unless_erased(|| groups_to_show(store, filter, field, page.clone()))?;
    let grains = shown.iter().flat_map(|(_, versions)| versions);
    read_recorder(store, "query").all(grains.map(|version| &version.grain))?;
    let shown = shown.into_iter().map(|(count, versions)| {
        let addresses = versions.iter().map(|version| version.grain.address());
        (count, addresses.collect())
    });
    Ok((total, shown.collect()))
}

/// The number of grains of a group, and some of them.
type ReadGroup = (u64, Vec<Version>);

fn groups_to_show(
    store: &Access,
    filter: &Filter,
    field: &str,
    page: Range<usize>,
) -> Result<(usize, Vec<ReadGroup>), Error> {
    let Some((_, family)) = FIELDS.iter().find(|(name, _)| *name == field) else {
        return Err(Error::Filter {
            filter: "a group",
            reason: "is by type, session_id or user_id",
        });
    };
    let snapshot = store.snapshot();
    let rows = rows_at(store, &snapshot, filter, now(store))?;
    let (values, times) = (
        snapshot.column(*family)?,
        snapshot.column(Family::EventTime)?,
    );
    let mut tallies: HashMap<u64, Tally> = HashMap::new();
    for row in rows.iter() {
        if let Some(value) = values.get(row) {
            let place = (times.get(row).unwrap_or(0), row);
            tallies.entry(value).or_default().add(place);
        }
    }
    let mut tallies: Vec<_> = tallies.into_values().collect();
    tallies.sort_unstable_by_key(|tally| std::cmp::Reverse(tally.latest));
    let mut shown = Vec::new();
    for tally in tallies.iter().take(page.end).skip(page.start) {
        let read = |row| version_at(store, &snapshot, row);
        let versions: Result<_, Error> = tally.rows().into_iter().map(read).collect();
        shown.push((tally.count, versions?));
    }
    Ok((tallies.len(), shown))
}

/// The fields by which grains are grouped: each grain has at most one key of the family.
const FIELDS: [(&str, Family); 3] = [
    ("type", Family::Type),
    ("session_id", Family::Session),
    ("user_id", Family::User),
];

/// The grains of one value: their number, and the places of some in the order of time.
#[derive(Debug, Default)]
struct Tally {
    count: u64,
    earliest: Vec<(u64, EntryId)>,
    latest: Option<(u64, EntryId)>,
}

impl Tally {
    fn add(&mut self, place: (u64, EntryId)) {
        self.count += 1;
        self.latest = self.latest.max(Some(place));
        let at = self.earliest.partition_point(|earlier| *earlier < place);
        if at < EARLIEST {
            self.earliest.insert(at, place);
            self.earliest.truncate(EARLIEST);
        }
    }

    /// Returns the rows of the earliest grains, then that of the latest if it is none of them.
    fn rows(&self) -> Vec<EntryId> {
        let latest = self.latest.filter(|latest| !self.earliest.contains(latest));
        let places = self.earliest.iter().copied().chain(latest);
        places.map(|(_, row)| row).collect()
    }
}

/// Enough to tell what a conversation is about and who speaks in it.
const EARLIEST: usize = 4;

#[cfg(test)]
mod tests {
    use super::Tally;
    use crate::ledger::EntryId;

    #[test]
    fn a_tally_keeps_the_earliest_and_the_latest() {
        let mut tally = Tally::default();
        for time in [5, 3, 9, 1, 7, 4] {
            tally.add((time, EntryId::new(10 * time)));
        }
        let rows = tally.rows().into_iter().map(EntryId::get);
        assert_eq!(
            (tally.count, rows.collect::<Vec<_>>()),
            (6, vec![10, 30, 40, 50, 90])
        );
        let mut one = Tally::default();
        one.add((1, EntryId::FIRST));
        assert_eq!(one.rows(), [EntryId::FIRST]);
    }
}
