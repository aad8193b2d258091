//! Erasure: removes the words of rows from memory and from every file of the index.
//!
//! Deleting documents is not enough: the dictionary of a segment keeps their terms until it is
//! rewritten.

use tantivy::{IndexWriter, TantivyError};

use crate::ledger::EntryId;
use crate::text::error::Error;
use crate::text::index::open::CommitPayload;
use crate::text::index::view::View;

impl View {
    /// Erases the text of `rows`, in memory and in the files.
    pub(in crate::text) fn erase(&self, rows: &[EntryId]) -> Result<(), Error> {
        let mut writer = self.writer.lock();
        self.state.lock().uncommitted.erase(rows);
        let erased = self.erase_committed(&mut writer, rows);
        if erased.is_err() {
            // A writer that failed may hold part of the deletions; the next call uses a new one.
            *writer = None;
        }
        erased.map_err(Error::index("forgetting rows"))?;
        let watermark = self.state.lock().committed_watermark;
        self.publish(watermark)
    }

    fn erase_committed(
        &self,
        writer: &mut Option<IndexWriter>,
        rows: &[EntryId],
    ) -> tantivy::Result<()> {
        let committed = self.state.lock().committed.searcher.clone();
        let mut found = 0;
        for row in rows {
            found += committed.doc_freq(&self.fields.row_term(*row))?;
        }
        if found == 0 {
            return Ok(());
        }
        let stored =
            CommitPayload::read(&self.index.load_metas()?).map_err(TantivyError::InternalError)?;
        let writer = match writer {
            Some(writer) => writer,
            None => writer.insert(self.new_writer()?),
        };
        for row in rows {
            writer.delete_term(self.fields.row_term(*row));
        }
        let mut commit = writer.prepare_commit()?;
        let covered = CommitPayload {
            documents: stored.documents.saturating_sub(found),
            ..stored
        };
        commit.set_payload(&covered.payload());
        commit.commit()?;
        self.rewrite(writer)
    }

    /// Rewrites every segment that contains deleted documents. Until then its dictionary still
    /// holds their terms.
    fn rewrite(&self, writer: &mut IndexWriter) -> tantivy::Result<()> {
        for segment in self.index.searchable_segment_metas()? {
            if segment.has_deletes() {
                writer.merge(&[segment.id()]).wait()?;
            }
        }
        writer.garbage_collect_files().wait()?;
        Ok(())
    }
}
