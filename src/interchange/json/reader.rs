//! JSON text read value by value from a file, by the scanner alone.

use std::io::{self, BufRead, Read as _, Seek, SeekFrom};

use crate::codec::{Map, Value};

use super::scan::ValueEnd;
use super::strict::{self, Flaw};

/// A JSON text, read from front to back.
pub(super) struct JsonReader<R> {
    input: R,
    /// Where the next byte stands.
    at: u64,
}

/// Why a JSON text cannot be read.
#[derive(Debug)]
pub(crate) enum JsonError {
    Flaw(Flaw, String),
    Io(io::Error),
}

impl From<io::Error> for JsonError {
    fn from(source: io::Error) -> Self {
        Self::Io(source)
    }
}

impl From<(Flaw, String)> for JsonError {
    fn from((flaw, message): (Flaw, String)) -> Self {
        Self::Flaw(flaw, message)
    }
}

/// Reads the array of that number, at whose bracket the reader stands; returns whether to go on.
pub(super) type OnArray<'a, R> =
    &'a mut dyn FnMut(&mut JsonReader<R>, usize) -> Result<bool, JsonError>;

impl<R: BufRead + Seek> JsonReader<R> {
    pub(super) fn new(mut input: R) -> io::Result<Self> {
        input.rewind()?;
        Ok(Self { input, at: 0 })
    }

    pub(super) const fn at(&self) -> u64 {
        self.at
    }

    /// Returns the input, at its beginning.
    pub(super) fn rewound(&mut self) -> io::Result<&mut R> {
        self.seek(0)?;
        Ok(&mut self.input)
    }

    /// Reads a document. `on_array` reads each array that is a member of one of the names in
    /// `arrays`, or the document itself for an empty name; these arrays are empty in what is
    /// returned. `None` if `on_array` ended the reading. A name `outer/inner` is of a member of the member
    /// `outer`, whose members are returned under such names.
    pub(super) fn outline(
        &mut self,
        arrays: &[&str],
        on_array: OnArray<'_, R>,
    ) -> Result<Option<Value>, JsonError> {
        self.refuse_bom()?;
        let first = self.next_byte()?;
        let root = arrays.iter().position(|name| name.is_empty());
        let value = match (first, root) {
            (Some(b'{'), _) => {
                let mut members = Vec::new();
                let is_whole = self.members("", arrays, &mut members, on_array)?;
                is_whole.then(|| map_of(members)).transpose()?
            }
            (Some(b'['), Some(root)) => on_array(self, root)?.then(|| Value::Array(Vec::new())),
            _ => Some(self.value(DEPTH_MAX)?),
        };
        if value.is_some() && self.next_byte()?.is_some() {
            return Err(self.syntax("trailing characters"));
        }
        Ok(value)
    }

    /// Reads the members of an object, whose names get a prefix; returns whether `on_array` never ended it.
    fn members(
        &mut self,
        prefix: &str,
        arrays: &[&str],
        members: &mut Vec<(String, Value)>,
        on_array: OnArray<'_, R>,
    ) -> Result<bool, JsonError> {
        self.consume(1);
        let mut is_first = true;
        loop {
            match self.next_byte()? {
                Some(b'}') if is_first => break,
                Some(b'"') => {}
                _ => return Err(self.syntax("expected a name")),
            }
            is_first = false;
            let Value::Text(name) = self.value(DEPTH_MAX)? else {
                return Err(self.syntax("expected a name"));
            };
            if self.next_byte()? != Some(b':') {
                return Err(self.syntax("expected a colon"));
            }
            self.consume(1);
            let inner = format!("{name}/");
            let is_outer = prefix.is_empty() && arrays.iter().any(|it| it.starts_with(&inner));
            let name = format!("{prefix}{name}");
            let array = arrays.iter().position(|array| **array == *name);
            let value = match (array.filter(|_| !name.is_empty()), self.next_byte()?) {
                (Some(array), Some(b'[')) => {
                    if !on_array(self, array)? {
                        return Ok(false);
                    }
                    Value::Array(Vec::new())
                }
                (_, Some(b'{')) if is_outer => {
                    if !self.members(&inner, arrays, members, on_array)? {
                        return Ok(false);
                    }
                    Value::Nil
                }
                _ => self.value(DEPTH_MAX.saturating_sub(1))?,
            };
            members.push((name, value));
            match self.next_byte()? {
                Some(b',') => self.consume(1),
                Some(b'}') => break,
                _ => return Err(self.syntax("expected a comma or the end of the object")),
            }
        }
        self.consume(1);
        Ok(true)
    }

    /// Begins an array; returns whether it is empty.
    pub(super) fn open_array(&mut self) -> Result<bool, JsonError> {
        self.consume(1);
        Ok(self.next_byte()? == Some(b']'))
    }

    /// Copies the text of the next element of an array; returns where it begins, and whether it is
    /// the last one.
    pub(super) fn element(&mut self, raw: &mut Vec<u8>) -> Result<(u64, bool), JsonError> {
        self.next_byte()?;
        let start = self.at;
        self.raw(raw, DEPTH_MAX.saturating_sub(2))?;
        match self.next_byte()? {
            Some(b',') => {
                self.consume(1);
                Ok((start, false))
            }
            Some(b']') => Ok((start, true)),
            _ => Err(self.syntax("expected a comma or the end of the array")),
        }
    }

    /// Passes over an array by its brackets and quotes alone.
    pub(super) fn skip_array(&mut self) -> Result<bool, JsonError> {
        let mut is_last = self.open_array()?;
        let mut raw = Vec::new();
        while !is_last {
            raw.clear();
            (_, is_last) = self.element(&mut raw)?;
        }
        self.consume(1);
        Ok(true)
    }

    /// Reads a line without its end; returns whether there was one.
    pub(super) fn line(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        let limit = len_u64(VALUE_LEN_MAX);
        let mut len = (&mut self.input).take(limit).read_until(b'\n', line)?;
        if len == VALUE_LEN_MAX && !line.ends_with(b"\n") {
            // A line past the limit is no record: the parser is given text that it refuses.
            line.clear();
            line.extend_from_slice(b"longer than 16 MiB");
            len = len.saturating_add(self.input.skip_until(b'\n')?);
        }
        if line.ends_with(b"\n") {
            line.pop();
        }
        self.at = self.at.saturating_add(len_u64(len));
        Ok(len > 0)
    }

    /// Reads and parses one value.
    fn value(&mut self, depth_left: u32) -> Result<Value, JsonError> {
        let mut raw = Vec::new();
        self.raw(&mut raw, depth_left)?;
        Ok(strict::parse(&raw)?)
    }

    /// Copies the text of one value; what is wrong inside it, a parser finds.
    pub(super) fn raw(&mut self, raw: &mut Vec<u8>, depth_left: u32) -> Result<(), JsonError> {
        let mut end = ValueEnd::default();
        loop {
            let chunk = self.input.fill_buf()?;
            let past = end.find(chunk);
            let len = past.unwrap_or(chunk.len());
            raw.extend_from_slice(chunk.get(..len).unwrap_or_default());
            let is_last = past.is_some() || len == 0;
            self.consume(len);
            if end.deepest() > depth_left {
                return Err(self.syntax("recursion limit exceeded"));
            }
            if raw.len() > VALUE_LEN_MAX {
                return Err(self.syntax("a value is longer than 16 MiB"));
            }
            if is_last {
                return Ok(());
            }
        }
    }

    /// Copies the text of a record whose place is known, and passes over the comma after it.
    pub(super) fn record(&mut self, raw: &mut Vec<u8>) -> Result<(), JsonError> {
        self.raw(raw, DEPTH_MAX)?;
        if self.next_byte()? == Some(b',') {
            self.consume(1);
            self.next_byte()?;
        }
        Ok(())
    }

    /// Passes over white space; returns the byte after it.
    fn next_byte(&mut self) -> io::Result<Option<u8>> {
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

    fn refuse_bom(&mut self) -> Result<(), JsonError> {
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

    fn syntax(&self, what: &str) -> JsonError {
        JsonError::Flaw(Flaw::Syntax, format!("{what} at byte {}", self.at))
    }
}

fn map_of(members: Vec<(String, Value)>) -> Result<Value, JsonError> {
    let duplicate = |name| JsonError::Flaw(Flaw::Duplicate, format!("duplicate member \"{name}\""));
    Map::from_pairs(members).map(Value::Map).map_err(duplicate)
}

fn len_u64(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}

/// How deep a document may nest; the parser has the same limit for each record.
pub(super) const DEPTH_MAX: u32 = 127;
/// Many times what any grain may hold (OMS 18: 1 MiB), and a bound on memory: the text, its value
/// and what is made of it are in memory together.
pub(in crate::interchange) const VALUE_LEN_MAX: usize = 16 * 1024 * 1024;
