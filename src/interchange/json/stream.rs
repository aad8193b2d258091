//! Documents read once, from front to back: the elements of their long arrays in batches.

use std::io::{self, BufRead, Seek};

use crate::codec::Value;
use crate::interchange::io::source_file::SourceFile;
use crate::process::map_in_parallel;

use super::reader::{JsonError, JsonReader};
use super::strict::{self, Flaw};

/// Where an element stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Position {
    /// The number of its array among the names that were asked for.
    pub(crate) array: usize,
    /// Its number in the array.
    pub(crate) number: u64,
    /// The byte at which it begins.
    pub(crate) start: u64,
}

/// Elements that are in memory together, as text.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) elements: Vec<(Vec<u8>, Position)>,
    len: usize,
    /// The buffers of elements before these, and the bytes that they have room for.
    spare: Vec<Vec<u8>>,
    spare_len: usize,
}

impl Batch {
    pub(super) fn push(&mut self, raw: Vec<u8>, position: Position) {
        self.len = self.len.saturating_add(raw.len());
        self.elements.push((raw, position));
    }

    /// Returns room for the next element: that of an earlier one, or as much as the last one took, since
    /// growing costs more than reading. An element alone gets none.
    pub(super) fn buffer(&mut self) -> Vec<u8> {
        if let Some(spare) = self.spare.pop() {
            self.spare_len = self.spare_len.saturating_sub(spare.capacity());
            return spare;
        }
        let last = self.elements.last().map_or(0, |(raw, _)| raw.len());
        Vec::with_capacity(last.saturating_add(last / 4).min(BUFFER_ROOM_MAX))
    }

    /// Begins another batch, in the room of this one as far as it is little.
    pub(super) fn clear(&mut self) {
        self.len = 0;
        for (mut raw, _) in self.elements.drain(..).rev() {
            let len = self.spare_len.saturating_add(raw.capacity());
            if len <= SPARE_LEN_MAX {
                raw.clear();
                self.spare_len = len;
                self.spare.push(raw);
            }
        }
    }

    pub(super) const fn is_full(&self) -> bool {
        self.elements.len() >= BATCH_LEN || self.len >= BATCH_LEN_BYTES
    }

    /// Applies `parse` to every element, on every processor, and returns the results in order.
    pub(super) fn map<T: Send>(&self, parse: impl Fn(&[u8], Position) -> T + Sync) -> Vec<T> {
        map_in_parallel(&self.elements, |(raw, at)| parse(raw, *at))
    }
}

/// Streams the elements of one array of a file: `make` is called on several threads, `take` in the
/// order of the file until it returns `false`.
pub(crate) fn stream_array<T: Send>(
    file: &SourceFile,
    arrays: &[&str],
    array: usize,
    make: impl Fn(Value, Position) -> T + Sync,
    take: impl FnMut(T) -> bool,
) -> Result<(), JsonError> {
    stream_file(file, arrays, |it| it == array, make, take).map(drop)
}

/// Streams the elements of a file.
pub(crate) fn stream_file<T: Send>(
    file: &SourceFile,
    arrays: &[&str],
    wanted: impl Fn(usize) -> bool,
    make: impl Fn(Value, Position) -> T + Sync,
    take: impl FnMut(T) -> bool,
) -> Result<Option<Value>, JsonError> {
    file.read(BUFFER_LEN, |input| {
        stream(input, arrays, wanted, make, take)
    })?
}

/// Streams the lines of a file with their numbers, from 1: `make` is called on several threads, `take`
/// in the order of the file until it returns `false`.
///
/// # Errors
/// Why the file cannot be read; what is wrong with a line is for `make`.
pub(crate) fn stream_lines<T: Send>(
    file: &SourceFile,
    make: impl Fn(&[u8], u64) -> T + Sync,
    mut take: impl FnMut(T) -> bool,
) -> io::Result<()> {
    file.read(BUFFER_LEN, |input| {
        let mut reader = JsonReader::new(input)?;
        let (mut number, mut is_last) = (0_u64, false);
        let mut batch = Batch::default();
        while !is_last {
            batch.clear();
            while !is_last && !batch.is_full() {
                let mut line = batch.buffer();
                let start = reader.at();
                is_last = !reader.line(&mut line)?;
                if !is_last {
                    number = number.saturating_add(1);
                    let position = Position {
                        array: 0,
                        number,
                        start,
                    };
                    batch.push(line, position);
                }
            }
            let made = batch.map(|line, position| make(line, position.number));
            if !made.into_iter().all(&mut take) {
                break;
            }
        }
        Ok(())
    })?
}

/// Streams the elements of the `wanted` arrays of an object, or of the document itself where its
/// name is empty. Returns the rest of the document, with those arrays empty; `None` if `take`
/// ended the reading.
///
/// # Errors
/// The first flaw of the JSON as far as it was read; elements that are not wanted are not parsed.
pub(super) fn stream<R: BufRead + Seek, T: Send>(
    input: R,
    arrays: &[&str],
    wanted: impl Fn(usize) -> bool,
    make: impl Fn(Value, Position) -> T + Sync,
    mut take: impl FnMut(T) -> bool,
) -> Result<Option<Value>, JsonError> {
    let parse = |raw: &[u8], at: Position| Ok(make(strict::parse(raw)?, at));
    JsonReader::new(input)?.outline(arrays, &mut |reader, array| {
        if !wanted(array) {
            return reader.skip_array();
        }
        let name = arrays.get(array).copied().unwrap_or_default();
        reader.array((array, name), &parse, &mut |_, one| take(one))
    })
}

impl<R: BufRead + Seek> JsonReader<R> {
    /// Reads an array in batches: `parse` is called on several threads, `take` in the order of the
    /// file until it returns `false`; returns whether it never did.
    pub(super) fn array<T: Send>(
        &mut self,
        (array, name): (usize, &str),
        parse: &(impl Fn(&[u8], Position) -> Result<T, (Flaw, String)> + Sync),
        take: &mut impl FnMut(Position, T) -> bool,
    ) -> Result<bool, JsonError> {
        let mut number = 0_u64;
        let mut is_last = self.open_array()?;
        let mut batch = Batch::default();
        while !is_last {
            batch.clear();
            while !is_last && !batch.is_full() {
                let mut raw = batch.buffer();
                let start;
                (start, is_last) = self.element(&mut raw)?;
                let position = Position {
                    array,
                    number,
                    start,
                };
                batch.push(raw, position);
                number = number.saturating_add(1);
            }
            for (parsed, (_, position)) in batch.map(parse).into_iter().zip(&batch.elements) {
                let one = parsed.map_err(|(flaw, message)| {
                    let at = if name.is_empty() { "" } else { "/" };
                    let number = position.number;
                    JsonError::Flaw(flaw, format!("{at}{name}/{number}: {message}"))
                })?;
                if !take(*position, one) {
                    return Ok(false);
                }
            }
        }
        self.consume(1);
        Ok(true)
    }
}

/// So that one long element does not reserve as much for all that follow.
const BUFFER_ROOM_MAX: usize = 4096;
/// The buffer of a file that is read from front to back.
pub(crate) const BUFFER_LEN: usize = 256 * 1024;
/// Enough elements to keep every processor busy, few enough to keep memory flat.
pub(super) const BATCH_LEN: usize = 512;
pub(super) const BATCH_LEN_BYTES: usize = 1024 * 1024;
/// The room that a batch leaves to the next: what a full one takes, and no long element.
const SPARE_LEN_MAX: usize = 2 * BATCH_LEN_BYTES;
