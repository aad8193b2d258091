//! The plan of an archive: its grains in order, divided into volumes, before any is fetched.

use crate::code::ErrorCode;
use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::codec::{Compression, ContentAddress};
use crate::grain::{Grain, Status, Time};

use super::archive::REGION_LEN_MAX;
use super::header::FileHeader;
use super::manifest::{self, WRITTEN_LEN_MAX};
use super::volume::{Summary, Volume};
use super::{FOOTER_LEN, fault, len_u64};
use crate::crypto::delivery_len;
use crate::interchange::{Error, Place, WriteOptions};

/// The description of a grain that is not fetched yet: 56 bytes, so that files with millions of
/// grains can be planned in memory.
#[derive(Debug, Clone)]
pub struct Entry {
    pub(super) created_at: Time,
    pub(super) address: ContentAddress,
    pub(super) len: u32,
    /// Most grains have none.
    pub(super) status: Option<Box<Status>>,
}

impl Entry {
    /// Describes a grain by its `created_at`, its address, its length in bytes as it travels (of a
    /// signed grain with its signature), and its status.
    pub fn new(created_at: Time, address: ContentAddress, len: u32, status: &Status) -> Self {
        let status = (*status != Status::default()).then(|| Box::new(*status));
        Self {
            created_at,
            address,
            len,
            status,
        }
    }

    /// Describes a grain that is at hand.
    pub fn of(grain: &Grain, status: &Status) -> Self {
        // A grain that cannot be delivered is refused when it is written; one longer than this,
        // when it is planned.
        let len = delivery_len(grain).unwrap_or_default();
        let len = u32::try_from(len).unwrap_or(u32::MAX);
        Self::new(grain.created_at(), grain.address(), len, status)
    }

    /// Returns the description with another status.
    #[must_use]
    pub fn with_status(self, status: &Status) -> Self {
        Self::new(self.created_at, self.address, self.len, status)
    }

    /// Returns when the grain was created.
    pub const fn created_at(&self) -> Time {
        self.created_at
    }

    /// Returns its address.
    pub const fn address(&self) -> ContentAddress {
        self.address
    }

    /// Returns its status.
    pub fn status(&self) -> Status {
        self.status.as_deref().copied().unwrap_or_default()
    }

    pub(super) fn is_in_manifest(&self) -> bool {
        self.status.as_deref().is_some_and(manifest::carries)
    }
}

/// Grains in the order of a file (ruling M8: by time, and those of the same time as they are given),
/// divided into as many files as they need.
///
/// The same grains with the same status make the same bytes, if those of the same time are given in
/// the same order: that order is what a conversation says.
///
/// ```
/// use grainstore::interchange::WriteOptions;
/// use grainstore::interchange::mg::Plan;
///
/// let plan = Plan::new(Vec::new(), &WriteOptions::default())?;
/// assert_eq!(plan.volumes().len(), 1); // an empty file is a file
/// # Ok::<(), grainstore::interchange::Error>(())
/// ```
#[derive(Debug)]
pub struct Plan {
    entries: Vec<Entry>,
    /// Where in the entries each volume ends.
    ends: Vec<usize>,
    compression: Compression,
}

impl Plan {
    /// Sorts grains, drops duplicates and divides the rest.
    ///
    /// # Errors
    /// `ERR_MG_LIMIT` for a grain that is longer than a file may be.
    pub fn new(mut entries: Vec<Entry>, options: &WriteOptions) -> Result<Self, Error> {
        if !entries.is_sorted_by_key(|entry| entry.created_at) {
            entries.sort_by_key(|entry| entry.created_at);
        }
        drop_duplicates(&mut entries);
        let ends = divide(&entries, options)?;
        Ok(Self {
            entries,
            ends,
            compression: options.compression,
        })
    }

    /// Returns the files to be written, in order; there is at least one.
    pub fn volumes(&self) -> impl ExactSizeIterator<Item = Volume<'_>> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let ranges = self.ends.iter().zip(starts.collect::<Vec<_>>());
        ranges.map(|(end, start)| {
            let entries = self.entries.get(start..*end).unwrap_or_default();
            Volume::new(entries, self.compression)
        })
    }
}

/// Writes grains to one file; `fetch` returns each grain when its turn comes.
///
/// # Errors
/// `ERR_MG_LIMIT` when they need more than one file ([`Plan`] makes more); otherwise as
/// [`Volume::write`].
pub fn write<E: From<Error>>(
    out: &mut impl Write,
    entries: Vec<Entry>,
    options: &WriteOptions,
    fetch: impl FnMut(ContentAddress) -> Result<Grain, E>,
) -> Result<Summary, E> {
    let plan = Plan::new(entries, options)?;
    let mut volumes = plan.volumes();
    match (volumes.next(), volumes.len()) {
        (Some(volume), 0) => volume.write(out, fetch),
        (_, more) => {
            let message = format!("the grains need {} files", more.saturating_add(1));
            Err(fault(ErrorCode::MgLimit, Place::File, message).into())
        }
    }
}

/// Returns the name of a volume: `out.mg`, `out.001.mg`, `out.002.mg` and so on.
///
/// ```
/// use std::path::Path;
///
/// use grainstore::interchange::mg::volume_path;
///
/// assert_eq!(volume_path(Path::new("a/out.mg"), 0), Path::new("a/out.mg"));
/// assert_eq!(volume_path(Path::new("a/out.mg"), 12), Path::new("a/out.012.mg"));
/// ```
pub fn volume_path(first: &Path, volume: usize) -> PathBuf {
    if volume == 0 {
        return first.to_owned();
    }
    let mut name = first.file_stem().unwrap_or_default().to_owned();
    name.push(format!(".{volume:03}"));
    if let Some(extension) = first.extension() {
        name.push(".");
        name.push(extension);
    }
    first.with_file_name(name)
}

/// Drops grains that came before; those of another time have another address.
fn drop_duplicates(entries: &mut Vec<Entry>) {
    let mut last = None;
    let mut seen = HashSet::new();
    entries.retain(|entry| {
        if last != Some(entry.created_at) {
            last = Some(entry.created_at);
            seen.clear();
        }
        seen.insert(entry.address)
    });
}

/// Fills one volume after the other. A manifest counts with the most it can need, so that a file
/// is never longer than allowed.
fn divide(entries: &[Entry], options: &WriteOptions) -> Result<Vec<usize>, Error> {
    // Offsets have 32 bits (ruling M10).
    let offset_max = u64::from(u32::MAX);
    let file_max = options
        .volume_len_max
        .map_or(offset_max, |len| len.min(offset_max));
    let region_max = match options.compression {
        Compression::None => u64::MAX,
        Compression::Zstd | Compression::Lz4 => REGION_LEN_MAX,
    };
    let mut ends = Vec::new();
    let (mut file, mut region) = (EMPTY_LEN, 0_u64);
    for (at, entry) in entries.iter().enumerate() {
        let blob = u64::from(entry.len);
        let in_manifest = if entry.is_in_manifest() {
            WRITTEN_LEN_MAX
        } else {
            0
        };
        let needs = blob.saturating_add(4).saturating_add(in_manifest);
        let (grown, region_grown) = (file.saturating_add(needs), region.saturating_add(blob));
        if grown <= file_max && region_grown <= region_max {
            (file, region) = (grown, region_grown);
            continue;
        }
        (file, region) = (EMPTY_LEN.saturating_add(needs), blob);
        if file > file_max || region > region_max {
            let message = format!("a grain of {blob} bytes does not fit a file of {file_max}");
            return Err(fault(
                ErrorCode::MgLimit,
                Place::Grain(len_u64(at)),
                message,
            ));
        }
        ends.push(at);
    }
    ends.push(entries.len());
    Ok(ends)
}

/// A file of no grains and a manifest of no entries.
const EMPTY_LEN: u64 = FileHeader::LEN + FOOTER_LEN + 5;
