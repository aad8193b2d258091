//! What status entries made of grains: which are current, which were at a time, how far each is
//! verified.

use super::batch::number_of;
use super::family::VERIFICATION_BITS;
use super::key::{Key, Single};
use super::row_set::RowSet;
use super::{Error, Family, Snapshot};
use crate::grain::{Time, Verification};

impl Snapshot {
    /// Takes away the rows of grains that are not current.
    ///
    /// # Errors
    /// `ERR_INDEX_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn remove_ended(&self, rows: &mut RowSet) -> Result<(), Error> {
        let (_, state) = self.parts();
        for run in &state.runs {
            rows.0 -= self.ended_in(run);
        }
        let ends = state.memory.iter();
        let ends: usize = ends
            .map(|chunk| chunk.keys::<Single>(Family::Ended).len())
            .sum();
        if rows.len() < ends as u64 {
            rows.retain(|row| {
                !state
                    .memory
                    .iter()
                    .any(|chunk| chunk.has_ended(row, self.watermark()))
            });
            return Ok(());
        }
        for chunk in &state.memory {
            for key in chunk.keys::<Single>(Family::Ended) {
                if key.row() < self.watermark() {
                    let [grain, ..] = key.parts();
                    rows.remove(grain);
                }
            }
        }
        Ok(())
    }

    /// Returns the rows of grains that had ceased to be current at a time. The last entry that
    /// ends a grain says when: by its `system_valid_to`, or by when it was made.
    ///
    /// # Errors
    /// `ERR_INDEX_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn ended_by(&self, time: Time) -> Result<RowSet, Error> {
        let entries = self.in_time(Family::EndTime, None, Some(time)).set()?;
        let mut ended = RowSet::default();
        self.each(Family::Ended, &mut |grain, entry| {
            if entries.contains(entry) {
                ended.insert(grain);
            } else {
                ended.remove(grain);
            }
        })?;
        Ok(ended)
    }

    /// Returns the rows of grains whose verification status is this, which somebody has said.
    ///
    /// # Errors
    /// `ERR_INDEX_DAMAGED`, `ERR_STORAGE_IO`.
    pub fn verified_as(&self, verification: Verification) -> Result<RowSet, Error> {
        let mut rows = RowSet::default();
        let wanted = number_of(verification);
        self.each(Family::Verification, &mut |part, _| {
            let grain = part >> VERIFICATION_BITS;
            if part & ((1 << VERIFICATION_BITS) - 1) == wanted {
                rows.insert(grain);
            } else {
                rows.remove(grain);
            }
        })?;
        Ok(rows)
    }
}
