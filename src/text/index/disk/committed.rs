//! The segments of one commit. Those that the commit before had are taken over as they were opened.

use std::sync::{Arc, OnceLock};

use tantivy::{Searcher, SegmentReader};

use super::segment::DiskSegment;
use crate::text::index::schema::Fields;

/// The segments on disk as of one commit.
pub(in crate::text) struct Committed {
    pub(in crate::text) searcher: Searcher,
    /// Those that were opened before: none that is not of this commit, since an erasure must end the
    /// use of the files that it replaces.
    known: Vec<Arc<DiskSegment>>,
    /// Opened by the first search and shared by the others: opening columns costs as much as
    /// looking up a rare term.
    on_disk: OnceLock<Vec<Arc<DiskSegment>>>,
}

impl Committed {
    pub(in crate::text) const fn new(searcher: Searcher) -> Self {
        Self {
            searcher,
            known: Vec::new(),
            on_disk: OnceLock::new(),
        }
    }

    /// Returns the segments of the next commit.
    pub(in crate::text) fn followed_by(&self, searcher: Searcher) -> Self {
        let opened = self.on_disk.get().unwrap_or(&self.known).iter();
        let stays = |segment: &&Arc<DiskSegment>| {
            let mut readers = searcher.segment_readers().iter();
            readers.any(|reader| segment.is_of(reader))
        };
        let known = opened.filter(stays).cloned().collect();
        Self {
            known,
            ..Self::new(searcher)
        }
    }

    /// Returns the segments, opened.
    pub(in crate::text::index) fn on_disk(
        &self,
        fields: &Fields,
    ) -> tantivy::Result<&[Arc<DiskSegment>]> {
        if let Some(opened) = self.on_disk.get() {
            return Ok(opened);
        }
        let readers = self.searcher.segment_readers().iter();
        let opened = readers.map(|reader| self.opened(reader, fields));
        let opened = opened.collect::<tantivy::Result<_>>()?;
        Ok(self.on_disk.get_or_init(|| opened))
    }

    fn opened(&self, reader: &SegmentReader, fields: &Fields) -> tantivy::Result<Arc<DiskSegment>> {
        let known = self.known.iter().find(|segment| segment.is_of(reader));
        match known {
            Some(segment) => Ok(Arc::clone(segment)),
            None => DiskSegment::open(reader, fields).map(Arc::new),
        }
    }
}
