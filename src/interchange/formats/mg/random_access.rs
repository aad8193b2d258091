//! One grain of an archive by its number (OMS 11.4), without the others.

use std::cell::RefCell;
use std::io::{self, Read, Seek, SeekFrom};

use crate::code::ErrorCode;
use crate::codec::Compression;
use crate::grain::Grain;
use crate::interchange::{Error, Place};

use super::archive::{
    Archive, ReadOptions, at, body_error, check_front, check_room, last_grain_len,
};
use super::header::FileHeader;
use super::section::Section;
use super::{DELIVERY_LEN_MAX, FOOTER_LEN, fault, len_u64, record_of, too_long};

/// Reads the grain with a number, counted from 0; `None` past the last.
///
/// Of an uncompressed file the header, the grain's offsets and its bytes are read and nothing else: not
/// the checksum of the file, so that the other grains may be damaged. A compressed file is checked and
/// decompressed as a whole, as OMS 11.4 asks.
///
/// ```
/// use std::io::Cursor;
///
/// use grainstore::grain::{Draft, Status, Time};
/// use grainstore::interchange::{Error, WriteOptions, mg};
///
/// let grain = Draft::event("hello").created_at(Time::from_ms(1)).finish(Default::default())?;
/// let entry = mg::Entry::of(&grain, &Status::default());
/// let mut file = Vec::new();
/// mg::write(&mut file, vec![entry], &WriteOptions::default(), |_| Ok::<_, Error>(grain.clone()))?;
///
/// assert_eq!(mg::grain_at(Cursor::new(&file), 0)?, Some(grain));
/// assert_eq!(mg::grain_at(Cursor::new(&file), 1)?, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Those of the grain, and of what is read of the file: `ERR_MG_MAGIC`, `ERR_MG_TRUNCATED`,
/// `ERR_MG_FLAGS`, `ERR_MG_RESERVED`, `ERR_MG_CODEC`, `ERR_MG_INDEX`; of a compressed file also
/// `ERR_MG_CHECKSUM`, `ERR_MG_LIMIT`, `ERR_MG_MANIFEST`, `ERR_MG_TRAILING`; `ERR_IO`.
pub fn grain_at<R: Read + Seek>(mut source: R, number: u32) -> Result<Option<Grain>, Error> {
    let len = source.seek(SeekFrom::End(0)).map_err(at(0))?;
    let source = RefCell::new(source);
    check_front(&source, len)?;
    let front = Section::new(&source, 0, FileHeader::LEN).array();
    let header = FileHeader::read(front.map_err(at(0))?)?;
    check_room(header, len)?;
    if number >= header.count {
        return Ok(None);
    }
    let place = Place::Grain(u64::from(number));
    let (start, next) = offsets(&source, header, number)?;
    let body = match header.compression {
        Compression::None => {
            let footer_start = len.saturating_sub(FOOTER_LEN);
            let end = match next {
                Some(next) => next,
                // Nothing but the grain itself says where it ends (ruling M2).
                None if header.has_manifest => {
                    let rest = Section::new(&source, start, footer_start);
                    start.saturating_add(last_grain_len(rest, header)?)
                }
                None => footer_start,
            };
            let is_inside = header.region_start() <= start && end <= footer_start;
            let len = end.checked_sub(start).filter(|_| is_inside);
            let len = len.ok_or_else(|| fault(ErrorCode::MgIndex, place.clone(), OUTSIDE))?;
            read_delivery(Section::new(&source, start, end), len, &place)?
        }
        Compression::Zstd | Compression::Lz4 => {
            let archive = Archive::open(source.into_inner(), ReadOptions::default())?;
            let region = archive.region;
            let failed = |source| body_error(region.start, source);
            let mut body = archive.body()?;
            io::copy(&mut (&mut body).take(start), &mut io::sink()).map_err(failed)?;
            let len = next.unwrap_or(region.len).saturating_sub(start);
            read_delivery(body.take(len), len, &place)?
        }
    };
    Ok(Some(record_of(&body, place)?.grain))
}

/// Returns where a grain begins and where the next one does, in the file or in the decompressed region.
fn offsets<R: Read + Seek>(
    source: &RefCell<R>,
    header: FileHeader,
    number: u32,
) -> Result<(u64, Option<u64>), Error> {
    let from = FileHeader::LEN.saturating_add(u64::from(number).saturating_mul(4));
    let end = from.saturating_add(8).min(header.region_start());
    let mut index = Section::new(source, from, end);
    let mut next = || {
        index
            .array()
            .map(|offset| u64::from(u32::from_be_bytes(offset)))
    };
    let start = next().map_err(at(from))?;
    let next = match end.saturating_sub(from) {
        8 => Some(next().map_err(at(from))?),
        _ => None,
    };
    Ok((start, next))
}

/// Reads the bytes of one grain.
fn read_delivery(mut from: impl Read, len: u64, place: &Place) -> Result<Vec<u8>, Error> {
    if len > len_u64(DELIVERY_LEN_MAX) {
        return Err(too_long(place.clone(), len));
    }
    let mut bytes = Vec::new();
    let read = from.read_to_end(&mut bytes);
    read.map_err(|source| body_error(0, source))?;
    Ok(bytes)
}

const OUTSIDE: &str = "the offsets are not those of a grain of the file";
