//! Detection: the format of a file from its content, never from its name.
//!
//! The first bytes or the first JSON value decide, and a directory or a ZIP archive by the files in
//! it. Each format says by itself what it looks like ([`FormatReader`]);
//! the text is scanned once for all of them, and never held in memory.

use crate::code::ErrorCode;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::path::Path;

use super::format::{FormatReader, Marker, READERS};
use super::io::source_file::Input;
use super::io::zip::is_zip;
use super::json::{Scanner, Token};
use super::{Error, Format, Place};

impl Format {
    /// Detects the format of a file or a directory.
    ///
    /// # Errors
    /// `ERR_FORMAT_UNKNOWN` with what was looked for; `ERR_IO`.
    pub fn detect(path: &Path) -> Result<Self, Error> {
        let input = Input::Path(path);
        if path.is_dir() {
            return in_container(input, "the directory holds none of them");
        }
        let mut file = File::open(path)?;
        let mut head = Vec::new();
        (&mut file).take(HEAD_LEN).read_to_end(&mut head)?;
        if is_zip(&head) {
            return in_container(input, "the ZIP archive holds none of them");
        }
        file.rewind()?;
        in_content(&head, BufReader::new(file))
    }

    /// Detects the format from the first bytes of a file.
    ///
    /// The bytes should hold the first JSON object whole: in a PAM store the member that names the
    /// format may stand last.
    ///
    /// # Errors
    /// `ERR_FORMAT_UNKNOWN` with what was looked for.
    pub fn detect_bytes(head: &[u8]) -> Result<Self, Error> {
        if is_zip(head) {
            return in_container(Input::Bytes(head), "the ZIP archive holds none of them");
        }
        in_content(head, head)
    }

    /// Chooses the format to read something as: the one that was asked for, or what is detected.
    /// A name that stands for several serializations is resolved to the detected one.
    pub(super) fn choose(asked: Option<Self>, input: Input<'_>) -> Result<Self, Error> {
        let detect = || match input {
            Input::Path(path) => Self::detect(path),
            Input::Bytes(bytes) => Self::detect_bytes(bytes),
        };
        let Some(asked) = asked else {
            return detect();
        };
        let serializations = asked.reader().serializations();
        if serializations.first() != Some(&asked) {
            return Ok(asked);
        }
        let found = detect().ok().filter(|it| serializations.contains(it));
        Ok(found.unwrap_or(asked))
    }
}

fn in_container(input: Input<'_>, otherwise: &str) -> Result<Format, Error> {
    for reader in READERS {
        if let Some(format) = reader.detect_container(input)? {
            return Ok(format);
        }
    }
    Err(unknown(otherwise))
}

fn in_content(head: &[u8], input: impl BufRead) -> Result<Format, Error> {
    let by_bytes = READERS.iter().find_map(|reader| reader.detect_bytes(head));
    let found = match by_bytes {
        Some(format) => Some(format),
        None => detect_json(input)?,
    };
    found.ok_or_else(|| unknown("the content is none of them"))
}

fn unknown(found: &str) -> Error {
    let known = READERS.map(FormatReader::description);
    let message = format!("{found}; looked for {}", known.join(", "));
    Error::format(ErrorCode::FormatUnknown, Place::File, message)
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
        if let Some(found) = chunk.iter().find_map(|byte| detector.feed(*byte)) {
            return Ok(found);
        }
        input.consume(len);
    }
}

/// The markers found in the first JSON value of a text: among the members of an object, or of the
/// objects in an array.
#[derive(Default)]
pub(super) struct JsonHead {
    found: Vec<Marker>,
    /// Whether the value is an array.
    pub(super) is_array: bool,
    /// Whether all of the value has been seen, or all there is of it.
    pub(super) is_whole: bool,
    /// Whether the value is an object on one line.
    pub(super) is_line: bool,
}

impl JsonHead {
    /// Returns whether there is a member of one of these names.
    pub(super) fn has(&self, names: &[&str]) -> bool {
        let mut found = self.found.iter();
        found.any(|(name, text)| text.is_none() && names.contains(name))
    }

    /// Returns whether the member of a name has one of these texts.
    pub(super) fn says(&self, name: &str, texts: &[&str]) -> bool {
        let mut found = self.found.iter();
        found.any(|(it, text)| *it == name && text.is_some_and(|text| texts.contains(&text)))
    }

    /// Notes the markers of one name or of one text; returns whether there are any.
    fn note(&mut self, is_marker: impl Fn(&Marker) -> bool) -> bool {
        let markers = READERS.iter().flat_map(|reader| reader.markers());
        let before = self.found.len();
        for marker in markers.filter(|marker| is_marker(marker)) {
            if !self.found.contains(marker) {
                self.found.push(*marker);
            }
        }
        self.found.len() > before
    }

    fn detect(&self) -> Option<Format> {
        READERS.iter().find_map(|reader| reader.detect_json(self))
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
}

impl Detector {
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
            Token::StringEnd if self.is_at_members() && !self.head.is_array => {
                let (name, string) = (&self.name, &self.string);
                let is_value = |(marker, text): &Marker| {
                    marker.as_bytes() == name && text.is_some_and(|text| text.as_bytes() == string)
                };
                if self.head.note(is_value) {
                    return self.head.detect().map(Some);
                }
            }
            Token::Close if self.scanner.depth() == 0 => return Some(self.at_end()),
            Token::Plain if matches!(byte, b' ' | b'\t' | b'\r') => return None,
            Token::Plain if byte == b'\n' => {
                self.spans_lines = true;
                return None;
            }
            _ if !self.is_begun => return Some(None),
            Token::Plain if byte == b',' => self.name.clear(),
            Token::Plain if byte == b':' && self.is_at_members() => {
                self.name.clone_from(&self.string);
                let name = &self.name;
                let is_name = |(marker, text): &Marker| text.is_none() && marker.as_bytes() == name;
                if self.head.note(is_name) {
                    return self.head.detect().map(Some);
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

    fn at_end(&mut self) -> Option<Format> {
        self.head.is_whole = true;
        self.head.is_line = self.is_open && !self.head.is_array && !self.spans_lines;
        self.head.detect()
    }
}

/// More than the first line of a table takes.
const HEAD_LEN: u64 = 4096;
/// Longer than every marker.
const STRING_LEN_MAX: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interchange::provider::Provider;

    #[test]
    fn a_format_is_told_from_its_first_bytes() {
        let provider = |provider| Some(Format::Provider(provider));
        let cases: [(&[u8], Option<Format>); 30] = [
            (b"[{\"title\":\"mapping\",\"mapping\":{}}]", provider(Provider::Chatgpt)),
            (b"[\n{},{\"chat_messages\":[]}]", provider(Provider::Claude)),
            (b"[{\"a\":{\"mapping\":1}}]", None),
            (b"[{\"header\":\"Gemini Apps\"}]", provider(Provider::Gemini)),
            (b"{\n\"conversations\":[]\n}", provider(Provider::Grok)),
            (
                b"\xef\xbb\xbfConversation,\"time\",Author,Message\r\nx",
                provider(Provider::Copilot),
            ),
            (b"{\"format\":\"aimem-bundle\",\"chunks\":[]}", Some(Format::Aimem)),
            (b"{\n\"chunks\":[{\"a\":1}],\"format\":\"memoryai-bundle\"}", Some(Format::Aimem)),
            (b"{\"format\":\"aimem-bundle\"}\n{\"_kind\":\"chunk\"}", Some(Format::AimemNdjson)),
            (b"{\"memories\":[],\"format\":\"open-memory-interchange\"}", Some(Format::Omi)),
            (
                b"{\"memories\":[],\"format\":\"open-memory-interchange\",\"serialization\":\"jsonl\"}",
                Some(Format::OmiJsonl),
            ),
            (b"{\"format\":\"open-memory-interchange\"}\n{\"id\":1}", Some(Format::OmiJsonl)),
            (b"{\"x\":{\"format\":\"aimem-bundle\"}}", Some(Format::Jsonl)),
            (b"{\"format\":[\"aimem-bundle\"]}", Some(Format::Jsonl)),
            (b"[{\"format\":\"aimem-bundle\"}]", None),
            (b"MG\x01\x00", Some(Format::Mg)),
            (b"MG\x02", None),
            (b"{\"schema\":\"portable-ai-memory\"}", Some(Format::Pam)),
            (
                b"\xef\xbb\xbf{\n \"schema\" : \"portable-ai-memory\",",
                Some(Format::Pam),
            ),
            (
                b"{\"a\":{\"schema\":1},\n\"memories\":[{\"x\":\"}\\\"{\"}],\"schema\":\"portable-ai-memory\"}",
                Some(Format::Pam),
            ),
            (
                b"{\"a\":\"schema\",\n\"b\":\"portable-ai-memory\"}",
                None,
            ),
            (
                b"{\"id\":1,\n\"schema\":\"portable-ai-memory-conversation\"}",
                Some(Format::PamConversation),
            ),
            (
                b"{\"schema\":\"portable-ai-memory-embeddings\",\n\"id\":1}",
                Some(Format::PamEmbeddings),
            ),
            (b"{\"schema\":\"portable-ai-memory-conversations\",\n\"id\":1}", None),
            (b"\n{\"type\":\"event\"}\n{\"x\":1}", Some(Format::Jsonl)),
            (
                b"{\"x\":{\"schema\":\"portable-ai-memory\"}}\n",
                Some(Format::Jsonl),
            ),
            (b"{body}", None),
            (b"[1]", None),
            (b"", None),
            (b"{\n\"type\":\"event\"\n}", None),
        ];
        for (head, expected) in cases {
            let found = Format::detect_bytes(head);
            assert_eq!(found.as_ref().ok(), expected.as_ref(), "{head:?}");
            if let Err(error) = found {
                assert_eq!(error.code(), "ERR_FORMAT_UNKNOWN");
            }
        }
    }
}
