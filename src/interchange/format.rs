use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use crate::code::ErrorCode;

use super::archive::{Bytes, is_zip};
use super::first::First;
use super::provider::{self, Provider};
use super::{Error, Place, pam};

/// A format that can be read.
///
/// ```
/// use grainstore::interchange::Format;
///
/// assert_eq!(Format::named("pam"), Some(Format::Pam));
/// assert_eq!(Format::detect_bytes(b"{\"type\": \"event\"}\n")?, Format::Jsonl);
/// # Ok::<(), grainstore::interchange::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// An archive of grains (OMS 11).
    Mg,
    /// One JSON grain a line.
    Jsonl,
    /// A Portable AI Memory store.
    Pam,
    /// A conversation of Portable AI Memory without its store; read only.
    PamConversation,
    /// The embeddings file of Portable AI Memory without its store; read only.
    PamEmbeddings,
    /// An AIMEM bundle.
    Aimem,
    /// An AIMEM bundle as a stream of lines.
    AimemNdjson,
    /// An OMI-AI document.
    Omi,
    /// An OMI-AI document as JSON lines.
    OmiJsonl,
    /// What a provider of an assistant exports; read only.
    Provider(Provider),
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 14] = [
        Self::Mg,
        Self::Jsonl,
        Self::Pam,
        Self::PamConversation,
        Self::PamEmbeddings,
        Self::Aimem,
        Self::AimemNdjson,
        Self::Omi,
        Self::OmiJsonl,
        Self::Provider(Provider::Chatgpt),
        Self::Provider(Provider::Claude),
        Self::Provider(Provider::Gemini),
        Self::Provider(Provider::Copilot),
        Self::Provider(Provider::Grok),
    ];

    /// Returns the name, which is also how a caller asks for the format.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mg => "mg",
            Self::Jsonl => "jsonl",
            Self::Pam => "pam",
            Self::PamConversation => "pam-conversation",
            Self::PamEmbeddings => "pam-embeddings",
            Self::Aimem => "aimem",
            Self::AimemNdjson => "aimem-ndjson",
            Self::Omi => "omi",
            Self::OmiJsonl => "omi-jsonl",
            Self::Provider(provider) => provider.name(),
        }
    }

    /// Returns the format of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Returns the format to read something as: the one that is asked for, where that is the name of
    /// several forms the one that is found among them, and without any whatever is found.
    pub(super) fn chosen(
        asked: Option<Self>,
        detect: impl FnOnce() -> Result<Self, Error>,
    ) -> Result<Self, Error> {
        let Some(asked) = asked else {
            return detect();
        };
        let forms: &[Self] = match asked {
            Self::Pam => &[Self::PamConversation, Self::PamEmbeddings],
            Self::Aimem => &[Self::AimemNdjson],
            Self::Omi => &[Self::OmiJsonl],
            _ => return Ok(asked),
        };
        // What cannot be told is judged as what it is said to be.
        let found = detect().ok().filter(|found| forms.contains(found));
        Ok(found.unwrap_or(asked))
    }

    /// Tells the format of a file or a directory from what is in it, never from its name.
    ///
    /// # Errors
    /// `ERR_FORMAT_UNKNOWN` with what was looked for; `ERR_IO`.
    pub fn detect(path: &Path) -> Result<Self, Error> {
        if path.is_dir() {
            if pam::locate(path)?.is_some() {
                return Ok(Self::Pam);
            }
            let found = provider::detect(Bytes::At(path))?.map(Self::Provider);
            return found.ok_or_else(|| unknown("the directory holds none of them"));
        }
        let io = |source| Error::Io {
            place: Place::File,
            source,
        };
        let mut file = File::open(path).map_err(io)?;
        let mut magic = Vec::new();
        let limit = u64::try_from(HEADER_LEN_MAX).unwrap_or_default();
        (&mut file)
            .take(limit)
            .read_to_end(&mut magic)
            .map_err(io)?;
        if is_zip(&magic) {
            return packed(Bytes::At(path));
        }
        file.seek(SeekFrom::Start(0)).map_err(io)?;
        detect(&magic, BufReader::new(file))
    }

    /// Tells the format from the first bytes of a file.
    ///
    /// The bytes should hold the first JSON object whole: in a PAM store the member that names the
    /// format may stand last.
    ///
    /// # Errors
    /// `ERR_FORMAT_UNKNOWN` with what was looked for.
    pub fn detect_bytes(head: &[u8]) -> Result<Self, Error> {
        if is_zip(head) {
            return packed(Bytes::Here(head));
        }
        detect(head, head)
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Tells what a ZIP archive holds.
fn packed(archive: Bytes<'_>) -> Result<Format, Error> {
    if pam::is_packed(archive)? {
        return Ok(Format::Pam);
    }
    let found = provider::detect(archive)?.map(Format::Provider);
    found.ok_or_else(|| unknown("the ZIP archive holds none of them"))
}

fn detect(head: &[u8], input: impl BufRead) -> Result<Format, Error> {
    if head.starts_with(MAGIC) {
        return Ok(Format::Mg);
    }
    if provider::is_copilot(head) {
        return Ok(Format::Provider(Provider::Copilot));
    }
    let first = First::read(input).map_err(|source| Error::Io {
        place: Place::File,
        source,
    })?;
    match first {
        First::Known(format) => Ok(format),
        First::Line => Ok(Format::Jsonl),
        First::Other => Err(unknown("the content is none of them")),
    }
}

fn unknown(found: &str) -> Error {
    Error::Format {
        code: ErrorCode::FormatUnknown,
        place: Place::File,
        message: format!(
            "{found}; looked for mg (starts with \"MG\" and 0x01), pam (a JSON object with \
             \"schema\": \"portable-ai-memory\", or a directory that holds one), pam-conversation and \
             pam-embeddings (its files without it), aimem (with \
             \"format\": \"aimem-bundle\"), omi (with \"format\": \"open-memory-interchange\") and \
             jsonl (a JSON object a line), and \
             exports of ChatGPT, Claude, Gemini, Copilot and Grok"
        ),
    }
}

/// OMS 11.2: the first bytes of an archive.
const MAGIC: &[u8] = b"MG\x01";
/// More than the first line of a table takes.
const HEADER_LEN_MAX: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

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
