//! The records of a document or of a stream of lines, read again whenever they are asked for.
//!
//! The first reading finds where the records stand; later ones seek to them, so that three batches
//! of records are in memory at a time.

use std::io::{self, BufRead, Seek};
use std::sync::mpsc;
use std::thread;

use crate::codec::Value;
use crate::interchange::io::record_sink::changed;
use crate::interchange::{Error, Place};

use super::reader::{JsonError, JsonReader};
use super::stream::{Batch, Position};
use super::strict::{self, Flaw};

/// The records of a file whose places are known.
pub(crate) struct JsonRecords<R> {
    reader: JsonReader<R>,
    is_lines: bool,
    arrays: &'static [&'static str],
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

impl<R: BufRead + Seek> JsonRecords<R> {
    /// Reads an object whose arrays of these names hold records; they are empty in what is
    /// returned. `look` is called with the position of every record and with what `parse` returns.
    ///
    /// # Errors
    /// The first flaw of the JSON, anywhere in the file.
    pub(crate) fn document<T: Send>(
        input: R,
        arrays: &'static [&'static str],
        parse: impl Fn(&[u8]) -> Result<T, (Flaw, String)> + Sync,
        mut look: impl FnMut(Position, T),
    ) -> Result<(Value, Self), JsonError> {
        let mut reader = JsonReader::new(input)?;
        let mut runs = Vec::new();
        let value = reader.outline(arrays, &mut |reader, array| {
            let name = arrays.get(array).copied().unwrap_or_default();
            let parse = |raw: &[u8], _| parse(raw);
            reader.array((array, name), &parse, &mut |position, one| {
                note(&mut runs, position);
                look(position, one);
                true
            })
        })?;
        let records = Self {
            reader,
            is_lines: false,
            arrays,
            runs,
        };
        Ok((value.unwrap_or(Value::Nil), records))
    }

    /// Reads lines. `look` is called with the number of every line but the first, whether it is
    /// blank, and what `parse` returns; it returns the array that the line belongs to. The first
    /// line is returned.
    ///
    /// # Errors
    /// `ERR_IO`; what is wrong with a line is for `look`.
    pub(crate) fn lines<T: Send>(
        input: R,
        arrays: &'static [&'static str],
        parse: impl Fn(&[u8]) -> T + Sync,
        mut look: impl FnMut(u64, bool, T) -> Option<usize>,
    ) -> io::Result<(Vec<u8>, Self)> {
        let mut reader = JsonReader::new(input)?;
        let (mut first, mut runs) = (Vec::new(), Vec::new());
        reader.line(&mut first)?;
        let mut number = 1_u64;
        let mut is_last = false;
        let mut batch = Batch::default();
        while !is_last {
            batch.clear();
            while !batch.is_full() {
                let mut line = batch.buffer();
                let start = reader.at();
                if !reader.line(&mut line)? {
                    is_last = true;
                    break;
                }
                number = number.saturating_add(1);
                let position = Position {
                    array: 0,
                    number,
                    start,
                };
                batch.push(line, position);
            }
            let parsed = batch.map(|line, position| {
                let is_blank = line.iter().all(u8::is_ascii_whitespace);
                (position, is_blank, parse(line))
            });
            for (position, is_blank, value) in parsed {
                if let Some(array) = look(position.number, is_blank, value) {
                    note(&mut runs, Position { array, ..position });
                }
            }
        }
        let records = Self {
            reader,
            is_lines: true,
            arrays,
            runs,
        };
        Ok((first, records))
    }

    /// Returns whether records are lines.
    pub(crate) const fn is_lines(&self) -> bool {
        self.is_lines
    }

    /// Returns the input, at its beginning.
    pub(crate) fn input(&mut self) -> io::Result<&mut R> {
        self.reader.rewound()
    }

    /// Reads the next batch of records and makes something of each. Of each record comes its
    /// number, and where it begins unless it follows the one before.
    fn batch<T: Send>(
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
                self.reader.seek(start)?;
            }
            let mut raw = batch.buffer();
            if is_lines {
                self.reader.line(&mut raw)?;
            } else {
                self.reader.record(&mut raw)?;
            }
            let position = Position {
                number,
                ..Position::default()
            };
            batch.push(raw, position);
        }
        let made = batch.map(|raw, Position { number, .. }| {
            let place = if is_lines {
                Place::Line(number)
            } else {
                Place::Pointer(format!("/{name}/{number}"))
            };
            Ok(make(strict::parse(raw)?, place))
        });
        made.into_iter().collect()
    }
}

impl<R: BufRead + Seek + Send> JsonRecords<R> {
    /// Makes something of every record of an array, on other threads, and takes it in the order of
    /// the file until `take` returns `false`.
    pub(crate) fn each<T: Send>(
        &mut self,
        array: usize,
        make: impl Fn(Value, Place) -> T + Sync,
        mut take: impl FnMut(T) -> bool,
    ) -> Result<(), Error> {
        let runs = std::mem::take(&mut self.runs);
        let result = self.read_runs(&runs, array, &make, &mut take);
        self.runs = runs;
        result.map_err(|error| match error {
            JsonError::Io(source) => source.into(),
            JsonError::Flaw(..) => changed(),
        })
    }

    /// Makes batches on one thread while this one takes those before them.
    fn read_runs<T: Send>(
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
            // One batch waits in the channel, so that memory holds three.
            let (sender, made) = mpsc::sync_channel(1);
            let read = move || {
                while records.peek().is_some() {
                    let batch = self.batch(array, &mut records, make);
                    let is_last = batch.is_err();
                    // The receiver is gone once `take` wants no more.
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

/// Remembers where a record stands.
fn note(runs: &mut Vec<Run>, position: Position) {
    let Position {
        array,
        number,
        start,
    } = position;
    match runs.last_mut() {
        Some(run) if run.array == array && run.first.checked_add(run.len) == Some(number) => {
            run.len = run.len.saturating_add(1);
        }
        _ => runs.push(Run {
            array,
            start,
            first: number,
            len: 1,
        }),
    }
}
