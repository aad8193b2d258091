use std::path::Path;

use tantivy::directory::Directory;
use tantivy::directory::error::OpenReadError;
use tantivy::{IndexMeta, IndexWriter, TantivyError};

use crate::text::error::Error;
use crate::text::index::committer::Text;
use crate::text::index::open::{FOOTER_LEN_MIN, is_optional};
use crate::text::index::view::View;

impl Text {
    /// Reads every byte of the committed files and returns in words what does not match its
    /// checksum.
    ///
    /// # Errors
    /// `ERR_TEXT` where the list of files cannot be read.
    pub fn verify(&self) -> Result<Vec<String>, Error> {
        self.view.verify()
    }

    /// Commits what was fed, and merges all segments into one.
    ///
    /// # Errors
    /// `ERR_TEXT` where the index could not be written: what was fed stays searchable.
    pub fn compact(&self) -> Result<(), Error> {
        // What the library merges by itself must be done before.
        self.close()?;
        self.view.merge_all()?;
        self.close()
    }

    /// Returns how many segments were committed, and their length together in bytes.
    ///
    /// # Errors
    /// `ERR_TEXT` where a file cannot be read.
    pub fn size(&self) -> Result<(usize, u64), Error> {
        let committed = self.view.state.lock().committed.searcher.clone();
        let space = committed.space_usage();
        let space = space.map_err(TantivyError::from);
        let space = space.map_err(Error::index("measuring it"))?;
        let segments = committed.segment_readers().len();
        Ok((segments, space.total().get_bytes()))
    }
}

impl View {
    fn verify(&self) -> Result<Vec<String>, Error> {
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

    fn merge_all(&self) -> Result<(), Error> {
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
