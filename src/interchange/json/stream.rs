//! A document that is gone through once, from its beginning to its end.

use std::io::{BufRead, Seek};

use rayon::prelude::*;

use crate::codec::{Map, Value};
use crate::interchange::io::source_file::SourceFile;
use crate::interchange::json::strict::{self, Flaw};

use super::records::{Batch, DEPTH_MAX, JsonError, JsonRecords};

/// Where an element stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::interchange) struct Position {
    /// The array that it is in.
    pub(in crate::interchange) array: usize,
    /// Its number there.
    pub(in crate::interchange) number: u64,
    /// The byte at which it begins.
    pub(in crate::interchange) start: u64,
}

/// Makes something of every element of one array of a file, several at a time, and takes it in the
/// order of the file, as long as `take` wants more.
///
/// # Errors
/// As [`JsonRecords::stream`].
pub(in crate::interchange) fn stream_array<T: Send>(
    part: &SourceFile,
    arrays: &'static [&'static str],
    array: usize,
    make: impl Fn(Value, Position) -> T + Sync,
    take: impl FnMut(T) -> bool,
) -> Result<(), JsonError> {
    part.read(BUFFER_LEN, |input| {
        JsonRecords::stream(input, arrays, |it| it == array, make, take)
    })??;
    Ok(())
}

impl<R: BufRead + Seek> JsonRecords<R> {
    /// Goes through an object whose arrays of these names are long, or through an array, whose name
    /// is empty. Makes something of every element of those arrays that are `wanted`, several at a
    /// time, and takes it in the order of the file, as long as `take` wants more. Returns the rest of
    /// the document, with those arrays empty; none if `take` ended it.
    ///
    /// # Errors
    /// What is wrong with the JSON as far as it was read, beside elements that nobody wanted.
    pub(in crate::interchange) fn stream<T: Send>(
        input: R,
        arrays: &'static [&'static str],
        wanted: impl Fn(usize) -> bool,
        make: impl Fn(Value, Position) -> T + Sync,
        mut take: impl FnMut(T) -> bool,
    ) -> Result<Option<Value>, JsonError> {
        let mut records = Self::new(input, arrays, false)?;
        let (value, is_whole) = records.outline(&mut |records, array| {
            if wanted(array) {
                records.stream_array(array, &make, &mut take)
            } else {
                records.pass_over_array()
            }
        })?;
        Ok(is_whole.then_some(value))
    }

    /// Reads a document; `long` is shown every array of the names that are long, at its bracket,
    /// reads it, and says whether to go on. Returns whether it did.
    pub(super) fn outline(
        &mut self,
        long: &mut dyn FnMut(&mut Self, usize) -> Result<bool, JsonError>,
    ) -> Result<(Value, bool), JsonError> {
        self.refuse_bom()?;
        let first = self.next_byte()?;
        let root = self.arrays.iter().position(|name| name.is_empty());
        let value = match (first, root) {
            (Some(b'{'), _) => match self.members(long)? {
                Some(map) => Value::Map(map),
                None => return Ok((Value::Nil, false)),
            },
            (Some(b'['), Some(root)) => {
                if !long(self, root)? {
                    return Ok((Value::Nil, false));
                }
                Value::Array(Vec::new())
            }
            _ => self.value(DEPTH_MAX)?,
        };
        self.end()?;
        Ok((value, true))
    }

    fn members(
        &mut self,
        long: &mut dyn FnMut(&mut Self, usize) -> Result<bool, JsonError>,
    ) -> Result<Option<Map>, JsonError> {
        self.consume(1);
        let mut members = Vec::new();
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
            let array = self.arrays.iter().position(|array| **array == *name);
            let value = match (array.filter(|_| !name.is_empty()), self.next_byte()?) {
                (Some(array), Some(b'[')) => {
                    if !long(self, array)? {
                        return Ok(None);
                    }
                    Value::Array(Vec::new())
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
        let twice = |name| JsonError::Flaw(Flaw::Duplicate, format!("duplicate member \"{name}\""));
        Map::from_pairs(members).map(Some).map_err(twice)
    }

    fn stream_array<T: Send>(
        &mut self,
        array: usize,
        make: &(impl Fn(Value, Position) -> T + Sync),
        take: &mut impl FnMut(T) -> bool,
    ) -> Result<bool, JsonError> {
        self.consume(1);
        let name = *self.arrays.get(array).unwrap_or(&"");
        let mut number = 0_u64;
        let mut is_last = self.next_byte()? == Some(b']');
        while !is_last {
            let (mut batch, mut starts) = (Batch::default(), Vec::new());
            while !is_last && !batch.is_full() {
                self.next_byte()?;
                starts.push(self.at);
                let mut raw = Vec::new();
                self.raw(&mut raw, DEPTH_MAX.saturating_sub(2))?;
                batch.push(raw, number);
                number = number.saturating_add(1);
                is_last = self.is_past_last()?;
            }
            let made = batch
                .raw
                .par_iter()
                .zip(&starts)
                .map(|((raw, number), start)| {
                    let value = strict::parse(raw).map_err(|(flaw, message)| {
                        let at = if name.is_empty() { "" } else { "/" };
                        JsonError::Flaw(flaw, format!("{at}{name}/{number}: {message}"))
                    })?;
                    let position = Position {
                        array,
                        number: *number,
                        start: *start,
                    };
                    Ok(make(value, position))
                });
            let made: Vec<Result<T, JsonError>> = made.collect();
            for one in made {
                if !take(one?) {
                    return Ok(false);
                }
            }
        }
        self.consume(1);
        Ok(true)
    }

    /// Passes over an array by its brackets and quotes alone.
    fn pass_over_array(&mut self) -> Result<bool, JsonError> {
        self.consume(1);
        let mut is_last = self.next_byte()? == Some(b']');
        let mut raw = Vec::new();
        while !is_last {
            self.next_byte()?;
            raw.clear();
            self.raw(&mut raw, DEPTH_MAX.saturating_sub(2))?;
            is_last = self.is_past_last()?;
        }
        self.consume(1);
        Ok(true)
    }

    /// Passes over what stands behind an element; returns whether that was the last one.
    fn is_past_last(&mut self) -> Result<bool, JsonError> {
        match self.next_byte()? {
            Some(b',') => {
                self.consume(1);
                Ok(false)
            }
            Some(b']') => Ok(true),
            _ => Err(self.syntax("expected a comma or the end of the array")),
        }
    }
}

/// How much of a file that is gone through is read at once.
pub(in crate::interchange) const BUFFER_LEN: usize = 256 * 1024;
