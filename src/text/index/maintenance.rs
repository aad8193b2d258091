use std::path::Path;

use tantivy::directory::Directory;
use tantivy::directory::error::OpenReadError;
use tantivy::{IndexMeta, IndexWriter};

use crate::text::error::Error;
use crate::text::index::open::{FOOTER_LEN_MIN, is_optional};
use crate::text::index::view::View;

impl View {
    pub(in crate::text) fn verify(&self) -> Result<Vec<String>, Error> {
        // No commit meanwhile; a merge may still take files away.
        let _writer = self.writer.lock();
        let metas = || self.index.load_metas().map_err(Error::index("checking it"));
        let mut found = Vec::new();
        for path in metas()?.list_segment_files() {
            if let Some(damage) = self.damage(&path)
                && lists(&metas()?, &path)
            {
                found.push(format!("{}: {damage}", path.display()));
            }
        }
        found.sort_unstable();
        Ok(found)
    }

    fn damage(&self, path: &Path) -> Option<String> {
        let directory = self.index.directory();
        let len = match directory.get_file_handle(path) {
            Ok(file) => file.len(),
            Err(OpenReadError::FileDoesNotExist(_)) if is_optional(path) => return None,
            Err(error) => return Some(error.to_string()),
        };
        // The library computes where the footer begins before it looks whether there is room.
        if (len as u64) < FOOTER_LEN_MIN {
            return Some(format!("it is {len} bytes"));
        }
        match directory.validate_checksum(path) {
            Ok(true) => None,
            Ok(false) => Some("it does not match its checksum".into()),
            Err(error) => Some(error.to_string()),
        }
    }

    pub(in crate::text) fn merge_all(&self) -> Result<(), Error> {
        let mut writer = self.writer.lock();
        let merged = self.merge_with(&mut writer);
        if merged.is_err() {
            // A writer that failed is not asked again.
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
