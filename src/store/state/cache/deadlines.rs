//! A cache of the deadlines of goals: a grain never changes, so each goal is read once.

use std::collections::BTreeSet;

use crate::grain::Time;
use crate::index::RowSet;
use crate::ledger::EntryId;
use crate::process::Mutex;

#[derive(Debug, Default)]
pub(crate) struct Deadlines(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    read: RowSet,
    /// The times after which a goal is inactive, with its row.
    ends: BTreeSet<(Time, EntryId)>,
}

impl Deadlines {
    /// Retains those of some goals that were not read.
    pub(crate) fn unread_of(&self, goals: &RowSet) -> RowSet {
        let mut unread = goals.clone();
        unread.subtract(&self.0.lock().read);
        unread
    }

    /// Remembers goals that were read, and the ends of those that have one.
    pub(crate) fn learn(&self, read: &RowSet, ends: impl IntoIterator<Item = (Time, EntryId)>) {
        let mut known = self.0.lock();
        known.read.unite(read);
        known.ends.extend(ends);
    }

    /// Returns which of some goals have ended before a time; all of them were read.
    pub(crate) fn ended_of(&self, goals: &RowSet, now: Time) -> RowSet {
        let known = self.0.lock();
        let ended = known
            .ends
            .range(..(now, EntryId::FIRST))
            .map(|(_, row)| *row);
        ended.filter(|row| goals.contains(*row)).collect()
    }

    pub(super) fn forget(&self, erased: &[EntryId]) {
        let mut known = self.0.lock();
        let rows: BTreeSet<&EntryId> = erased.iter().collect();
        known.ends.retain(|(_, row)| !rows.contains(row));
        erased.iter().for_each(|row| known.read.remove(*row));
    }
}
