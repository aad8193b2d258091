//! Grains of a file that it puts in the place of one that stands here: both stay current, and are a
//! conflict (rulings I4, I17).

use std::mem;

use crate::codec::ContentAddress;
use crate::store::Error;
use crate::store::import::Conflict;
use crate::store::import::batch::Importer;
use crate::store::records::FlagRecord;

impl Importer<'_> {
    /// Lists what was noted, once the owner's own copy ended what policy permits.
    pub(super) fn list_forks(&mut self) -> Result<(), Error> {
        for ([existing, fork], place) in mem::take(&mut self.forks) {
            let Some((row, stands)) = self.version(&existing)? else {
                continue;
            };
            // Of two versions that came in one file, the file says which one is current.
            let was_here = row.get() < self.since;
            // A dry run applies no end.
            let is_replaced = !stands.status.is_current() || self.links.get(&existing).is_some();
            let has_ended = self.version(&fork)?;
            let has_ended = has_ended.is_some_and(|(_, version)| !version.status.is_current());
            if !was_here || is_replaced || has_ended || !self.is_here(&fork)? {
                continue;
            }
            self.flag_conflict([existing, fork])?;
            self.summary.conflicts.push(Conflict {
                id: None,
                versions: vec![existing, fork],
                place: Some(place),
            });
        }
        Ok(())
    }

    /// Flags two grains as a conflict that is open.
    pub(super) fn flag_conflict(&mut self, grains: [ContentAddress; 2]) -> Result<(), Error> {
        grains.into_iter().try_for_each(|of| {
            self.flag(FlagRecord {
                conflict: Some(true),
                ..FlagRecord::of(of)
            })
        })
    }
}
