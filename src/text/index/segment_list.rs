//! The list of segments: which files make up the committed index, and how it is replaced.
//!
//! A segment is written and synced before the list names it, and files are removed only after a
//! list without them is durable. A crash leaves the list before or after; the next opening removes
//! files that it does not name.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::io;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use tantivy::directory::Directory;
use tantivy::index::{Segment, SegmentId};
use tantivy::{Index, IndexMeta, TantivyError};

use crate::text::index::build::{self, SegmentBuilder};
use crate::text::index::directory::{DiskDirectory, LIST, Staging};
use crate::text::index::open::{CommitPayload, Fingerprint};
use crate::text::index::schema::Fields;
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

    /// Writes documents as segments, each of about `budget` bytes of memory at most. Parts of many are
    /// written beside each other.
    pub(in crate::text) fn index(
        &self,
        fields: &Fields,
        documents: &[&QueuedDocument],
        budget: usize,
    ) -> tantivy::Result<Vec<NewSegment>> {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let parts = (documents.len() / PART_LEN_MIN).clamp(1, cores);
        let part_len = documents.len().div_ceil(parts).max(1);
        let next = AtomicUsize::new(0);
        beside(parts, || {
            let mut new = Vec::new();
            while let Some(part) = documents
                .chunks(part_len)
                .nth(next.fetch_add(1, Ordering::Relaxed))
            {
                new.extend(self.write_part(fields, part, budget / parts)?);
            }
            Ok(new)
        })
    }

    fn write_part(
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
            let mut builder = SegmentBuilder::new(fields, index.new_segment());
            for fed in documents.by_ref() {
                builder.add(fed.row, &fed.document);
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
        fields: &Fields,
        segments: &[(Segment, Vec<u32>)],
        cancelled: &Arc<AtomicUsize>,
    ) -> tantivy::Result<Option<NewSegment>> {
        let reading = Index::open(self.directory.windowed())?;
        let sources = segments.iter().filter(|(segment, erased)| {
            let documents = segment.meta().max_doc();
            erased.len() < documents as usize
        });
        let sources: Vec<_> = sources
            .map(|(segment, erased)| (reading.segment(segment.meta().clone()), erased.clone()))
            .collect();
        if sources.is_empty() {
            return Ok(None);
        }
        let (staged, staging) = self.directory.stage(cancelled);
        let target = fields.index().open_or_create(staged)?.new_segment();
        let documents = build::merge(fields, &sources, &target)?;
        Ok(Some(NewSegment {
            id: target.id(),
            documents,
            staging,
        }))
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

/// Returns the segments that threads write beside each other, each with `write`.
pub(in crate::text) fn beside(
    threads: usize,
    write: impl Fn() -> tantivy::Result<Vec<NewSegment>> + Sync,
) -> tantivy::Result<Vec<NewSegment>> {
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(&write)).collect();
        let mut new = write();
        for other in others {
            let others = other.join().unwrap_or_else(|panic| resume_unwind(panic));
            new = new.and_then(|mut new| {
                new.extend(others?);
                Ok(new)
            });
        }
        new
    })
}

/// Returns the names of the files that a list may name, itself included.
pub(in crate::text) fn names(list: &IndexMeta) -> HashSet<String> {
    let files = list.list_segment_files().into_iter();
    let files = files.filter_map(|path| path.to_str().map(str::to_owned));
    files.chain([LIST.to_owned()]).collect()
}

/// The fewest documents that a thread is worth starting for: as many as one segment has at least
/// where documents are fed without a pause.
const PART_LEN_MIN: usize = 16_384;
