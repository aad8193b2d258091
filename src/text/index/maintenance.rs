//! Maintenance of the committed index: verification of checksums and the merge of all segments.
//!
//! It finds damage and does not repair it; a damaged index is rebuilt from the ledger.

use std::path::Path;

use tantivy::{IndexMeta, IndexWriter};

use crate::text::error::Error;
use crate::text::index::open::damage;
use crate::text::index::view::View;

impl View {
    pub(in crate::text) fn verify(&self) -> Result<Vec<String>, Error> {
        // Holding the writer prevents commits; a merge may still remove files.
        let _writer = self.writer.lock();
        let metas = || self.index.load_metas().map_err(Error::index("checking it"));
        let mut found = Vec::new();
        for path in metas()?.list_segment_files() {
            if let Some(damage) = damage(&self.index, &path)
                && lists(&metas()?, &path)
            {
                found.push(format!("{}: {damage}", path.display()));
            }
        }
        found.sort_unstable();
        Ok(found)
    }

    pub(in crate::text) fn merge_all(&self) -> Result<(), Error> {
        let mut writer = self.writer.lock();
        let merged = self.merge_with(&mut writer);
        if merged.is_err() {
            // A writer that failed is not used again.
            *writer = None;
        }
        merged.map_err(Error::index("merging segments"))
    }

    fn merge_with(&self, writer: &mut Option<IndexWriter>) -> tantivy::Result<()> {
        let segments = self.index.searchable_segment_ids()?;
        if segments.len() > 1 {
            let writer = match writer {
                Some(writer) => writer,
                None => writer.insert(self.new_writer()?),
            };
            writer.merge(&segments).wait()?;
            writer.garbage_collect_files().wait()?;
        }
        Ok(())
    }
}

fn lists(metas: &IndexMeta, path: &Path) -> bool {
    metas.list_segment_files().contains(path)
}
