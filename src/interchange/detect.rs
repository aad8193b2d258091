//! Detection: the format of a file from its content, never from its name.
//!
//! The first bytes or the first JSON value decide, and a directory or a ZIP archive by the files in
//! it. Each format says by itself what it looks like ([`FormatReader`]).

use crate::code::ErrorCode;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek};
use std::path::Path;

use super::detect_json::detect_json;
use super::format_reader::FormatReader;
use super::formats::neighbour::Neighbours;
use super::io::source_file::Input;
use super::io::tar::is_gzip;
use super::io::zip::is_zip;
use super::registry::READERS;
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
        Self::detect_file(input, File::open(path)?)
    }

    /// Detects the format of an open file, which `input` opens again.
    fn detect_file(input: Input<'_>, mut file: impl Read + Seek) -> Result<Self, Error> {
        let mut head = Vec::new();
        (&mut file).take(HEAD_LEN).read_to_end(&mut head)?;
        if is_zip(&head) {
            return in_container(input, "the ZIP archive holds none of them");
        }
        if is_gzip(&head) {
            return in_tar(input);
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
        if is_gzip(head) {
            return in_tar(Input::Bytes(head));
        }
        in_content(head, head)
    }

    /// Chooses the format to read something as: the one that was asked for, or what is detected.
    /// A name that stands for several serializations is resolved to the detected one.
    pub(super) fn choose(asked: Option<Self>, input: Input<'_>) -> Result<Self, Error> {
        let detect = || match input {
            Input::Path(path) => Self::detect(path),
            Input::Bytes(bytes) => Self::detect_bytes(bytes),
            Input::Shared(_) => Self::detect_file(input, input.open()?),
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

/// Only memory stores and session logs come in such an archive, and each that lists it decompresses it.
fn in_tar(input: Input<'_>) -> Result<Format, Error> {
    let found = Neighbours.detect_container(input)?;
    found.ok_or_else(|| unknown("the TAR archive holds none of them"))
}

fn in_content(head: &[u8], input: impl BufRead) -> Result<Format, Error> {
    if head.is_empty() {
        let message = "the file is empty".to_owned();
        return Err(Error::format(
            ErrorCode::FormatUnknown,
            Place::File,
            message,
        ));
    }
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

/// More than the first line of a table takes.
const HEAD_LEN: u64 = 4096;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interchange::provider::Provider;

    #[test]
    fn a_format_is_told_from_its_first_bytes() {
        let provider = |provider| Some(Format::Provider(provider));
        let cases: [(&[u8], Option<Format>); 29] = [
            (b"[{\"title\":\"mapping\",\"mapping\":{}}]", provider(Provider::Chatgpt)),
            (b"[\n{},{\"chat_messages\":[]}]", provider(Provider::Claude)),
            (b"[{\"a\":{\"mapping\":1}}]", None),
            (b"[{\"header\":\"Gemini Apps\"}]", provider(Provider::Gemini)),
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
        assert_detected(&cases);
    }

    #[test]
    fn an_export_is_told_by_the_marks_of_its_provider() {
        let provider = |provider| Some(Format::Provider(provider));
        let cases: [(&[u8], Option<Format>); 11] = [
            (b"[{\"header\":\"YouTube\"}]", None),
            (b"[{\"header\":\"YouTube\"},{\"header\":\"Gemini-Apps\"}]", provider(Provider::Gemini)),
            (b"{\n\"conversations\":[]\n}", None),
            (b"{\"conversations\":[],\"media_posts\":[]}", provider(Provider::Grok)),
            (
                b"{\"conversations\":[{\"conversation\":{\"conversation_id\":1},\"responses\":[]}]}",
                provider(Provider::Grok),
            ),
            (b"{\"conversations\":[{\"chat_messages\":[]}]}", provider(Provider::Claude)),
            (b"{\"conversations\":[{\"composerId\":1}]}", provider(Provider::Cursor)),
            (b"{\n\"conversations\":[{\"messages\":[]}]}", None),
            (b"[{\"mapping\":{},\"inserted_at\":1}]", provider(Provider::Deepseek)),
            (b"{\n\"mapping\":{},\"title\":1}", provider(Provider::Chatgpt)),
            (b"{\"uuid\":1,\"chat_messages\":[]}", provider(Provider::Claude)),
        ];
        assert_detected(&cases);
    }

    fn assert_detected(cases: &[(&[u8], Option<Format>)]) {
        for (head, expected) in cases {
            let found = Format::detect_bytes(head);
            assert_eq!(found.as_ref().ok(), expected.as_ref(), "{head:?}");
            if let Err(error) = found {
                assert_eq!(error.code(), "ERR_FORMAT_UNKNOWN");
            }
        }
    }
}
