//! Input files and stdin: JSON lines read one at a time, and single documents.
//!
//! Lines are bounded in length, so a hostile file cannot exhaust the memory.

use grainstore::ErrorCode;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

use grainstore::codec::{Profile, Value};
use grainstore::interchange::{ReadOptions, jsonl};
use grainstore::policy::Capability;
use grainstore::store::{Clock, SystemClock};
use grainstore::{Draft, Grain};

use crate::error::CliError;

/// Lines of a file or of stdin, counted from 1; blank lines are skipped.
///
/// The library's reader of whole files reads one line ahead. A writer on a pipe waits for the
/// address of each line before it sends the next, so lines are read here without lookahead.
pub(crate) struct Lines {
    input: BufReader<Box<dyn Read>>,
    number: u64,
    is_at_end: bool,
}

/// One line and its number; `None` for the bytes of a line above the limit.
pub(crate) struct Line {
    pub(crate) number: u64,
    pub(crate) bytes: Option<Vec<u8>>,
}

impl Lines {
    /// Opens a file, or stdin for `-`.
    pub(crate) fn open(name: &str) -> Result<Self, CliError> {
        Ok(Self {
            input: BufReader::with_capacity(BUFFER_LEN, open(name)?),
            number: 0,
            is_at_end: false,
        })
    }

    /// Returns the next line.
    pub(crate) fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let Some(bytes) = self.read()? else {
                self.is_at_end = true;
                return Ok(None);
            };
            self.number += 1;
            let is_blank = |bytes: &Vec<u8>| bytes.iter().all(u8::is_ascii_whitespace);
            if !bytes.as_ref().is_some_and(is_blank) {
                let number = self.number;
                return Ok(Some(Line { number, bytes }));
            }
        }
    }

    /// Returns whether the end of the input was reached.
    pub(crate) const fn is_at_end(&self) -> bool {
        self.is_at_end
    }

    /// Returns whether another line is already buffered, so that reading it does not block.
    pub(crate) fn has_next(&self) -> bool {
        self.input.buffer().contains(&b'\n')
    }

    /// Reads a line; a line above the limit is consumed to its end without being kept.
    fn read(&mut self) -> io::Result<Option<Option<Vec<u8>>>> {
        let mut line = Some(Vec::new());
        let mut is_empty = true;
        loop {
            let chunk = match self.input.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if chunk.is_empty() {
                return Ok((!is_empty).then_some(line));
            }
            is_empty = false;
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let part = end.map_or(chunk, |end| &chunk[..end]);
            line = line.filter(|line| line.len() + part.len() <= LINE_LEN_MAX);
            if let Some(line) = &mut line {
                line.extend_from_slice(part);
            }
            let read = end.map_or(part.len(), |end| end + 1);
            self.input.consume(read);
            if end.is_some() {
                return Ok(Some(line));
            }
        }
    }
}

impl Line {
    /// Returns the grain of a line, from JSON or from its blob; `created_at` defaults to now.
    ///
    /// # Errors
    /// The codes of grains and of JSON lines, with the number of the line.
    pub(crate) fn grain(&self) -> Result<Grain, CliError> {
        let bytes = self.bytes()?;
        let options = ReadOptions {
            profile: Profile::Extended,
            default_created_at: Some(SystemClock.now()),
            ..ReadOptions::default()
        };
        let record = jsonl::Reader::new(bytes, &options).next();
        match record {
            Some(Ok(record)) => Ok(record.grain),
            Some(Err(error)) => Err(CliError::of(&error).at_line(self.number)),
            None => {
                Err(CliError::new(ErrorCode::Corrupt, "the line is empty").at_line(self.number))
            }
        }
    }

    /// Returns the grain of a line, with the author and the namespace of the capability where the line
    /// has none.
    ///
    /// # Errors
    /// As [`Line::grain`].
    pub(crate) fn grain_as(&self, capability: Option<&Capability>) -> Result<Grain, CliError> {
        let Some(capability) = capability else {
            return self.grain();
        };
        let failed =
            |error: &(dyn std::error::Error + 'static)| CliError::of(error).at_line(self.number);
        let value = Value::from_json(self.text()?).map_err(|error| failed(&error))?;
        if value.as_map().is_some_and(|map| map.contains("blob")) {
            return self.grain();
        }
        let draft = Draft::from_value(value).map_err(|error| failed(&error))?;
        let draft = capability.fill(draft).created_at_or(SystemClock.now());
        draft
            .finish(Profile::Extended)
            .map_err(|error| failed(&error))
    }

    /// Returns the text of the line.
    ///
    /// # Errors
    /// `JSONL_LONG_LINE`, `JSONL_UTF8`.
    pub(crate) fn text(&self) -> Result<&str, CliError> {
        std::str::from_utf8(self.bytes()?)
            .map_err(|error| CliError::new(ErrorCode::JsonlUtf8, error).at_line(self.number))
    }

    fn bytes(&self) -> Result<&[u8], CliError> {
        self.bytes.as_deref().ok_or_else(|| {
            let message = "the line is longer than 16 MiB";
            CliError::new(ErrorCode::JsonlLongLine, message).at_line(self.number)
        })
    }
}

/// Reads the one JSON document of a file, or of stdin for `-`.
pub(crate) fn read_document(name: &str) -> Result<String, CliError> {
    let failed = |error: io::Error| CliError::of(&error).at(display_name(name));
    let mut text = String::new();
    let limit = u64::try_from(LINE_LEN_MAX).unwrap_or(u64::MAX);
    let mut input = open(name)?.take(limit);
    input.read_to_string(&mut text).map_err(failed)?;
    Ok(text)
}

/// Returns the name of a file for messages.
pub(crate) fn display_name(name: &str) -> &str {
    if name == "-" { "stdin" } else { name }
}

pub(crate) fn open(name: &str) -> Result<Box<dyn Read>, CliError> {
    if name == "-" {
        return Ok(Box::new(io::stdin()));
    }
    let file = File::open(name).map_err(|error| CliError::of(&error).at(name))?;
    Ok(Box::new(file))
}

/// The limit of the library's reader: enough for any grain, and a bound on memory.
const LINE_LEN_MAX: usize = 16 << 20;

const BUFFER_LEN: usize = 64 << 10;
