//! The list of segments: which files make up the committed index, and how it is replaced.
//!
//! A segment is written and synced before the list names it, and files are removed only after a
//! list without them is durable. A crash leaves the list before or after; the next opening removes
//! files that it does not name.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tantivy::directory::{Directory, OwnedBytes};
use tantivy::fastfield::{AliveBitSet, write_alive_bitset};
use tantivy::index::{Segment, SegmentId};
use tantivy::indexer::merge_filtered_segments;
use tantivy::{BitSet, Index, IndexMeta, TantivyError};

use crate::text::index::directory::{DiskDirectory, LIST, Staging};
use crate::text::index::open::{CommitPayload, Fingerprint};
use crate::text::index::schema::Fields;
use crate::text::index::segment_builder::SegmentBuilder;
use crate::text::index::uncommitted::QueuedDocument;

/// The files of the committed index.
pub(in crate::text) struct SegmentList {
    pub(in crate::text) index: Index,
    directory: DiskDirectory,
    fingerprint: Fingerprint,
    /// Whether the files were removed for good.
    is_removed: AtomicBool,
}

/// A segment that is whole on disk and that the list does not name yet.
pub(in crate::text) struct NewSegment {
    id: SegmentId,
    documents: u32,
    staging: Arc<Staging>,
}

impl SegmentList {
    pub(in crate::text) const fn new(
        index: Index,
        directory: DiskDirectory,
        fingerprint: Fingerprint,
    ) -> Self {
        Self {
            index,
            directory,
            fingerprint,
            is_removed: AtomicBool::new(false),
        }
    }

    /// Removes all files, for good.
    pub(in crate::text) fn remove(&self) -> io::Result<()> {
        self.is_removed.store(true, Ordering::Relaxed);
        self.directory.retain(|_| false)?;
        self.directory.sync()
    }

    /// Returns the segments and the range that they cover, as they are on disk.
    pub(in crate::text) fn read(&self) -> tantivy::Result<(IndexMeta, CommitPayload)> {
        let list = self.index.load_metas()?;
        let covered = CommitPayload::read(&list).map_err(TantivyError::InternalError)?;
        Ok((list, covered))
    }

    /// Writes documents as segments, each of about `budget` bytes of memory at most.
    pub(in crate::text) fn index(
        &self,
        fields: &Fields,
        documents: &[&QueuedDocument],
        budget: usize,
    ) -> tantivy::Result<Vec<NewSegment>> {
        let mut new = Vec::new();
        let mut documents = documents.iter().peekable();
        while documents.peek().is_some() {
            let (staged, staging) = self.directory.stage(&Arc::default());
            let index = fields.index().open_or_create(staged)?;
            let mut builder = SegmentBuilder::new(fields, index.new_segment())?;
            for fed in documents.by_ref() {
                builder.add(fed.row, &fed.document)?;
                if builder.len_bytes() >= budget {
                    break;
                }
            }
            let (id, documents) = builder.finish()?;
            new.push(NewSegment {
                id,
                documents,
                staging,
            });
        }
        Ok(new)
    }

    /// Writes the documents of `segments` as one segment, each without those that `erased` lists;
    /// `None` if none is left. It fails if `cancelled` rises above 0.
    pub(in crate::text) fn rewrite(
        &self,
        segments: &[(Segment, Vec<u32>)],
        cancelled: &Arc<AtomicUsize>,
    ) -> tantivy::Result<Option<NewSegment>> {
        let reading = Index::open(self.directory.windowed())?;
        let mut sources = Vec::with_capacity(segments.len());
        let mut filters = Vec::with_capacity(segments.len());
        for (segment, erased) in segments {
            let documents = segment.meta().max_doc();
            if erased.len() < documents as usize {
                sources.push(reading.segment(segment.meta().clone()));
                filters.push(alive(documents, erased)?);
            }
        }
        if sources.is_empty() {
            return Ok(None);
        }
        let (staged, staging) = self.directory.stage(cancelled);
        let settings = self.index.settings().clone();
        let merged = merge_filtered_segments(&sources, settings, filters, staged)?;
        NewSegment::of(&merged, staging)
    }

    /// Replaces the segments `old` by `new` and the range that is covered, atomically and durably.
    /// Then removes the files that are not listed any more.
    pub(in crate::text) fn replace(
        &self,
        old: &[SegmentId],
        new: &[NewSegment],
        covered: CommitPayload,
    ) -> tantivy::Result<()> {
        if self.is_removed.load(Ordering::Relaxed) {
            return Err(io::Error::other("the index was removed").into());
        }
        let mut list = self.index.load_metas()?;
        list.segments.retain(|segment| !old.contains(&segment.id()));
        for segment in new {
            let listed = self.index.new_segment_meta(segment.id, segment.documents);
            list.segments.push(listed);
        }
        list.segments
            .sort_by_key(|segment| Reverse(segment.max_doc()));
        let ledger = (self.fingerprint)(covered.watermark);
        let ledger = ledger.ok_or_else(|| {
            TantivyError::InternalError("the end of the ledger cannot be read".to_owned())
        })?;
        list.payload = Some(CommitPayload { ledger, ..covered }.payload());
        let bytes = serde_json::to_vec_pretty(&list);
        let bytes = bytes.map_err(|error| TantivyError::InternalError(error.to_string()))?;
        self.directory.sync()?;
        // After an error either list may be the one on disk, so the files of both stay.
        for segment in new {
            segment.staging.set_listed();
        }
        self.directory.atomic_write(Path::new(LIST), &bytes)?;
        if !old.is_empty() {
            self.remove_unlisted(&list, old)?;
        }
        Ok(())
    }

    /// Removes the files of the segments `old`, which the list does not name.
    fn remove_unlisted(&self, list: &IndexMeta, old: &[SegmentId]) -> tantivy::Result<()> {
        let old: HashSet<String> = old.iter().map(SegmentId::uuid_string).collect();
        let files = names(list);
        self.directory.retain(|name| {
            let id = name.split('.').next().unwrap_or_default();
            files.contains(name) || !old.contains(id)
        })?;
        // Words that were erased must not come back with the name of a removed file.
        Ok(self.directory.sync()?)
    }
}

impl NewSegment {
    /// Returns the only segment of an index that was built in a staged directory.
    fn of(index: &Index, staging: Arc<Staging>) -> tantivy::Result<Option<Self>> {
        let segment = index.searchable_segment_metas()?.pop();
        Ok(segment
            .filter(|segment| segment.num_docs() > 0)
            .map(|segment| Self {
                id: segment.id(),
                documents: segment.max_doc(),
                staging,
            }))
    }
}

/// Returns the names of the files that a list may name, itself included.
pub(in crate::text) fn names(list: &IndexMeta) -> HashSet<String> {
    let files = list.list_segment_files().into_iter();
    let files = files.filter_map(|path| path.to_str().map(str::to_owned));
    files.chain([LIST.to_owned()]).collect()
}

fn alive(documents: u32, erased: &[u32]) -> tantivy::Result<Option<AliveBitSet>> {
    if erased.is_empty() {
        return Ok(None);
    }
    let mut alive = BitSet::with_max_value_and_full(documents);
    for document in erased {
        alive.remove(*document);
    }
    let mut bytes = Vec::new();
    write_alive_bitset(&alive, &mut bytes)?;
    Ok(Some(AliveBitSet::open(OwnedBytes::new(bytes))))
}
