use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tantivy::directory::{Directory, MmapDirectory, RamDirectory};
use tantivy::{Index, IndexMeta, IndexReader, ReloadPolicy, TantivyError};

use crate::codec::ContentAddress;

use crate::text::error::Error;
use crate::text::index::schema::Fields;

/// Where a view keeps its index.
///
/// ```
/// use grainstore::text::{TextOptions, TextLocation, Text};
///
/// let (text, _) = Text::open(&TextLocation::Memory, 0, TextOptions::default())?;
/// assert_eq!(text.watermark(), 0);
/// # Ok::<(), grainstore::text::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextLocation {
    /// In memory, for as long as the view lives.
    Memory,
    /// In a folder of its own: whatever else lies there is deleted when the index is rebuilt.
    Folder(PathBuf),
}

/// How an index was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenOutcome {
    /// There was none: the view is empty.
    Created,
    /// It was sound and goes on from its watermark.
    Found,
    /// It could not be trusted, was deleted, and must be fed from row 0.
    Rebuilt {
        /// What was wrong with it.
        reason: String,
    },
}

/// An index that is ready to be read and written.
pub(in crate::text) struct Found {
    pub(in crate::text) index: Index,
    pub(in crate::text) reader: IndexReader,
    pub(in crate::text) watermark: u64,
}

/// Opens the index at `place`, or makes an empty one; never answers from an index in doubt.
pub(in crate::text) fn open(
    place: &TextLocation,
    ledger_len: u64,
    fields: &Fields,
) -> Result<(Found, OpenOutcome), Error> {
    let TextLocation::Folder(folder) = place else {
        let found = create(RamDirectory::create(), fields);
        return Ok((
            found.map_err(Error::index("creating it"))?,
            OpenOutcome::Created,
        ));
    };
    fs::create_dir_all(folder).map_err(of_folder(folder))?;
    let opened = if entries(folder)?.is_empty() {
        OpenOutcome::Created
    } else {
        match find(folder, ledger_len, fields) {
            Ok(found) => return Ok((found, OpenOutcome::Found)),
            Err(reason) => OpenOutcome::Rebuilt { reason },
        }
    };
    empty(folder)?;
    let found = MmapDirectory::open(folder)
        .map_err(TantivyError::from)
        .and_then(|directory| create(directory, fields));
    Ok((found.map_err(Error::index("creating it"))?, opened))
}

/// Makes an empty index.
fn create(directory: impl Into<Box<dyn Directory>>, fields: &Fields) -> tantivy::Result<Found> {
    let index = fields.index().open_or_create(directory)?;
    Ok(Found {
        reader: reader(&index)?,
        index,
        watermark: 0,
    })
}

/// Opens the segments of `index`. What is committed later is seen when the view says so: it must
/// leave the tail at the same moment.
fn reader(index: &Index) -> tantivy::Result<IndexReader> {
    let builder = index.reader_builder();
    builder.reload_policy(ReloadPolicy::Manual).try_into()
}

/// Opens the index in `folder`, or says why it cannot be trusted.
///
/// Checksums come before anything is decoded: the library trusts its files, and one that changed
/// under it ends in a panic or, mapped and truncated, in a signal. They cost about a second per
/// few gigabytes.
fn find(folder: &Path, ledger_len: u64, fields: &Fields) -> Result<Found, String> {
    let text = |error: TantivyError| error.to_string();
    let directory = MmapDirectory::open(folder).map_err(|error| error.to_string())?;
    if !Index::exists(&directory).map_err(|error| error.to_string())? {
        return Err("the list of segments is missing".to_owned());
    }
    let mut index = Index::open(directory).map_err(text)?;
    if index.schema() != fields.schema {
        return Err("its fields or their analysis are of another version".to_owned());
    }
    index.set_tokenizers(fields.analyzers.clone());
    let metas = index.load_metas().map_err(text)?;
    for path in metas.list_segment_files() {
        check(&index, folder, &path)?;
    }
    let covered = CommitPayload::read(&metas)?;
    if covered.watermark > ledger_len {
        return Err(format!(
            "it covers {} entries of a ledger of {ledger_len}",
            covered.watermark
        ));
    }
    Ok(Found {
        reader: reader(&index).map_err(text)?,
        index,
        watermark: covered.watermark,
    })
}

/// Says what is wrong with a file that a segment may have.
fn check(index: &Index, folder: &Path, path: &Path) -> Result<(), String> {
    let name = path.display();
    let len = match fs::metadata(folder.join(path)) {
        Ok(metadata) => metadata.len(),
        Err(_) if is_optional(path) => return Ok(()),
        Err(error) => return Err(format!("{name}: {error}")),
    };
    // The library computes where the footer begins before it looks whether there is room for one.
    if len < FOOTER_LEN_MIN {
        return Err(format!("{name} is {len} bytes"));
    }
    match index.directory().validate_checksum(path) {
        Ok(true) => Ok(()),
        Ok(false) => Err(format!("{name} does not match its checksum")),
        Err(error) => Err(format!("{name}: {error}")),
    }
}

/// Whether a file is there only for deletions, or for a segment half written.
pub(in crate::text) fn is_optional(path: &Path) -> bool {
    let ends = path.extension();
    ends.is_some_and(|name| name == "del" || name == "temp")
}

/// What a commit covers, as its payload says: it is replaced in one step with the segment list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::text) struct CommitPayload {
    /// How many ledger entries.
    pub(in crate::text) watermark: u64,
    /// How many of them had text.
    pub(in crate::text) documents: u64,
}

impl CommitPayload {
    /// Reads what the last commit covers.
    ///
    /// The segment list has no checksum of its own, so the payload carries one, and the number of
    /// documents that the segments must add up to.
    pub(in crate::text) fn read(metas: &IndexMeta) -> Result<Self, String> {
        let documents: u64 = metas
            .segments
            .iter()
            .map(|segment| u64::from(segment.num_docs()))
            .sum();
        let covered = match metas.payload.as_deref() {
            None => Self {
                watermark: 0,
                documents: 0,
            },
            Some(payload) => Self::from_payload(payload).ok_or("its watermark is unreadable")?,
        };
        if covered.documents != documents {
            return Err(format!(
                "its segments hold {documents} documents, not {}",
                covered.documents
            ));
        }
        Ok(covered)
    }

    /// Returns the text to store with a commit.
    pub(in crate::text) fn payload(self) -> String {
        let Self {
            watermark,
            documents,
        } = self;
        let text = format!("{watermark} {documents}");
        let check = ContentAddress::of(text.as_bytes());
        format!("{text} {check}")
    }

    fn from_payload(payload: &str) -> Option<Self> {
        let mut numbers = payload.split(' ').map(str::parse);
        let covered = Self {
            watermark: numbers.next()?.ok()?,
            documents: numbers.next()?.ok()?,
        };
        (covered.payload() == payload).then_some(covered)
    }
}

fn entries(folder: &Path) -> Result<Vec<fs::DirEntry>, Error> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect);
    entries.map_err(of_folder(folder))
}

/// Deletes the index at `place`: the next open makes an empty one, to be fed from row 0.
///
/// # Errors
/// `ERR_TEXT` where a file cannot be deleted.
pub fn remove(place: &TextLocation) -> Result<(), Error> {
    match place {
        TextLocation::Folder(folder) if folder.exists() => empty(folder),
        _ => Ok(()),
    }
}

/// Deletes what is in `folder`, and not the folder: it may be a link to another disk.
fn empty(folder: &Path) -> Result<(), Error> {
    for entry in entries(folder)? {
        let path = entry.path();
        let is_folder = entry.file_type().map_err(of_folder(&path))?.is_dir();
        let removed = if is_folder {
            fs::remove_dir_all(&path)
        } else {
            fs::remove_file(&path)
        };
        removed.map_err(of_folder(&path))?;
    }
    Ok(())
}

fn of_folder(path: &Path) -> impl FnOnce(io::Error) -> Error {
    move |source| Error::Folder {
        path: path.to_owned(),
        source,
    }
}

/// Each file of a segment ends with the length of its footer and a magic number.
pub(in crate::text) const FOOTER_LEN_MIN: u64 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_with_any_other_byte_is_unreadable() {
        let covered = CommitPayload {
            watermark: 1_200,
            documents: 34,
        };
        let payload = covered.payload();
        assert_eq!(CommitPayload::from_payload(&payload), Some(covered));
        for place in 0..payload.len() {
            let mut garbled = payload.clone().into_bytes();
            garbled[place] ^= 1;
            let garbled = String::from_utf8(garbled).unwrap();
            assert_eq!(CommitPayload::from_payload(&garbled), None, "{garbled}");
        }
    }
}
