//! A file taken apart record by record, so that no more than a batch of it is in memory.

use std::io::{self, BufRead, Read as _, Seek, SeekFrom};
use std::sync::mpsc;
use std::thread;

use rayon::prelude::*;

use crate::codec::Value;

use crate::interchange::{Error, Place};

use super::scan::Scan;
use super::strict::{self, Flaw};

/// The records of a file whose places are known: each is read again whenever it is asked for.
pub(in crate::interchange) struct JsonRecords<R> {
    input: R,
    /// Where the next byte stands.
    pub(super) at: u64,
    is_lines: bool,
    pub(super) arrays: &'static [&'static str],
    pub(super) runs: Vec<Run>,
}

/// Records of one array that stand next to each other.
pub(super) struct Run {
    array: usize,
    /// Where the first begins.
    start: u64,
    /// Its line, or its number in the array.
    first: u64,
    len: u64,
}

/// Why a file cannot be taken apart.
#[derive(Debug)]
pub(in crate::interchange) enum JsonError {
    Flaw(Flaw, String),
    Io(io::Error),
}

impl From<io::Error> for JsonError {
    fn from(source: io::Error) -> Self {
        Self::Io(source)
    }
}

/// Records as they stand in the file, each with its line or its number.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) raw: Vec<(Vec<u8>, u64)>,
    len: usize,
}

impl Batch {
    pub(super) fn push(&mut self, raw: Vec<u8>, number: u64) {
        self.len = self.len.saturating_add(raw.len());
        self.raw.push((raw, number));
    }

    pub(super) const fn is_full(&self) -> bool {
        self.raw.len() >= BATCH_LEN || self.len >= BATCH_LEN_BYTES
    }
}

impl<R: BufRead + Seek> JsonRecords<R> {
    /// Takes an object apart whose arrays of these names are long; they are empty in what is
    /// returned. `look` is shown what `parse` makes of every record, with the array it is in and its
    /// number there.
    ///
    /// # Errors
    /// What is wrong with the JSON, anywhere in the file.
    pub(in crate::interchange) fn document<T: Send>(
        input: R,
        arrays: &'static [&'static str],
        parse: impl Fn(&[u8]) -> Result<T, (Flaw, String)> + Sync,
        mut look: impl FnMut(usize, u64, T),
    ) -> Result<(Value, Self), JsonError> {
        let mut records = Self::new(input, arrays, false)?;
        let (value, _) = records.outline(&mut |records, array| {
            records.array(array, &parse, &mut look)?;
            Ok(true)
        })?;
        Ok((value, records))
    }

    /// Takes lines apart. `look` is shown what `parse` makes of every line but the first, and whether
    /// it is blank, and says which array it belongs to; the first is returned.
    ///
    /// # Errors
    /// `ERR_IO`; what is wrong with a line is for `look`.
    pub(in crate::interchange) fn lines<T: Send>(
        input: R,
        arrays: &'static [&'static str],
        parse: impl Fn(&[u8]) -> T + Sync,
        mut look: impl FnMut(u64, bool, T) -> Option<usize>,
    ) -> io::Result<(Vec<u8>, Self)> {
        let mut records = Self::new(input, arrays, true)?;
        let mut first = Vec::new();
        records.line(&mut first)?;
        let mut number = 1_u64;
        let mut starts = Vec::new();
        let mut is_last = false;
        while !is_last {
            let mut batch = Batch::default();
            starts.clear();
            while !batch.is_full() {
                let mut line = Vec::new();
                let start = records.at;
                if !records.line(&mut line)? {
                    is_last = true;
                    break;
                }
                number = number.saturating_add(1);
                starts.push(start);
                batch.push(line, number);
            }
            let read = |(line, number): &(Vec<u8>, u64)| {
                let is_blank = line.iter().all(u8::is_ascii_whitespace);
                (*number, is_blank, parse(line))
            };
            let parsed: Vec<_> = batch.raw.par_iter().map(read).collect();
            for ((number, is_blank, value), start) in parsed.into_iter().zip(&starts) {
                if let Some(array) = look(number, is_blank, value) {
                    records.note(array, *start, number);
                }
            }
        }
        Ok((first, records))
    }

    /// Returns whether records are lines.
    pub(in crate::interchange) const fn is_lines(&self) -> bool {
        self.is_lines
    }

    /// Returns the input, at its beginning.
    ///
    /// # Errors
    /// `ERR_IO`.
    pub(in crate::interchange) fn input(&mut self) -> io::Result<&mut R> {
        self.seek(0)?;
        Ok(&mut self.input)
    }

    pub(super) fn new(
        mut input: R,
        arrays: &'static [&'static str],
        is_lines: bool,
    ) -> io::Result<Self> {
        input.rewind()?;
        Ok(Self {
            input,
            at: 0,
            is_lines,
            arrays,
            runs: Vec::new(),
        })
    }

    /// Reads the next records and makes something of each, on every processor there is. Of each comes
    /// its number, and where it begins if that is not behind the one before.
    pub(super) fn batch<T: Send>(
        &mut self,
        array: usize,
        records: &mut impl Iterator<Item = (Option<u64>, u64)>,
        make: &(impl Fn(Value, Place) -> T + Sync),
    ) -> Result<Vec<T>, JsonError> {
        let (is_lines, name) = (self.is_lines, self.arrays.get(array).unwrap_or(&""));
        let mut batch = Batch::default();
        while !batch.is_full() {
            let Some((start, number)) = records.next() else {
                break;
            };
            if let Some(start) = start {
                self.seek(start)?;
            }
            let mut raw = Vec::new();
            if is_lines {
                self.line(&mut raw)?;
            } else {
                self.raw(&mut raw, DEPTH_MAX)?;
                if self.next_byte()? == Some(b',') {
                    self.consume(1);
                    self.next_byte()?;
                }
            }
            batch.push(raw, number);
        }
        let made = batch.raw.par_iter().map(|(raw, number)| {
            let value = strict::parse(raw);
            let value = value.map_err(|(flaw, message)| JsonError::Flaw(flaw, message))?;
            let place = if is_lines {
                Place::Line(*number)
            } else {
                Place::Pointer(format!("/{name}/{number}"))
            };
            Ok(make(value, place))
        });
        made.collect()
    }

    /// Reads an array that stands here.
    pub(super) fn array<T: Send>(
        &mut self,
        array: usize,
        parse: &(impl Fn(&[u8]) -> Result<T, (Flaw, String)> + Sync),
        look: &mut impl FnMut(usize, u64, T),
    ) -> Result<(), JsonError> {
        let mut number = 0_u64;
        self.consume(1);
        let mut is_last = self.next_byte()? == Some(b']');
        while !is_last {
            let mut batch = Batch::default();
            while !is_last && !batch.is_full() {
                self.next_byte()?;
                self.note(array, self.at, number);
                let mut raw = Vec::new();
                self.raw(&mut raw, DEPTH_MAX.saturating_sub(2))?;
                batch.push(raw, number);
                number = number.saturating_add(1);
                match self.next_byte()? {
                    Some(b',') => self.consume(1),
                    Some(b']') => is_last = true,
                    _ => return Err(self.syntax("expected a comma or the end of the array")),
                }
            }
            let name = self.arrays.get(array).unwrap_or(&"");
            let read = |(raw, number): &(Vec<u8>, u64)| {
                parse(raw).map_err(|(flaw, message)| {
                    JsonError::Flaw(flaw, format!("/{name}/{number}: {message}"))
                })
            };
            let parsed: Vec<Result<T, JsonError>> = batch.raw.par_iter().map(read).collect();
            for (value, (_, number)) in parsed.into_iter().zip(&batch.raw) {
                look(array, *number, value?);
            }
        }
        self.consume(1);
        Ok(())
    }

    /// Remembers where a record stands.
    pub(super) fn note(&mut self, array: usize, start: u64, number: u64) {
        match self.runs.last_mut() {
            Some(run) if run.array == array && run.first.checked_add(run.len) == Some(number) => {
                run.len = run.len.saturating_add(1);
            }
            _ => self.runs.push(Run {
                array,
                start,
                first: number,
                len: 1,
            }),
        }
    }

    /// Reads a line without its end; returns whether there was one.
    pub(super) fn line(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        let limit = u64::try_from(PIECE_LEN_MAX).unwrap_or(u64::MAX);
        let mut len = (&mut self.input).take(limit).read_until(b'\n', line)?;
        if len == PIECE_LEN_MAX && !line.ends_with(b"\n") {
            // Too long to be a record, so a parser is given what is none.
            line.clear();
            line.extend_from_slice(b"longer than 32 MiB");
            len = len.saturating_add(self.input.skip_until(b'\n')?);
        }
        if line.ends_with(b"\n") {
            line.pop();
        }
        self.at = self.at.saturating_add(len_u64(len));
        Ok(len > 0)
    }

    /// Reads one value; what is wrong inside it, a parser finds.
    pub(super) fn value(&mut self, depth_left: u32) -> Result<Value, JsonError> {
        let mut raw = Vec::new();
        self.raw(&mut raw, depth_left)?;
        strict::parse(&raw).map_err(|(flaw, message)| JsonError::Flaw(flaw, message))
    }

    /// Copies the text of one value, by its brackets and quotes alone.
    pub(super) fn raw(&mut self, raw: &mut Vec<u8>, depth_left: u32) -> Result<(), JsonError> {
        let mut scan = Scan::default();
        loop {
            let chunk = self.input.fill_buf()?;
            let end = chunk.iter().position(|byte| scan.is_past(*byte));
            let len = end.unwrap_or(chunk.len());
            raw.extend_from_slice(chunk.get(..len).unwrap_or_default());
            let is_last = end.is_some() || len == 0;
            self.consume(len);
            if scan.deepest > depth_left {
                return Err(self.syntax("recursion limit exceeded"));
            }
            if raw.len() > PIECE_LEN_MAX {
                return Err(self.syntax("a value is longer than 32 MiB"));
            }
            if is_last {
                return Ok(());
            }
        }
    }

    /// Passes over white space, and returns the byte after it.
    pub(super) fn next_byte(&mut self) -> io::Result<Option<u8>> {
        loop {
            let chunk = self.input.fill_buf()?;
            let is_space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
            let found = chunk.iter().position(|byte| !is_space(byte));
            let byte = found.and_then(|at| chunk.get(at).copied());
            let len = found.unwrap_or(chunk.len());
            self.consume(len);
            if byte.is_some() || len == 0 {
                return Ok(byte);
            }
        }
    }

    pub(super) fn end(&mut self) -> Result<(), JsonError> {
        match self.next_byte()? {
            None => Ok(()),
            Some(_) => Err(self.syntax("trailing characters")),
        }
    }

    pub(super) fn refuse_bom(&mut self) -> Result<(), JsonError> {
        if self.input.fill_buf()?.starts_with(b"\xef\xbb\xbf") {
            let message = "starts with a byte-order mark";
            return Err(JsonError::Flaw(Flaw::Bom, message.into()));
        }
        Ok(())
    }

    pub(super) fn consume(&mut self, len: usize) {
        self.input.consume(len);
        self.at = self.at.saturating_add(len_u64(len));
    }

    pub(super) fn seek(&mut self, at: u64) -> io::Result<()> {
        self.at = at;
        self.input.seek(SeekFrom::Start(at)).map(drop)
    }

    pub(super) fn syntax(&self, what: &str) -> JsonError {
        JsonError::Flaw(Flaw::Syntax, format!("{what} at byte {}", self.at))
    }
}

/// Records are made on other threads while those before them are taken.
impl<R: BufRead + Seek + Send> JsonRecords<R> {
    /// Makes something of every record of an array, several at a time, and takes it in the order of
    /// the file, as long as `take` wants more.
    ///
    /// # Errors
    /// `ERR_IO`, also if the file is not what it was.
    pub(in crate::interchange) fn each<T: Send>(
        &mut self,
        array: usize,
        make: impl Fn(Value, Place) -> T + Sync,
        mut take: impl FnMut(T) -> bool,
    ) -> Result<(), Error> {
        let runs = std::mem::take(&mut self.runs);
        let result = self.go_through(&runs, array, &make, &mut take);
        self.runs = runs;
        result.map_err(|broken| Error::Io {
            place: Place::File,
            source: match broken {
                JsonError::Io(source) => source,
                JsonError::Flaw(..) => io::Error::other("the file changed while it was read"),
            },
        })
    }

    /// Makes something of records while what was made of those before is taken.
    fn go_through<T: Send>(
        &mut self,
        runs: &[Run],
        array: usize,
        make: &(impl Fn(Value, Place) -> T + Sync),
        take: &mut impl FnMut(T) -> bool,
    ) -> Result<(), JsonError> {
        let runs = runs.iter().filter(|run| run.array == array);
        let records = runs.flat_map(|run| {
            let number = move |nth: u64| run.first.saturating_add(nth);
            (0..run.len).map(move |nth| ((nth == 0).then_some(run.start), number(nth)))
        });
        let mut records = records.peekable();
        if records.peek().is_none() {
            return Ok(());
        }
        thread::scope(|scope| {
            // One batch waits, so that memory holds three.
            let (sender, made) = mpsc::sync_channel(1);
            let read = move || {
                while records.peek().is_some() {
                    let batch = self.batch(array, &mut records, make);
                    let is_last = batch.is_err();
                    // Nobody waits for it where no more is wanted.
                    if sender.send(batch).is_err() || is_last {
                        return;
                    }
                }
            };
            thread::Builder::new().spawn_scoped(scope, read)?;
            for batch in made {
                for one in batch? {
                    if !take(one) {
                        return Ok(());
                    }
                }
            }
            Ok(())
        })
    }
}

fn len_u64(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}

/// How deep a document may nest; the parser has the same limit for each piece.
pub(super) const DEPTH_MAX: u32 = 127;
/// Many times what any grain may hold (OMS 18: 1 MiB), and a bound on memory.
const PIECE_LEN_MAX: usize = 32 * 1024 * 1024;
/// Enough records to keep every processor busy, few enough to keep memory flat.
pub(super) const BATCH_LEN: usize = 512;
pub(super) const BATCH_LEN_BYTES: usize = 1024 * 1024;
