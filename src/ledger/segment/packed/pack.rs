//! Writing a segment as a packed one.

use std::io;
use std::ops::Range;

use super::block::BlockWriter;
use super::table::Table;
use crate::codec::{BodyWriter, dictionary_of};
use crate::ledger::segment::entry::{OVERHEAD, RawEntry};
use crate::ledger::segment::frame::{self, Frame};
use crate::ledger::segment::read_ahead::{ReadAhead, SEQUENTIAL};
use crate::ledger::segment::segment_header::{HEADER_LEN, SegmentHeader};
use crate::ledger::{DiskFile, EntryId, Kind, StoreId};

/// How a segment is to be packed.
pub(in crate::ledger) struct Packing<'a> {
    segment: &'a dyn DiskFile,
    header: SegmentHeader,
    store_id: &'a StoreId,
    /// Entries that an erasure lists.
    is_listed: &'a dyn Fn(EntryId) -> bool,
    table: Table,
    compresses: bool,
    /// The length that the file will have, about.
    expected: u64,
}

/// The findings of a first pass over a segment.
#[derive(Default)]
struct Survey {
    starts: Vec<u32>,
    /// Entries of the last block.
    in_block: usize,
    frames: u64,
    kept: u64,
    kept_bytes: u64,
    left_out: u64,
    /// Bodies of plain grains here and there, with their places in the segment.
    seen: Vec<(u32, Vec<u8>)>,
    /// The entry from which on the next of them is taken.
    next: u64,
}

impl<'a> Packing<'a> {
    /// Surveys the first `len` bytes of a segment with about so many entries; `None` if a frame in it
    /// does not hold. The bodies are to be as they are unless `compresses`.
    pub(in crate::ledger) fn survey(
        segment: &'a dyn DiskFile,
        (len, entries): (u64, u64),
        compresses: bool,
        store_id: &'a StoreId,
        is_listed: &'a dyn Fn(EntryId) -> bool,
    ) -> io::Result<Option<Self>> {
        let Ok(header) = SegmentHeader::read(segment, len, store_id)? else {
            return Ok(None);
        };
        let step = (entries / SEEN_MAX).max(1);
        let mut survey = Survey::default();
        let mut first = header.first;
        let walked = walk(segment, len, store_id, &mut |at, part| {
            match part {
                Part::FrameHeader(_) => {
                    survey.begins_block(at);
                    survey.frames += 1;
                }
                Part::Entry(raw) => {
                    let nth = first.saturating_sub(header.first);
                    survey.add(at, raw, is_blank(raw, EntryId::new(first), is_listed));
                    if compresses && nth >= survey.next && survey.sample(nth, raw) {
                        survey.next = nth.saturating_add(step);
                    }
                    first = first.saturating_add(1);
                }
            }
            Ok(Some(()))
        })?;
        if walked.is_none() || u32::try_from(len).is_err() {
            return Ok(None);
        }
        let mut bytes = [0; HEADER_LEN];
        segment.read_at(&mut bytes, 0)?;
        let (samples, dictionary, saved) = survey.dictionary()?;
        let table = Table {
            header: bytes,
            len,
            left_out: survey.left_out,
            blocks_len: 0,
            blocks: survey.starts.iter().map(|start| (*start, 0)).collect(),
            samples,
            dictionary,
        };
        Ok(Some(Self {
            expected: HEADER_LEN as u64
                + 2 * table.bytes()
                + survey.frames * SHORT_FRAME
                + (survey.kept + table.blocks.len() as u64) * SHORT_ENTRY
                + saved.of(survey.kept_bytes),
            segment,
            header,
            compresses,
            store_id,
            is_listed,
            table,
        }))
    }

    /// Returns the length that the file will have, about, in bytes.
    pub(in crate::ledger) const fn expected(&self) -> u64 {
        self.expected
    }

    /// Writes the packed segment to a new file and syncs it; returns whether it did. It does not if the
    /// segment has changed since the survey.
    pub(in crate::ledger) fn write(mut self, file: &dyn DiskFile) -> io::Result<bool> {
        let packed = self.header.packed(self.store_id);
        let mut out = Out {
            file,
            at: self.table.blocks_at(),
            block: BlockWriter::new(self.header.first),
        };
        let begin = out.at;
        let mut bodies = match self.compresses {
            true => BodyWriter::new(&self.table.dictionary)?,
            false => BodyWriter::default(),
        };
        let mut stored = Vec::new();
        let mut id = EntryId::new(self.header.first);
        let mut places = self.table.blocks.iter_mut().peekable();
        let walked = walk(
            self.segment,
            self.table.len,
            self.store_id,
            &mut |at, part| {
                if let Some((_, place)) = places.next_if(|(start, _)| u64::from(*start) == at) {
                    let Ok(behind) = u32::try_from(out.end() - begin) else {
                        return Ok(None);
                    };
                    *place = behind;
                    out.flush(FLUSH_BYTES)?;
                    out.block.begin();
                }
                match part {
                    Part::FrameHeader(header) => Ok(out.block.frame_header(header)),
                    Part::Entry(raw) => {
                        let is_blank = is_blank(raw, id, self.is_listed);
                        id = id.next();
                        if is_blank {
                            return Ok(out.block.entry(raw, None));
                        }
                        bodies.write(raw.body, &mut stored)?;
                        Ok(out.block.entry(raw, Some(&stored)))
                    }
                }
            },
        )?;
        let is_left = places.next().is_some();
        let Ok(blocks_len) = u32::try_from(out.end() - begin) else {
            return Ok(false);
        };
        self.table.blocks_len = blocks_len;
        if walked.is_none() || is_left || !self.table.is_sound() {
            return Ok(false);
        }
        out.flush(0)?;
        let bytes = self.table.to_bytes(&packed);
        file.write_at(&packed, 0)?;
        file.write_at(&bytes, HEADER_LEN as u64)?;
        file.write_at(&bytes, out.at)?;
        let len = bytes.first_chunk::<4>().copied().unwrap_or_default();
        file.write_at(&len, out.at + bytes.len() as u64)?;
        file.sync()?;
        Ok(true)
    }
}

impl Survey {
    fn begins_block(&mut self, at: u64) {
        let len = self
            .starts
            .last()
            .map(|start| at.saturating_sub(u64::from(*start)));
        let is_full = self.in_block >= BLOCK_ENTRIES || len.is_some_and(|len| len >= BLOCK_BYTES);
        if len.is_none() || is_full {
            // A segment past 4 GiB is refused once the survey is complete.
            self.starts.push(u32::try_from(at).unwrap_or(u32::MAX));
            self.in_block = 0;
        }
    }

    fn add(&mut self, at: u64, raw: &RawEntry<'_>, is_blank: bool) {
        self.begins_block(at);
        self.in_block += 1;
        match is_blank {
            true => self.left_out += (raw.len() - OVERHEAD + raw.salt.len()) as u64,
            false => {
                self.kept += 1;
                self.kept_bytes += raw.body.len() as u64;
            }
        }
    }

    /// Keeps the body of a plain grain of a usual length; returns whether it did.
    fn sample(&mut self, nth: u64, raw: &RawEntry<'_>) -> bool {
        let is_grain = raw.header.get(28) == Some(&Kind::Grain.to_byte());
        let Ok(nth) = u32::try_from(nth) else {
            return false;
        };
        // A blank body says nothing, and very short and very long ones are not like the others.
        if !is_grain || raw.is_zero() || !SAMPLE_BYTES.contains(&raw.body.len()) {
            return false;
        }
        self.seen.push((nth, raw.body.to_vec()));
        true
    }

    /// Makes a dictionary of half of the grains that were seen, and returns them, the dictionary, and
    /// what it makes of the other half.
    fn dictionary(&mut self) -> io::Result<(Vec<u32>, Vec<u8>, Saved)> {
        let seen = std::mem::take(&mut self.seen);
        let (made_of, others): (Vec<_>, Vec<_>) = seen
            .into_iter()
            .enumerate()
            .partition(|(nth, _)| nth % 2 == 0);
        let bodies: Vec<_> = made_of.iter().map(|(_, (_, body))| body).collect();
        let mut samples: Vec<_> = made_of.iter().map(|(_, (nth, _))| *nth).collect();
        let len: usize = bodies.iter().map(|body| body.len()).sum();
        // Twice in the file, it must not take more than it saves of a small segment.
        let share = usize::try_from(self.kept_bytes / DICTIONARY_SHARE).unwrap_or(usize::MAX);
        let len = (len / 2).min(share).min(DICTIONARY_MAX);
        let dictionary = dictionary_of(&bodies, len);
        if dictionary.is_empty() {
            samples.clear();
        }
        let mut writer = BodyWriter::new(&dictionary)?;
        let (mut saved, mut stored) = (Saved::default(), Vec::new());
        for (_, (_, body)) in &others {
            writer.write(body, &mut stored)?;
            saved.before += body.len() as u64;
            saved.after += stored.len() as u64;
        }
        Ok((samples, dictionary, saved))
    }
}

/// The length of some bodies before and after their compression.
#[derive(Default)]
struct Saved {
    before: u64,
    after: u64,
}

impl Saved {
    /// Returns the length that as much as this would have.
    fn of(&self, len: u64) -> u64 {
        // Invariant: a segment has less than 2^32 bytes, and the grains that were seen less than 2^23.
        let after = len.saturating_mul(self.after);
        after.checked_div(self.before).unwrap_or(len)
    }
}

/// A part of a segment.
enum Part<'a> {
    FrameHeader(&'a [u8; frame::HEADER_LEN]),
    Entry(&'a RawEntry<'a>),
}

/// Calls `each` with the parts of a segment and where they begin; `None` if it returns that, or if a
/// frame does not hold.
fn walk(
    segment: &dyn DiskFile,
    end: u64,
    store_id: &StoreId,
    each: &mut dyn FnMut(u64, Part<'_>) -> io::Result<Option<()>>,
) -> io::Result<Option<()>> {
    let mut reader = ReadAhead::new(segment, end, SEQUENTIAL);
    let mut offset = HEADER_LEN as u64;
    while offset < end {
        let header = reader.get(offset, frame::HEADER_LEN)?;
        let Some(header) = header.and_then(|bytes| bytes.first_chunk()).copied() else {
            return Ok(None);
        };
        let Ok(frame) = Frame::at(&mut reader, offset, store_id)? else {
            return Ok(None);
        };
        if each(offset, Part::FrameHeader(&header))?.is_none() {
            return Ok(None);
        }
        for (place, raw) in frame.entries() {
            if each(offset + place, Part::Entry(&raw))?.is_none() {
                return Ok(None);
            }
        }
        offset += frame.len;
    }
    Ok(Some(()))
}

/// Invariant: what has no room reads as zeros, so only zeros are left out.
fn is_blank(raw: &RawEntry<'_>, id: EntryId, is_listed: &dyn Fn(EntryId) -> bool) -> bool {
    raw.is_zero() && is_listed(id)
}

/// The file that is written: a few blocks at a time.
struct Out<'a> {
    file: &'a dyn DiskFile,
    /// Where the bytes that wait are to be written.
    at: u64,
    block: BlockWriter,
}

impl Out<'_> {
    fn end(&self) -> u64 {
        self.at + self.block.bytes.len() as u64
    }

    /// Writes the bytes that wait, if there are more than so many.
    fn flush(&mut self, more_than: usize) -> io::Result<()> {
        if self.block.bytes.len() > more_than {
            self.file.write_at(&self.block.bytes, self.at)?;
            self.at = self.end();
            self.block.bytes.clear();
        }
        Ok(())
    }
}

/// A get reads one block: about as many bytes as a page of the disk.
const BLOCK_ENTRIES: usize = 16;
const BLOCK_BYTES: u64 = 8 << 10;
/// The grains that are looked at before a segment is packed: every second for its dictionary.
const SEEN_MAX: u64 = 1_024;
/// The length of their bodies.
const SAMPLE_BYTES: Range<usize> = 16..16 << 10;
const DICTIONARY_MAX: usize = 64 << 10;
const DICTIONARY_SHARE: u64 = 128;
/// The length of an entry and of a frame header in short form, about.
const SHORT_ENTRY: u64 = 54;
const SHORT_FRAME: u64 = 15;
const FLUSH_BYTES: usize = 1 << 20;
