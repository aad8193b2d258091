//! Opens, creates and removes the committed index.
//!
//! An index is used only if its schema, its checksums and its watermark are sound. Otherwise it is
//! deleted and an empty one is created; it is never repaired.

use std::io;
use std::path::Path;
use std::sync::Arc;

use data_encoding::HEXLOWER;
use tantivy::directory::Directory;
use tantivy::directory::error::OpenReadError;
use tantivy::index::SegmentMeta;
use tantivy::{Index, IndexMeta, IndexReader, ReloadPolicy, TantivyError};

use crate::codec::ContentAddress;
use crate::ledger::Disk;

use crate::text::error::Error;
use crate::text::index::directory::{DiskDirectory, FOLDER, LIST};
use crate::text::index::schema::Fields;
use crate::text::index::segment_list::{SegmentList, names};

/// The state in which an index was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenOutcome {
    /// There was no index; the view is empty.
    Created,
    /// The index was sound; feeding continues at its watermark.
    Found,
    /// The index could not be trusted and was deleted; the caller must feed from row 0.
    Rebuilt {
        /// The reason.
        reason: String,
    },
}

/// An open index.
pub(in crate::text) struct Found {
    pub(in crate::text) list: SegmentList,
    pub(in crate::text) reader: IndexReader,
    pub(in crate::text) watermark: u64,
}

/// Opens the index on `disk` or creates an empty one. An index in doubt is never used.
pub(in crate::text) fn open(
    disk: &Arc<dyn Disk>,
    ledger_len: u64,
    fingerprint: &Fingerprint,
    fields: &Fields,
) -> Result<(Found, OpenOutcome), Error> {
    // Files are mapped in a folder that is there.
    let names = folder(&**disk)?;
    let directory = DiskDirectory::new(disk);
    // Without a list of segments there is no index, only remains of one that was removed.
    let opened = if names.iter().any(|name| name == LIST) {
        match find(&directory, ledger_len, fingerprint, fields) {
            Ok(found) => return Ok((found, OpenOutcome::Found)),
            Err(reason) => OpenOutcome::Rebuilt { reason },
        }
    } else {
        OpenOutcome::Created
    };
    let emptied = directory.retain(|_| false);
    emptied.map_err(Error::folder("empty"))?;
    let found = create(&directory, fingerprint, fields);
    Ok((found.map_err(Error::index("creating it"))?, opened))
}

/// Returns the names of the files in the folder, which is created if missing.
fn folder(disk: &dyn Disk) -> Result<Vec<String>, Error> {
    match disk.list(FOLDER) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            disk.create_folder(FOLDER)
                .and_then(|()| disk.sync_folder(""))
                .map_err(Error::folder("create"))?;
            Ok(Vec::new())
        }
        names => names.map_err(Error::folder("list")),
    }
}

/// Creates an empty index.
fn create(
    directory: &DiskDirectory,
    fingerprint: &Fingerprint,
    fields: &Fields,
) -> tantivy::Result<Found> {
    let index = fields.index().open_or_create(directory.clone())?;
    Ok(Found {
        reader: reader(&index)?,
        list: SegmentList::new(index, directory.clone(), Arc::clone(fingerprint)),
        watermark: 0,
    })
}

/// Opens the segments of `index`. Reloading is manual: a commit must become visible in the same
/// step in which its documents leave the uncommitted queue.
fn reader(index: &Index) -> tantivy::Result<IndexReader> {
    let builder = index.reader_builder();
    builder.reload_policy(ReloadPolicy::Manual).try_into()
}

/// Opens the index in `directory`; `Err` is the reason why it cannot be trusted.
///
/// Checksums are verified before anything is decoded: the library trusts its files, and a file
/// modified underneath it causes a panic or, if mapped and truncated, a signal. Verification takes
/// about a second for a few gigabytes.
fn find(
    directory: &DiskDirectory,
    ledger_len: u64,
    fingerprint: &Fingerprint,
    fields: &Fields,
) -> Result<Found, String> {
    let text = |error: TantivyError| error.to_string();
    let index = Index::open(directory.clone()).map_err(text)?;
    if index.schema() != fields.schema {
        return Err("its fields or their analysis are of another version".to_owned());
    }
    let metas = index.load_metas().map_err(text)?;
    for path in metas.list_segment_files() {
        if let Some(damage) = damage(&index, &path) {
            return Err(format!("{}: {damage}", path.display()));
        }
    }
    let covered = CommitPayload::read(&metas)?;
    if covered.watermark > ledger_len {
        return Err(format!(
            "it covers {} entries of a ledger of {ledger_len}",
            covered.watermark
        ));
    }
    if covered.watermark > 0 && fingerprint(covered.watermark) != Some(covered.ledger) {
        return Err("it is of another ledger, or of another history of this one".to_owned());
    }
    if metas.segments.iter().any(SegmentMeta::has_deletes) {
        return Err("an erasure of an earlier version was interrupted".to_owned());
    }
    // Invariant: the list that was read is durable before a file that it does not name is removed.
    let listed = names(&metas);
    let cleared = directory
        .sync()
        .and_then(|()| directory.retain(|name| listed.contains(name)));
    cleared.map_err(|error| error.to_string())?;
    Ok(Found {
        reader: reader(&index).map_err(text)?,
        list: SegmentList::new(index, directory.clone(), Arc::clone(fingerprint)),
        watermark: covered.watermark,
    })
}

/// Returns the damage of a file that a segment may have.
pub(in crate::text) fn damage(index: &Index, path: &Path) -> Option<String> {
    let directory = index.directory();
    let len = match directory.get_file_handle(path) {
        Ok(file) => file.len(),
        Err(OpenReadError::FileDoesNotExist(_)) if is_optional(path) => return None,
        Err(error) => return Some(error.to_string()),
    };
    // The library computes the offset of the footer without checking the length.
    if len < FOOTER_LEN_MIN {
        return Some(format!("it is {len} bytes"));
    }
    match directory.validate_checksum(path) {
        Ok(true) => None,
        Ok(false) => Some("it does not match its checksum".into()),
        Err(error) => Some(error.to_string()),
    }
}

/// Returns whether a file exists only for deletions or for a segment being written.
fn is_optional(path: &Path) -> bool {
    let ends = path.extension();
    ends.is_some_and(|name| name == "del" || name == "temp")
}

/// The payload of a commit: the range that it covers. It is replaced atomically with the segment
/// list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::text) struct CommitPayload {
    /// The number of ledger entries.
    pub(in crate::text) watermark: u64,
    /// The number of documents among them.
    pub(in crate::text) documents: u64,
    /// The fingerprint of these entries.
    pub(in crate::text) ledger: [u8; 8],
}

/// Returns the fingerprint of the first entries of the ledger; `None` if it cannot be read.
pub(in crate::text) type Fingerprint = Arc<dyn Fn(u64) -> Option<[u8; 8]> + Send + Sync>;

impl CommitPayload {
    /// Reads the payload of the last commit.
    ///
    /// The segment list has no checksum, so the payload has one, and the number of documents that
    /// the segments must add up to.
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
                ledger: [0; 8],
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

    /// Returns the payload as text.
    pub(in crate::text) fn payload(self) -> String {
        let Self {
            watermark,
            documents,
            ledger,
        } = self;
        let text = format!("{watermark} {documents} {}", HEXLOWER.encode(&ledger));
        let check = ContentAddress::of(text.as_bytes());
        format!("{text} {check}")
    }

    fn from_payload(payload: &str) -> Option<Self> {
        let mut parts = payload.split(' ');
        let covered = Self {
            watermark: parts.next()?.parse().ok()?,
            documents: parts.next()?.parse().ok()?,
            ledger: HEXLOWER
                .decode(parts.next()?.as_bytes())
                .ok()?
                .try_into()
                .ok()?,
        };
        (covered.payload() == payload).then_some(covered)
    }
}

/// Each segment file ends with the length of its footer and a magic number.
const FOOTER_LEN_MIN: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_with_any_other_byte_is_unreadable() {
        let covered = CommitPayload {
            watermark: 1_200,
            documents: 34,
            ledger: [0xa5; 8],
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
