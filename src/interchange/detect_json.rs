//! Detection by JSON: the text is scanned once for all formats, and never held in memory.
//!
//! Formats whose files lie among others use it too. Such a format says what its JSON looks like in a
//! file that does not import this one.

use std::io::{self, BufRead};

use super::Format;
use super::formats::aimem::JSON as AIMEM;
use super::formats::jsonl::JSON as JSONL;
use super::formats::neighbour::sources;
use super::formats::omi::JSON as OMI;
use super::formats::pam::JSON as PAM;
use super::formats::provider::JSON as PROVIDER;
use super::json::{Scanner, Token};
use super::json_head::{JsonFormat, JsonHead, Marker};

/// The formats in JSON, in the order in which they are asked: any object on a line may be one of JSON lines.
fn json_formats() -> impl Iterator<Item = &'static JsonFormat> {
    let sources = sources().map(|source| &source.json);
    let first: [&JsonFormat; 4] = [&AIMEM, &OMI, &PAM, &PROVIDER];
    first.into_iter().chain(sources).chain([&JSONL])
}

/// Detects the format of the first JSON value of a text.
pub(super) fn detect_json(mut input: impl BufRead) -> io::Result<Option<Format>> {
    let mut detector = Detector::default();
    loop {
        let chunk = input.fill_buf()?;
        let len = chunk.len();
        if len == 0 {
            return Ok(detector.at_end());
        }
        if let Some(found) = detector.feed_all(chunk) {
            return Ok(found);
        }
        input.consume(len);
    }
}

#[derive(Default)]
struct Detector {
    scanner: Scanner,
    head: JsonHead,
    /// Whether the outer bracket has been seen, and anything behind it.
    is_open: bool,
    is_begun: bool,
    spans_lines: bool,
    /// The beginning of the last string, long enough to compare.
    string: Vec<u8>,
    /// The name of the last member, while its value is read.
    name: Vec<u8>,
    /// Whether the value of the member `conversations` or `results` is read.
    is_inside: bool,
}

impl Detector {
    /// Takes the next bytes; returns the result once it is certain.
    fn feed_all(&mut self, chunk: &[u8]) -> Option<Option<Format>> {
        let mut rest = chunk;
        loop {
            let (string, behind) = rest.split_at_checked(self.scanner.string_len(rest))?;
            let room = STRING_LEN_MAX.saturating_sub(self.string.len());
            self.string.extend(string.iter().take(room));
            let (byte, behind) = behind.split_first()?;
            if let Some(found) = self.feed(*byte) {
                return Some(found);
            }
            rest = behind;
        }
    }

    /// Takes the next byte; returns the result once it is certain.
    fn feed(&mut self, byte: u8) -> Option<Option<Format>> {
        if self.scanner.depth() == 0 {
            match byte {
                b'{' | b'[' => {
                    self.scanner.feed(byte);
                    self.is_open = true;
                    self.head.is_array = byte == b'[';
                    self.is_begun = self.head.is_array;
                }
                // The reader of the file tells the user about a byte-order mark.
                b' ' | b'\t' | b'\r' | b'\n' | 0xef | 0xbb | 0xbf => {}
                _ => return Some(None),
            }
            return None;
        }
        let token = self.scanner.feed(byte);
        match token {
            Token::StringByte if self.string.len() < STRING_LEN_MAX => self.string.push(byte),
            Token::StringByte => {}
            Token::StringStart => self.string.clear(),
            Token::StringEnd if self.is_at_members() => {
                let (name, string) = (&self.name, &self.string);
                let is_array = self.head.is_array;
                let is_value = |(marker, text): &Marker| {
                    let says = |text: &str| match text.strip_prefix('*') {
                        Some(part) => contains(string, part),
                        None => !is_array && text.as_bytes() == string,
                    };
                    marker.as_bytes() == name && text.is_some_and(says)
                };
                if note(&mut self.head, is_value) {
                    return self.detect().map(Some);
                }
            }
            Token::Close if self.scanner.depth() == 0 => return Some(self.at_end()),
            Token::Plain if matches!(byte, b' ' | b'\t' | b'\r') => return None,
            Token::Plain if byte == b'\n' => {
                self.spans_lines = true;
                return None;
            }
            _ if !self.is_begun => return Some(None),
            Token::Plain if byte == b',' => {
                self.is_inside &= self.scanner.depth() > 1;
                self.name.clear();
            }
            Token::Plain if byte == b':' && self.is_at_members() => {
                self.name.clone_from(&self.string);
                let name = self.name.as_slice();
                let is_list = matches!(name, b"conversations" | b"results" | b"data");
                self.is_inside = is_list && !self.head.is_array;
                let name = &self.name;
                let is_name = |(marker, text): &Marker| text.is_none() && marker.as_bytes() == name;
                if note(&mut self.head, is_name) {
                    return self.detect().map(Some);
                }
            }
            Token::Plain if byte == b':' && self.is_at_inner_members() => {
                let is_marker = note_inner(&mut self.head, &self.string);
                if let Some(found) = self.detect().filter(|_| is_marker) {
                    return Some(Some(found));
                }
            }
            _ => {}
        }
        self.is_begun = true;
        None
    }

    const fn is_at_members(&self) -> bool {
        self.scanner.depth() == if self.head.is_array { 2 } else { 1 }
    }

    const fn is_at_inner_members(&self) -> bool {
        // Of `data` the members themselves.
        self.is_inside && matches!(self.scanner.depth(), 2 | 3)
    }

    fn at_end(&mut self) -> Option<Format> {
        self.head.is_whole = true;
        self.head.is_line = self.is_open && !self.head.is_array && !self.spans_lines;
        self.detect()
    }

    fn detect(&self) -> Option<Format> {
        json_formats().find_map(|format| (format.detect)(&self.head))
    }
}

/// Notes the markers of one name or of one text; returns whether there are any.
fn note(head: &mut JsonHead, is_marker: impl Fn(&Marker) -> bool) -> bool {
    let markers = json_formats().flat_map(|format| format.markers);
    let before = head.found.len();
    for marker in markers.filter(|marker| is_marker(marker)) {
        if !head.found.contains(marker) {
            head.found.push(*marker);
        }
    }
    head.found.len() > before
}

/// Notes the name of a member inside `conversations` or `results`; returns whether it is a marker.
fn note_inner(head: &mut JsonHead, name: &[u8]) -> bool {
    let mut markers = json_formats().flat_map(|format| format.inner);
    let found = markers.find(|marker| marker.as_bytes() == name);
    let new = found.filter(|marker| !head.inner.contains(*marker));
    head.inner.extend(new);
    new.is_some()
}

fn contains(text: &[u8], part: &str) -> bool {
    let mut windows = text.windows(part.len());
    windows.any(|window| window.eq_ignore_ascii_case(part.as_bytes()))
}

/// Longer than every marker.
const STRING_LEN_MAX: usize = 32;
