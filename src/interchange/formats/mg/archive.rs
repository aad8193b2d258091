//! An archive opened for reading: the checks of its frame, before any grain is read.

use crate::code::ErrorCode;
use std::cell::RefCell;
use std::fmt;
use std::io::{BufRead, ErrorKind, Read, Seek, SeekFrom};

use sha2::{Digest, Sha256};

use crate::codec::{Compression, Decompressor};
use crate::crypto::{Sign1, is_wrapped};
use crate::grain::blob_prefix_len;

use super::header::{FileHeader, MAGIC};
use super::manifest::Manifest;
use super::section::Section;
use super::{DELIVERY_LEN_MAX, FOOTER_LEN, PROFILE, Records, fault, io_error, len_u64};
use crate::interchange::{Error, Place};

/// A file of grains, opened for reading: everything but the grains themselves has been checked.
///
/// ```
/// use std::io::Cursor;
///
/// use grainstore::grain::{Draft, Grain, Status, Time};
/// use grainstore::interchange::{Error, WriteOptions, mg};
///
/// let grain = Draft::event("hello").created_at(Time::from_ms(1)).finish(Default::default())?;
/// let entry = mg::Entry::of(&grain, &Status::default());
/// let mut file = Vec::new();
/// mg::write(&mut file, vec![entry], &WriteOptions::default(), |_| Ok::<_, Error>(grain.clone()))?;
///
/// let archive = mg::Archive::open(Cursor::new(file), mg::ReadOptions::default())?;
/// for record in archive.records()? {
///     assert_eq!(record?.grain, grain);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Archive<R> {
    pub(super) source: RefCell<R>,
    pub(super) header: FileHeader,
    pub(super) region: Region,
    pub(super) manifest: Manifest,
    pub(super) footer: [u8; 32],
    len: u64,
    warnings: Vec<String>,
}

/// Where the grains of a file are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Region {
    /// Where in the file they begin and end.
    pub(super) start: u64,
    pub(super) end: u64,
    /// How many bytes they are, decompressed.
    pub(super) len: u64,
}

/// The limits of reading.
#[derive(Debug, Clone, Copy)]
pub struct ReadOptions {
    /// The most bytes that a compressed region may decompress to.
    pub region_len_max: u64,
    /// Whether to allow compression beyond 100:1 (and 64 MiB), which only decompression bombs and
    /// very repetitive files reach.
    pub trust_ratio: bool,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            region_len_max: REGION_LEN_MAX,
            trust_ratio: false,
        }
    }
}

impl<R: Read + Seek> Archive<R> {
    /// Checks the frame of a file: magic, checksum, header, index, sizes and manifest.
    ///
    /// # Errors
    /// `ERR_MG_MAGIC`, `ERR_MG_TRUNCATED`, `ERR_MG_CHECKSUM` for anything damaged by accident; with
    /// a checksum that fits, `ERR_MG_FLAGS`, `ERR_MG_RESERVED`, `ERR_MG_CODEC`, `ERR_MG_INDEX`,
    /// `ERR_MG_LIMIT`, `ERR_MG_MANIFEST`, `ERR_MG_TRAILING`; `ERR_CORRUPT` when the last grain
    /// before a manifest does not say where it ends; `ERR_IO`.
    pub fn open(mut source: R, options: ReadOptions) -> Result<Self, Error> {
        let len = source.seek(SeekFrom::End(0)).map_err(at(0))?;
        let source = RefCell::new(source);
        check_front(&source, len)?;
        let footer = check_footer(&source, len.saturating_sub(FOOTER_LEN), len)?;
        let front = Section::new(&source, 0, FileHeader::LEN).array();
        let header = FileHeader::read(front.map_err(at(0))?)?;
        let footer_start = len.saturating_sub(FOOTER_LEN);
        let last = check_index(&source, header, len)?;
        let start = header.region_start();
        let region = match header.compression {
            Compression::None => plain_region(&source, header, last, footer_start)?,
            Compression::Zstd | Compression::Lz4 => {
                let packed = Section::new(&source, start, footer_start);
                packed_region(packed, header, last, options)?
            }
        };
        let mut rest = Section::new(&source, region.end, footer_start);
        let manifest = if header.has_manifest {
            Manifest::read(&mut rest)?
        } else if rest.left() > 0 {
            let place = Place::Byte(region.end);
            return Err(fault(
                ErrorCode::MgTrailing,
                place,
                "bytes after the grains",
            ));
        } else {
            Manifest::default()
        };
        let mut warnings = Vec::new();
        if header.field_map_version > FIELD_MAP_VERSION {
            // Ruling M6: the values are undefined.
            let version = header.field_map_version;
            warnings.push(format!("field map version {version} is not known"));
        }
        if manifest.unknown_fields > 0 {
            let count = manifest.unknown_fields;
            warnings.push(format!(
                "manifest: {count} fields are not known and were ignored"
            ));
        }
        for address in &manifest.cyclic {
            warnings.push(format!(
                "manifest: {address} is in a cycle of supersessions, and is taken as current"
            ));
        }
        Ok(Self {
            source,
            header,
            region,
            manifest,
            footer,
            len,
            warnings,
        })
    }

    /// Reads the grains in the order of the file.
    ///
    /// # Errors
    /// `ERR_IO`.
    pub fn records(&self) -> Result<Records<'_, R>, Error> {
        Records::new(self)
    }

    /// Opens the region of the grains.
    pub(super) fn body(&self) -> Result<Decompressor<Section<'_, R>>, Error> {
        let Region { start, end, len } = self.region;
        let section = Section::new(&self.source, start, end);
        let body = self.header.compression.decompressor(section, len);
        body.map_err(|source| body_error(start, source))
    }
}

impl<R> Archive<R> {
    /// Returns how many grains the file has.
    pub const fn grains(&self) -> u32 {
        self.header.count
    }

    /// Returns the length of the file in bytes.
    pub const fn len_bytes(&self) -> u64 {
        self.len
    }

    /// Returns how the grains are compressed.
    pub const fn compression(&self) -> Compression {
        self.header.compression
    }

    /// Returns how many grains the manifest gives a status.
    pub const fn manifest_entries(&self) -> usize {
        self.manifest.len()
    }

    /// Returns what is unusual about the file and no reason to refuse it.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

impl<R> fmt::Debug for Archive<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Archive")
            .field("header", &self.header)
            .field("region", &self.region)
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

/// Returns the error of the file for an error of reading its grains.
pub(super) fn body_error(byte: u64, source: std::io::Error) -> Error {
    let place = Place::Byte(byte);
    match source.kind() {
        ErrorKind::InvalidData => fault(ErrorCode::MgCodec, place, format!("compressed: {source}")),
        ErrorKind::FileTooLarge => fault(ErrorCode::MgLimit, place, source.to_string()),
        _ => io_error(place, source),
    }
}

/// Returns the error of the file for an error of reading at a byte.
pub(super) fn at(byte: u64) -> impl Fn(std::io::Error) -> Error {
    move |source| io_error(Place::Byte(byte), source)
}

/// Checks that a file begins as an archive and has room for one.
pub(super) fn check_front<R: Read + Seek>(source: &RefCell<R>, len: u64) -> Result<(), Error> {
    let mut front = Section::new(source, 0, len.min(len_u64(MAGIC.len())));
    let magic = front.ahead(MAGIC.len()).map_err(at(0))?;
    if !magic
        .iter()
        .zip(MAGIC)
        .all(|(found, wanted)| *found == wanted)
    {
        let message = "not an .mg file of version 1";
        return Err(fault(ErrorCode::MgMagic, Place::Byte(0), message));
    }
    if len < FileHeader::LEN.saturating_add(FOOTER_LEN) {
        let message = format!("the file is {len} bytes; the shortest is 48");
        return Err(fault(ErrorCode::MgTruncated, Place::Byte(len), message));
    }
    Ok(())
}

/// Compares the checksum before anything else, so that accidents have one clear error; returns it.
fn check_footer<R: Read + Seek>(
    source: &RefCell<R>,
    start: u64,
    len: u64,
) -> Result<[u8; 32], Error> {
    let mut hash = Sha256::new();
    let mut bytes = Section::new(source, 0, start);
    loop {
        let position = bytes.position();
        let chunk = bytes.ahead(1).map_err(at(position))?;
        if chunk.is_empty() {
            break;
        }
        hash.update(chunk);
        let taken = chunk.len();
        bytes.consume(taken);
    }
    let footer: [u8; 32] = Section::new(source, start, len)
        .array()
        .map_err(at(start))?;
    if <[u8; 32]>::from(hash.finalize()) != footer {
        let message = "the checksum does not fit: the file is damaged or cut short";
        return Err(fault(ErrorCode::MgChecksum, Place::Byte(start), message));
    }
    Ok(footer)
}

/// Checks that the index fits the file.
pub(super) fn check_room(header: FileHeader, len: u64) -> Result<(), Error> {
    let room = len.saturating_sub(FileHeader::LEN.saturating_add(FOOTER_LEN)) / 4;
    if u64::from(header.count) <= room {
        return Ok(());
    }
    let count = header.count;
    let message = format!("{count} grains are more than the file has room for");
    Err(fault(ErrorCode::MgIndex, Place::Byte(4), message))
}

/// Checks that offsets begin with the region and ascend; returns the last, counted from the
/// region's first byte.
fn check_index<R: Read + Seek>(
    source: &RefCell<R>,
    header: FileHeader,
    len: u64,
) -> Result<Option<u64>, Error> {
    check_room(header, len)?;
    let mut index = Section::new(source, FileHeader::LEN, header.region_start());
    let base = header.offset_base();
    let mut last: Option<u64> = None;
    for grain in 0..u64::from(header.count) {
        let position = index.position();
        let offset = u32::from_be_bytes(index.array().map_err(at(position))?);
        let relative = u64::from(offset).checked_sub(base);
        // No gap, no overlap, no two grains of the same bytes (which would multiply the work).
        let fits = match (last, relative) {
            (None, Some(relative)) => relative == 0,
            (Some(last), Some(relative)) => relative > last,
            (_, None) => false,
        };
        if !fits {
            let message = format!("offset {offset} does not follow the one before");
            return Err(fault(ErrorCode::MgIndex, Place::Grain(grain), message));
        }
        last = relative;
    }
    Ok(last)
}

fn plain_region<R: Read + Seek>(
    source: &RefCell<R>,
    header: FileHeader,
    last: Option<u64>,
    footer_start: u64,
) -> Result<Region, Error> {
    let start = header.region_start();
    let end = match last {
        None => start,
        Some(last) => {
            let last_start = start.saturating_add(last);
            check_last_offset(header, last_start, footer_start)?;
            if header.has_manifest {
                let section = Section::new(source, last_start, footer_start);
                last_start.saturating_add(last_grain_len(section, header)?)
            } else {
                footer_start
            }
        }
    };
    let len = end.saturating_sub(start);
    Ok(Region { start, end, len })
}

/// Decompresses the region once to learn where it ends and how long it is. Nothing is kept.
fn packed_region<R: Read + Seek>(
    packed: Section<'_, R>,
    header: FileHeader,
    last: Option<u64>,
    options: ReadOptions,
) -> Result<Region, Error> {
    let start = packed.position();
    // Three bounds: the configured one, the honest ratio, and what the index accounts for.
    let by_ratio = packed.left().saturating_mul(RATIO_MAX);
    let by_ratio = by_ratio.saturating_add(RATIO_FREE_LEN);
    let grain_len_max = len_u64(DELIVERY_LEN_MAX);
    let by_index = last.map_or(0, |last| last.saturating_add(grain_len_max));
    let ratio_max = if options.trust_ratio {
        u64::MAX
    } else {
        by_ratio
    };
    let len_max = options.region_len_max.min(ratio_max).min(by_index);

    let body = header.compression.decompressor(packed, len_max);
    let mut body = body.map_err(|source| body_error(start, source))?;
    let len = std::io::copy(&mut body, &mut std::io::sink())
        .map_err(|source| body_error(start, source))?;
    if let Some(last) = last {
        check_last_offset(header, last, len)?;
    }
    let end = body.into_input().position();
    Ok(Region { start, end, len })
}

fn check_last_offset(header: FileHeader, last: u64, end: u64) -> Result<(), Error> {
    if last < end {
        return Ok(());
    }
    let place = Place::Grain(u64::from(header.count).saturating_sub(1));
    let message = format!("offset {last} is past the end of the grains");
    Err(fault(ErrorCode::MgIndex, place, message))
}

/// Returns how long the last grain of an uncompressed file is when a manifest follows: nothing
/// but the grain itself says so (ruling M2).
pub(super) fn last_grain_len<R: Read + Seek>(
    mut section: Section<'_, R>,
    header: FileHeader,
) -> Result<u64, Error> {
    let place = Place::Grain(u64::from(header.count).saturating_sub(1));
    let blob = section
        .ahead(DELIVERY_LEN_MAX)
        .map_err(|source| io_error(place.clone(), source))?;
    if is_wrapped(blob) {
        let len = Sign1::prefix_len(blob);
        let len = len.map_err(|source| Error::of_delivery(place, source))?;
        return Ok(len_u64(len));
    }
    match blob_prefix_len(blob, PROFILE) {
        Ok(len) => Ok(len_u64(len)),
        Err(source) => Err(Error::Grain { place, source }),
    }
}

/// Ruling M6: what is written, and the highest version read without a warning.
pub(super) const FIELD_MAP_VERSION: u8 = 1;

/// The most that a compressed region holds, written or read.
pub(super) const REGION_LEN_MAX: u64 = 1024 * 1024 * 1024;
const RATIO_MAX: u64 = 100;
const RATIO_FREE_LEN: u64 = 64 * 1024 * 1024;
