//! Salvage: the entries of a damaged ledger that still prove themselves, whatever lies between them.
//!
//! A frame whose check holds proves the headers of its entries. In the bytes of a damaged one an entry
//! proves its body by the commitment in its header, and nothing but sequence, time, actor and kind is
//! then left to be judged. An erased one has nothing to prove: blank bytes are one where an entry must
//! begin. Unlike recovery it needs no sound segment header, and writes nothing.

use std::borrow::Cow;
use std::ops::Range;

use super::unreadable::Unreadable;
use crate::ledger::log::published_end::PublishedEnd;
use crate::ledger::segment::entry::{Fault, OVERHEAD, RawEntry};
use crate::ledger::segment::frame::{self, Frame};
use crate::ledger::segment::read_ahead::{ReadAhead, SEQUENTIAL};
use crate::ledger::segment::replacement;
use crate::ledger::segment::room::is_room;
use crate::ledger::segment::segment_file::{self, HEADER_LEN, HeaderFault, SegmentHeader};
use crate::ledger::{Binding, Disk, EntryHeader, EntryId, Error, OpenMode, StoreId};

use super::torn_tail;

/// A finding of a salvage; they come in the order of the ledger.
#[derive(Debug)]
pub(crate) enum Found<'a> {
    Entry(FoundEntry<'a>),
    Lost(LostBytes),
}

/// An entry whose header can be read.
#[derive(Debug)]
pub(crate) struct FoundEntry<'a> {
    pub(crate) place: Place,
    /// The sequence is the proven one, whatever a damaged header says.
    pub(crate) header: EntryHeader,
    pub(crate) binding: Binding,
    /// The body; `None` if it is not the one that the header commits to.
    pub(crate) body: Option<Cow<'a, [u8]>>,
    /// Whether salt and body are all zero, as an erasure leaves them.
    pub(crate) is_blank: bool,
    pub(crate) begins_frame: bool,
    pub(crate) proof: Proof,
}

/// The bytes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// The file, relative to the store.
    pub(crate) file: String,
    pub(crate) bytes: Range<u64>,
}

/// The proof of the header of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Proof {
    /// The check of its frame.
    Frame,
    /// Its place: it begins where something proven ends, or ends where something proven begins. Its
    /// kind, time and actor are what it states.
    Place,
    /// Nothing: it lies between damaged bytes, in which a body may imitate entries.
    Nothing,
}

/// Bytes that prove nothing, and the entries that they may have held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LostBytes {
    pub(crate) place: Place,
    pub(crate) entries: Range<u64>,
    pub(crate) reason: &'static str,
}

/// Passes all that a ledger still proves to `visit`: each entry once, in the order of sequences, and
/// the bytes between them. Returns the number of entries that the ledger had, as far as is known.
///
/// Without the store id no frame can be proven, and entries are found one by one.
///
/// # Errors
/// `ERR_STORE_VERSION` for a segment or an entry of a newer version; `ERR_STORAGE_IO`; as `visit`.
pub(crate) fn salvage<E: From<Error>>(
    disk: &dyn Disk,
    store_id: Option<&StoreId>,
    visit: &mut dyn FnMut(Found<'_>) -> Result<(), E>,
) -> Result<u64, E> {
    let mut salvage = Salvage {
        store_id,
        next: 0,
        missing: 0,
        pending: Vec::new(),
        visit,
    };
    if let Err(error) = replacement::complete(disk) {
        tracing::warn!(%error, "an interrupted copy into the ledger is not completed");
    }
    let mut expected = 1;
    for number in segment_file::numbers(disk)? {
        for number in expected..number {
            salvage.lose(&segment_file::name_of(number), 0..0, MISSING);
            salvage.missing = salvage.missing.saturating_add(u64::from(u32::MAX));
        }
        salvage.file(disk, &segment_file::name_of(number), Some(number))?;
        expected = number.saturating_add(1);
    }
    // A tail that was set aside as torn may be whole, and is then the end of the ledger.
    for name in torn_tail::names(disk)? {
        salvage.file(disk, &name, None)?;
    }
    let published = store_id.and_then(|id| PublishedEnd::for_reading(disk, *id).ok()?);
    let published = published.and_then(|published| published.read().ok()?);
    let end = published.map_or(0, |end| end.entries).max(salvage.next);
    salvage.settle(end)?;
    Ok(end)
}

struct Salvage<'a, E> {
    store_id: Option<&'a StoreId>,
    /// The entry that comes next.
    next: u64,
    /// The bytes since the last entry that may have held others: they limit how far sequences may
    /// leap, so that an imitated one does not make room for a number of entries that never were.
    missing: u64,
    /// The bytes that prove nothing since the last entry.
    pending: Vec<(Place, &'static str)>,
    visit: &'a mut dyn FnMut(Found<'_>) -> Result<(), E>,
}

/// Where a pass over a file is.
struct At {
    offset: u64,
    /// Where the bytes begin that prove nothing.
    from: u64,
    /// Whether something proven ends at `offset`, so that a frame or an entry must begin there.
    is_anchored: bool,
    /// The bytes that may still be hashed in vain: look-alikes nested in a hostile body would make
    /// the search quadratic.
    effort: u64,
}

impl<E: From<Error>> Salvage<'_, E> {
    /// Goes through a segment, or through a file that was set aside.
    fn file(&mut self, disk: &dyn Disk, name: &str, number: Option<u32>) -> Result<(), E> {
        let failed = |source| Error::io("read", name, source);
        let file = segment_file::open(disk, name, OpenMode::Read).map_err(failed)?;
        let end = file.len_bytes().map_err(failed)?;
        let file = Unreadable::new(file);
        let Some(number) = number else {
            let before = self.next;
            self.frames(name, &file, 0..end, false)?;
            if self.next == before {
                // Nothing but what a crash left, or what later entries replaced.
                self.pending.retain(|(place, _)| place.file != name);
            }
            return Ok(());
        };
        let begin = (HEADER_LEN as u64).min(end);
        if let Some(store_id) = self.store_id {
            match SegmentHeader::read(&file, end, store_id).map_err(failed)? {
                Ok(header) if header.first > self.next => self.settle(header.first)?,
                Ok(_) => {}
                Err(HeaderFault::Version(version)) => {
                    let segment = number;
                    return Err(Error::Version { segment, version }.into());
                }
                Err(HeaderFault::Broken(reason)) => {
                    self.lose(name, 0..begin, reason);
                    // Where it should begin is not known, nor how much of the one before is missing.
                    self.missing = self.missing.saturating_add(u64::from(u32::MAX));
                }
            }
        }
        self.frames(name, &file, begin..end, true)
    }

    /// Goes through the frames of a file. Each begins where something proven ends, if the first does.
    fn frames(
        &mut self,
        name: &str,
        file: &Unreadable,
        bytes: Range<u64>,
        is_anchored: bool,
    ) -> Result<(), E> {
        let failed = |source| Error::io("read", name, source);
        let (begin, end) = (bytes.start, bytes.end);
        let mut reader = ReadAhead::new(file, end, SEQUENTIAL);
        let mut at = At {
            offset: begin,
            from: begin,
            is_anchored,
            effort: end.saturating_mul(4),
        };
        // Entries that were found between damaged bytes, until it is known what they end at.
        let mut run: Vec<FoundEntry<'static>> = Vec::new();
        while at.offset < end {
            if self.whole(&mut reader, name, &mut at, &mut run)? {
                continue;
            }
            let skipped = match at.is_anchored {
                true => &[0, frame::HEADER_LEN as u64][..],
                false => &[0],
            };
            let next = self.behind(&run);
            let mut found = None;
            for skip in skipped {
                let offset = at.offset.saturating_add(*skip);
                let last = match at.is_anchored {
                    true => None,
                    false => Some(next.saturating_add(self.room(&at))),
                };
                let mut loose = Loose {
                    reader: &mut reader,
                    next,
                    last,
                    effort: &mut at.effort,
                };
                found = loose.entry(name, offset).map_err(failed)?;
                if found.is_some() {
                    break;
                }
            }
            let Some(mut entry) = found else {
                if at.is_anchored {
                    self.end_run(&mut run, Proof::Nothing)?;
                }
                at.is_anchored = false;
                at.offset += 1;
                continue;
            };
            let bytes = entry.place.bytes.clone();
            let is_found = !at.is_anchored;
            entry.begins_frame = bytes.start != at.offset || is_found;
            // Without the store id no frame header proves anything: to name each says nothing.
            let is_header = self.store_id.is_none() && !is_found;
            if at.from < bytes.start && !is_header {
                let is_frame = bytes.start - at.from == frame::HEADER_LEN as u64 && !is_found;
                let reason = if is_frame { UNPROVEN_FRAME } else { UNPROVEN };
                self.lose(name, at.from..bytes.start, reason);
            }
            (at.offset, at.from, at.is_anchored) = (bytes.end, bytes.end, true);
            if is_found || !run.is_empty() {
                run.push(entry);
            } else {
                self.show(entry)?;
            }
        }
        // A file ends where its last entry does: no body reaches there.
        let proof = match at.is_anchored {
            true => Proof::Place,
            false => Proof::Nothing,
        };
        self.end_run(&mut run, proof)?;
        if at.from < end {
            self.lose(name, at.from..end, UNPROVEN);
        }
        Ok(())
    }

    /// Shows the entries of the frame at `at`, if there is a whole one, and goes behind it, as behind room
    /// where the file ends with that.
    fn whole(
        &mut self,
        reader: &mut ReadAhead<'_>,
        name: &str,
        at: &mut At,
        run: &mut Vec<FoundEntry<'static>>,
    ) -> Result<bool, E> {
        let failed = |source| Error::io("read", name, source);
        if at.is_anchored && is_room(reader, at.offset).map_err(failed)? {
            (at.offset, at.from) = (reader.end(), reader.end());
            return Ok(true);
        }
        let Some(store_id) = self.store_id else {
            return Ok(false);
        };
        let header = reader.get(at.offset, frame::HEADER_LEN).map_err(failed)?;
        let len = header.map_or(0, |header| frame::claimed(header).1);
        if len == 0 || (!at.is_anchored && len > at.effort) {
            return Ok(false);
        }
        let found = Frame::at(reader, at.offset, store_id).map_err(failed)?;
        let next = self.behind(run);
        let last = next.saturating_add(self.room(at));
        let Some(frame) = found.ok().filter(|it| (next..=last).contains(&it.first)) else {
            at.effort = at.effort.saturating_sub(len);
            return Ok(false);
        };
        let is_joined = at.is_anchored && frame.first == next;
        self.end_run(
            run,
            if is_joined {
                Proof::Place
            } else {
                Proof::Nothing
            },
        )?;
        if at.from < at.offset {
            self.lose(name, at.from..at.offset, UNPROVEN);
        }
        for (place, raw) in frame.entries() {
            let offset = at.offset.saturating_add(place);
            let header = EntryHeader::decode(raw.header).map_err(|fault| match fault {
                Fault::NewerKind { kind, sequence } => Error::UnknownKind { sequence, kind },
                Fault::Broken(reason) => torn_tail::damage(0, offset, frame.first, reason),
                Fault::Body { .. } => torn_tail::damage(0, offset, frame.first, UNPROVEN),
            })?;
            let body = raw.open().ok().map(|entry| entry.body);
            self.show(FoundEntry {
                place: Place {
                    file: name.to_owned(),
                    bytes: offset..offset.saturating_add(raw.len() as u64),
                },
                binding: raw.binding(&header),
                header,
                body,
                is_blank: raw.is_zero(),
                begins_frame: place == frame::HEADER_LEN as u64,
                proof: Proof::Frame,
            })?;
        }
        at.offset = at.offset.saturating_add(frame.len);
        (at.from, at.is_anchored) = (at.offset, true);
        Ok(true)
    }

    /// Returns the sequence of the entry behind a run.
    fn behind(&self, run: &[FoundEntry<'_>]) -> u64 {
        run.last()
            .map_or(self.next, |last| last.header.sequence.next().get())
    }

    /// Returns how many entries may be missing before one that begins here.
    const fn room(&self, at: &At) -> u64 {
        let bytes = at.offset.saturating_sub(at.from);
        self.missing.saturating_add(bytes) / ENTRY_MIN
    }

    fn end_run(&mut self, run: &mut Vec<FoundEntry<'static>>, proof: Proof) -> Result<(), E> {
        for mut entry in run.drain(..) {
            entry.proof = proof;
            self.show(entry)?;
        }
        Ok(())
    }

    /// Notes bytes that prove nothing.
    fn lose(&mut self, file: &str, bytes: Range<u64>, reason: &'static str) {
        self.missing = self.missing.saturating_add(bytes.end - bytes.start);
        let file = file.to_owned();
        self.pending.push((Place { file, bytes }, reason));
    }

    fn show(&mut self, entry: FoundEntry<'_>) -> Result<(), E> {
        self.settle(entry.header.sequence.get())?;
        self.next = entry.header.sequence.next().get();
        (self.visit)(Found::Entry(entry))
    }

    /// Shows the bytes that prove nothing before the entry `until`.
    fn settle(&mut self, until: u64) -> Result<(), E> {
        let mut entries = self.next..until.max(self.next);
        (self.next, self.missing) = (entries.end, 0);
        if self.pending.is_empty() && !entries.is_empty() {
            let file = segment_file::FOLDER.to_owned();
            self.pending
                .push((Place { file, bytes: 0..0 }, MISSING_ENTRIES));
        }
        let pending = std::mem::take(&mut self.pending);
        let len = |(place, _): &(Place, _)| place.bytes.end - place.bytes.start;
        // Which of several parts held them is not known: most likely the longest.
        let longest = pending.iter().map(len).max();
        for part in pending {
            let is_longest = longest == Some(len(&part));
            let (place, reason) = part;
            let lost = LostBytes {
                place,
                entries: if is_longest {
                    entries.clone()
                } else {
                    entries.end..entries.end
                },
                reason,
            };
            if is_longest {
                entries.start = entries.end;
            }
            (self.visit)(Found::Lost(lost))?;
        }
        Ok(())
    }
}

/// A search for one entry whose frame is damaged.
struct Loose<'r, 'f> {
    reader: &'r mut ReadAhead<'f>,
    next: u64,
    /// The highest sequence that it may state; `None` at a place where it must be the next.
    last: Option<u64>,
    effort: &'r mut u64,
}

impl Loose<'_, '_> {
    /// Returns the entry at `offset`, if its body is the one that its header commits to, or is blank
    /// where an entry must begin.
    fn entry(&mut self, name: &str, offset: u64) -> std::io::Result<Option<FoundEntry<'static>>> {
        let Some(bytes) = self.reader.get(offset, OVERHEAD)? else {
            return Ok(None);
        };
        let Some(header) = bytes.first_chunk::<{ EntryHeader::LEN }>() else {
            return Ok(None);
        };
        let Ok(mut header) = EntryHeader::decode(header) else {
            return Ok(None);
        };
        let stated = header.sequence.get();
        match self.last {
            None => header.sequence = EntryId::new(self.next),
            Some(last) if (self.next..=last).contains(&stated) => {}
            Some(_) => return Ok(None),
        }
        let len = u64::from(header.body_len).saturating_add(OVERHEAD as u64);
        if self.last.is_some() && len > *self.effort {
            return Ok(None);
        }
        let wanted = usize::try_from(len).unwrap_or(usize::MAX);
        let Some(mut bytes) = self.reader.get(offset, wanted)? else {
            return Ok(None);
        };
        let Some(raw) = RawEntry::take(&mut bytes) else {
            return Ok(None);
        };
        let body = match raw.open() {
            Ok(entry) => Some(entry.body.into_owned().into()),
            Err(_) if self.last.is_none() && raw.is_zero() => None,
            Err(_) => {
                if self.last.is_some() {
                    *self.effort = self.effort.saturating_sub(len);
                }
                return Ok(None);
            }
        };
        Ok(Some(FoundEntry {
            place: Place {
                file: name.to_owned(),
                bytes: offset..offset.saturating_add(len),
            },
            binding: raw.binding(&header),
            header,
            is_blank: body.is_none(),
            body,
            begins_frame: false,
            proof: Proof::Place,
        }))
    }
}

/// The least that an entry takes.
const ENTRY_MIN: u64 = OVERHEAD as u64;

const UNPROVEN: &str = "no frame or entry proves these bytes";
const UNPROVEN_FRAME: &str =
    "the check of the frame here does not hold; its entries prove themselves";
const MISSING: &str = "the segment is missing";
const MISSING_ENTRIES: &str = "the entries are in no segment";
