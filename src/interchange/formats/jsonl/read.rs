//! Reading JSON lines, one record at a time; an invalid line does not end the reading.

use crate::code::ErrorCode;
use std::io::{BufRead, Read as _};

use crate::codec::{ContentAddress, Map, Profile, Value};
use crate::crypto::from_delivery;
use crate::grain::{self, Draft, Grain, StatusChange, Time, word};
use crate::interchange::formats::revision::draft_of;
use crate::interchange::model::status;
use crate::interchange::{Error, Place, ReadOptions, Record};
use crate::policy::RecordedAuthorization;

/// Reads JSON lines; an invalid line is an error, and the next one follows.
///
/// A record is returned once the line after it has been read, because that may be its status or a
/// hold on it.
///
/// Errors carry the line: the codes of grains, `JSONL_BOM`, `JSONL_UTF8`, `JSONL_LONG_LINE`,
/// `JSONL_BLOB`, `JSONL_STATUS`; after `ERR_IO` there is nothing more.
///
/// ```
/// use grainstore::interchange::{ReadOptions, jsonl::Reader};
///
/// let lines = b"{\"type\": \"event\", \"content\": \"hello\", \"created_at\": 1}\n";
/// let record = Reader::new(&lines[..], &ReadOptions::default()).next().unwrap()?;
/// assert_eq!(record.grain.text("content"), Some("hello"));
/// # Ok::<(), grainstore::interchange::Error>(())
/// ```
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    profile: Profile,
    default_created_at: Option<Time>,
    line: u64,
    /// The line that was read to look for a status or a hold.
    ahead: Option<Result<Line, Error>>,
    is_done: bool,
}

impl<R: BufRead> Reader<R> {
    /// Starts to read.
    pub const fn new(input: R, options: &ReadOptions) -> Self {
        Self {
            input,
            profile: options.profile,
            default_created_at: options.default_created_at,
            line: 0,
            ahead: None,
            is_done: false,
        }
    }

    /// Returns the next line that is not blank.
    fn next_line(&mut self) -> Option<Result<Line, Error>> {
        loop {
            let bytes = match self.next_bytes()? {
                Ok(bytes) => bytes,
                Err(error) => return Some(Err(error)),
            };
            if !bytes.iter().all(u8::is_ascii_whitespace) {
                return Some(self.parse(bytes));
            }
        }
    }

    fn next_bytes(&mut self) -> Option<Result<Vec<u8>, Error>> {
        if self.is_done {
            return None;
        }
        self.line = self.line.saturating_add(1);
        let mut bytes = Vec::new();
        let mut limited = (&mut self.input).take(LINE_LEN_MAX.saturating_add(1));
        let read = limited.read_until(b'\n', &mut bytes);
        let fits = bytes.ends_with(b"\n")
            || u64::try_from(bytes.len()).is_ok_and(|len| len <= LINE_LEN_MAX);
        match read {
            Ok(0) => {
                self.is_done = true;
                None
            }
            Ok(_) if fits => Some(Ok(bytes)),
            Ok(_) => {
                drop(bytes);
                Some(Err(match self.input.skip_until(b'\n') {
                    Ok(_) => self.fault(ErrorCode::JsonlLongLine, "the line is longer than 16 MiB"),
                    Err(source) => self.stop(source),
                }))
            }
            Err(source) => Some(Err(self.stop(source))),
        }
    }

    fn stop(&mut self, source: std::io::Error) -> Error {
        self.is_done = true;
        Error::Io {
            place: Place::Line(self.line),
            source,
        }
    }

    fn parse(&self, bytes: Vec<u8>) -> Result<Line, Error> {
        let text = String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            self.fault(ErrorCode::JsonlUtf8, format!("not UTF-8 from byte {at} on"))
        })?;
        if self.line == 1 && text.starts_with('\u{feff}') {
            return Err(self.fault(
                ErrorCode::JsonlBom,
                "the file starts with a byte-order mark",
            ));
        }
        let value = Value::from_json_knowing(&text, word);
        let value = value.map_err(|source| self.wrap(source.into()))?;
        match value.as_map() {
            Some(map) if map.contains("type") => self.grain(value),
            Some(map) if map.contains("blob") => self.blob(map, "blob"),
            Some(map) if map.contains("envelope") => self.blob(map, "envelope"),
            Some(map) if map.contains("status") => self.status(map),
            Some(map) if map.contains("hold") => self.hold(map),
            _ => self.grain(value),
        }
    }

    fn grain(&self, value: Value) -> Result<Line, Error> {
        let created = |draft: Draft| match self.default_created_at {
            Some(time) => draft.created_at_or(time),
            None => draft,
        };
        let finished = match draft_of(&value) {
            Ok(Some(later)) => created(later).finish_foreign(self.profile),
            Ok(None) => Draft::from_value(value)
                .and_then(|draft| created(draft).finish_with_warnings(self.profile)),
            Err(error) => Err(error),
        };
        let (grain, warnings) = finished.map_err(|source| self.wrap(source))?;
        Ok(self.record(grain, warnings))
    }

    /// Reads a grain as it travels, from the member of that name.
    fn blob(&self, map: &Map, name: &str) -> Result<Line, Error> {
        self.only(map, &["address", name], ErrorCode::JsonlBlob)?;
        let hex = map.get(name).and_then(Value::as_text);
        let bytes = hex.and_then(|hex| {
            let decoded = data_encoding::HEXLOWER_PERMISSIVE.decode(hex.as_bytes());
            decoded.ok()
        });
        let bytes = bytes.ok_or_else(|| {
            self.fault(
                ErrorCode::JsonlBlob,
                format!("{name} is not hexadecimal text"),
            )
        })?;
        let stated = match map.get("address") {
            None => None,
            Some(Value::Text(address)) => Some(
                address
                    .parse::<ContentAddress>()
                    .map_err(|source| self.wrap(source.into()))?,
            ),
            Some(_) => return Err(self.fault(ErrorCode::JsonlBlob, "address is not text")),
        };
        if let Some(address) = stated
            && name == "blob"
            && !address.verifies(&bytes)
        {
            return Err(self.wrap(grain::Error::Integrity { address }));
        }
        let read = from_delivery(&bytes, self.profile);
        let (grain, warnings) =
            read.map_err(|source| Error::of_delivery(Place::Line(self.line), source))?;
        if grain.is_signed() != (name == "envelope") {
            return Err(self.wrap(grain::Error::SignedMismatch));
        }
        if let Some(address) = stated
            && !address.verifies(grain.blob())
        {
            return Err(self.wrap(grain::Error::Integrity { address }));
        }
        Ok(self.record(grain, warnings))
    }

    fn status(&self, map: &Map) -> Result<Line, Error> {
        let map = self.beside(map, "status", &status::MEMBERS)?;
        let (of, change) = status::read(map).map_err(|name| self.invalid(name))?;
        Ok(Line::Status {
            of,
            change,
            line: self.line,
        })
    }

    fn hold(&self, map: &Map) -> Result<Line, Error> {
        let map = self.beside(map, "hold", &status::HOLD_MEMBERS)?;
        let (of, hold) = status::read_hold(map).map_err(|name| self.invalid(name))?;
        Ok(Line::Hold {
            of,
            hold,
            line: self.line,
        })
    }

    /// Returns the object of a line that goes with a grain, which has these members and no others.
    fn beside<'m>(&self, map: &'m Map, name: &str, members: &[&str]) -> Result<&'m Map, Error> {
        self.only(map, &[name], ErrorCode::JsonlStatus)?;
        let Some(Value::Map(map)) = map.get(name) else {
            return Err(self.fault(ErrorCode::JsonlStatus, format!("{name} is not an object")));
        };
        self.only(map, members, ErrorCode::JsonlStatus)?;
        Ok(map)
    }

    fn invalid(&self, name: &str) -> Error {
        let message = format!("{name} is not what it must be");
        self.fault(ErrorCode::JsonlStatus, message)
    }

    /// An unknown member may be a misspelt one, whose value would be lost.
    fn only(&self, map: &Map, allowed: &[&str], code: ErrorCode) -> Result<(), Error> {
        match map.iter().find(|(name, _)| !allowed.contains(name)) {
            Some((name, _)) => Err(self.fault(code, format!("unknown member \"{name}\""))),
            None => Ok(()),
        }
    }

    fn record(&self, grain: Grain, warnings: Vec<grain::Warning>) -> Line {
        let mut record = Record::new(grain, Place::Line(self.line));
        record.warnings = warnings;
        Line::Record(Box::new(record))
    }

    fn wrap(&self, source: grain::Error) -> Error {
        Error::Grain {
            place: Place::Line(self.line),
            source,
        }
    }

    fn fault(&self, code: ErrorCode, message: impl Into<String>) -> Error {
        fault_at(self.line, code, message)
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Record, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let line = match self.ahead.take() {
            Some(line) => line,
            None => self.next_line()?,
        };
        let mut record = match line {
            Ok(Line::Record(record)) => record,
            Ok(Line::Status { line, .. }) => {
                let message = "a status must follow the grain it is of";
                return Some(Err(fault_at(line, ErrorCode::JsonlStatus, message)));
            }
            Ok(Line::Hold { line, .. }) => {
                let message = "a hold must follow the grain it is on, behind its status";
                return Some(Err(fault_at(line, ErrorCode::JsonlStatus, message)));
            }
            Err(error) => return Some(Err(error)),
        };
        let address = record.grain.address();
        let mut next = self.next_line();
        if let Some(Ok(Line::Status { of, change, .. })) = &next
            && *of == address
        {
            record.status = *change;
            next = self.next_line();
        }
        self.ahead = loop {
            match next {
                Some(Ok(Line::Hold { of, hold, .. }))
                    if of == address && record.holds.len() < HOLDS_MAX =>
                {
                    record.holds.push(hold);
                    next = self.next_line();
                }
                other => break other,
            }
        };
        Some(Ok(*record))
    }
}

#[derive(Debug)]
enum Line {
    Record(Box<Record>),
    Status {
        of: ContentAddress,
        change: StatusChange,
        line: u64,
    },
    Hold {
        of: ContentAddress,
        hold: RecordedAuthorization,
        line: u64,
    },
}

fn fault_at(line: u64, code: ErrorCode, message: impl Into<String>) -> Error {
    Error::format(code, Place::Line(line), message)
}

/// The most holds on one grain: more than anyone places, and a bound on memory.
const HOLDS_MAX: usize = 1_000;

/// Enough for any grain as JSON or as a blob (OMS 18: 1 MiB), and a bound on memory.
const LINE_LEN_MAX: u64 = 16 * 1024 * 1024;
