//! Maintenance of the committed index: verification of checksums, and merges of segments.
//!
//! It finds damage and does not repair it; a damaged index is rebuilt from the ledger. Merges run
//! beside commits, on the thread that asks for them, and give way to an erasure.

use std::path::Path;
use std::sync::atomic::Ordering;

use tantivy::IndexMeta;
use tantivy::index::SegmentId;

use crate::text::error::Error;
use crate::text::index::open::damage;
use crate::text::index::view::View;

impl View {
    pub(in crate::text) fn verify(&self) -> Result<Vec<String>, Error> {
        // Holding the writer prevents commits; a merge may still remove files.
        let _writer = self.writer.lock();
        let index = &self.list.index;
        let metas = || index.load_metas().map_err(Error::index("checking it"));
        let mut found = Vec::new();
        for path in metas()?.list_segment_files() {
            if let Some(damage) = damage(index, &path)
                && lists(&metas()?, &path)
            {
                found.push(format!("{}: {damage}", path.display()));
            }
        }
        found.sort_unstable();
        Ok(found)
    }

    /// Merges small segments until none is due.
    pub(in crate::text) fn merge_due(&self) -> Result<(), Error> {
        self.merge_groups(due)
    }

    /// Merges all segments into as few as the largest size of a segment allows.
    pub(in crate::text) fn merge_all(&self) -> Result<(), Error> {
        self.merge_groups(|sizes| group(sizes, 2))
    }

    fn merge_groups(
        &self,
        choose: fn(&[SegmentSize]) -> Option<Vec<SegmentId>>,
    ) -> Result<(), Error> {
        let _merging = self.merging.lock();
        loop {
            let sizes = self.sizes().map_err(Error::index("measuring it"))?;
            let Some(group) = choose(&sizes) else {
                return Ok(());
            };
            match self.merge(&group) {
                // An erasure is waiting.
                Err(_) if self.cancelled.load(Ordering::Relaxed) > 0 => return Ok(()),
                merged => merged.map_err(Error::index("merging segments"))?,
            }
            let _writer = self.writer.lock();
            self.publish()?;
        }
    }

    fn merge(&self, group: &[SegmentId]) -> tantivy::Result<()> {
        let segments = self.list.index.searchable_segments()?;
        let sources: Vec<_> = segments
            .into_iter()
            .filter(|segment| group.contains(&segment.id()))
            .map(|segment| (segment, Vec::new()))
            .collect();
        // Invariant: only a merge and an erasure remove segments, and each holds `merging`.
        let merged = self.list.rewrite(&self.fields, &sources, &self.cancelled)?;
        let merged: Vec<_> = merged.into_iter().collect();
        let _writer = self.writer.lock();
        let (_, covered) = self.list.read()?;
        self.list.replace(group, &merged, covered)
    }

    /// Returns the segments with their sizes in bytes, the smallest first.
    fn sizes(&self) -> tantivy::Result<Vec<SegmentSize>> {
        let committed = self.state.lock().committed.searcher.clone();
        let mut sizes = Vec::new();
        for reader in committed.segment_readers() {
            let bytes = reader.space_usage()?.total().get_bytes();
            sizes.push((bytes, reader.segment_id()));
        }
        sizes.sort_unstable();
        Ok(sizes)
    }
}

/// A segment and its size in bytes.
type SegmentSize = (u64, SegmentId);

/// Returns the segments to merge next: those of the smallest class of sizes that has enough.
fn due(sizes: &[SegmentSize]) -> Option<Vec<SegmentId>> {
    let classes = sizes.chunk_by(|(a, _), (b, _)| class(*a) == class(*b));
    classes
        .filter(|class| class.len() >= FAN_IN)
        .find_map(|class| group(class, FAN_IN / 2))
}

/// Returns the smallest segments that fit into one together, if they are `len_min` at least.
fn group(sizes: &[SegmentSize], len_min: usize) -> Option<Vec<SegmentId>> {
    let mut sum = 0_u64;
    let fitting = sizes.iter().take_while(|(bytes, _)| {
        sum = sum.saturating_add(*bytes);
        sum <= SEGMENT_BYTES_MAX
    });
    let group: Vec<_> = fitting.map(|(_, id)| *id).collect();
    (group.len() >= len_min).then_some(group)
}

fn class(bytes: u64) -> u32 {
    (bytes / SMALL_BYTES).max(1).ilog(FAN_IN as u64)
}

fn lists(metas: &IndexMeta, path: &Path) -> bool {
    metas.list_segment_files().contains(path)
}

/// The number of segments of one class that are merged.
const FAN_IN: usize = 8;

/// Segments below this size times [`FAN_IN`] are of one class.
const SMALL_BYTES: u64 = 1 << 20;

/// The largest segment that a merge writes. An erasure rewrites each segment that holds one of its
/// rows, so this bounds its time.
const SEGMENT_BYTES_MAX: u64 = 96 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(bytes: &[u64]) -> Vec<SegmentSize> {
        let id = |n| SegmentId::from_uuid_string(&format!("{n:032x}")).unwrap();
        let sizes = bytes.iter().zip(0_u128..);
        sizes.map(|(bytes, n)| (*bytes, id(n))).collect()
    }

    #[test]
    fn eight_segments_of_a_class_are_merged_and_none_grows_past_the_limit() {
        assert_eq!(due(&sizes(&[1; 7])), None);
        assert_eq!(due(&sizes(&[1; 9])).unwrap().len(), 9);
        let mixed: Vec<u64> = [vec![1; 7], vec![10 << 20; 8]].concat();
        assert_eq!(due(&sizes(&mixed)).unwrap().len(), 8);
        // Large segments stay as they are, however many there are.
        assert_eq!(due(&sizes(&[60 << 20; 50])), None);
        assert_eq!(group(&sizes(&[60 << 20; 50]), 2), None);
        assert_eq!(group(&sizes(&[40 << 20; 50]), 2).unwrap().len(), 2);
    }
}
