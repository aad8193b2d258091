//! The formats that can be read, and the trait that each of them implements once.
//!
//! A new format is a folder below `formats` with an implementation of [`FormatReader`], a variant of
//! [`Format`], and a line in [`READERS`]. How a format is written is its folder's own affair.

use crate::codec::Value;
use crate::grain::Grain;

use super::detect::JsonHead;
use super::formats::{aimem, jsonl, mg, omi, pam, provider};
use super::import_file::ReadResult;
use super::io::source_file::Input;
use super::merge::MergeRule;
use super::provider::Provider;
use super::{Error, ReadOptions};

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
    /// The export of an assistant's provider; read only.
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

    /// Returns the name, by which a caller asks for the format.
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

    pub(super) fn reader(self) -> &'static dyn FormatReader {
        match self {
            Self::Mg => &mg::Mg,
            Self::Jsonl => &jsonl::Jsonl,
            Self::Pam | Self::PamConversation | Self::PamEmbeddings => &pam::Pam,
            Self::Aimem | Self::AimemNdjson => &aimem::Aimem,
            Self::Omi | Self::OmiJsonl => &omi::Omi,
            Self::Provider(_) => &provider::Providers,
        }
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// One format in all its serializations: how it is recognised, read and merged.
pub(super) trait FormatReader: Sync {
    /// Returns what a user is told that a file of this format looks like.
    fn description(&self) -> &'static str;

    /// Returns the serializations that the name of the first of them stands for.
    fn serializations(&self) -> &'static [Format] {
        &[]
    }

    /// Recognises the first bytes of a file.
    fn detect_bytes(&self, _head: &[u8]) -> Option<Format> {
        None
    }

    /// Returns the members of a JSON value that tell this format from others.
    fn markers(&self) -> &'static [Marker] {
        &[]
    }

    /// Recognises a JSON value; called after each marker, and once more at its end.
    fn detect_json(&self, _head: &JsonHead) -> Option<Format> {
        None
    }

    /// Recognises a directory or a ZIP archive.
    fn detect_container(&self, _input: Input<'_>) -> Result<Option<Format>, Error> {
        Ok(None)
    }

    /// Validates a file of `format`, one of this reader's; its records are read when they are asked
    /// for.
    ///
    /// # Errors
    /// Why the file cannot be opened, or everything wrong with one that is refused as a whole.
    fn read(&self, format: Format, input: Input<'_>, options: &ReadOptions) -> ReadResult;

    /// Returns the foreign record that a grain of this format carries.
    fn residual(&self, _grain: &Grain) -> Option<Value> {
        None
    }

    /// Returns what a grain of this format carries from elsewhere in its file.
    fn inherited(&self, _grain: &Grain) -> Option<Value> {
        None
    }

    /// Returns whether a grain says nothing but that others belong together.
    fn is_link(&self, _grain: &Grain) -> bool {
        false
    }

    /// Returns whether the owner of a grain's record lets it leave the store, as far as it says.
    fn is_exportable(&self, _grain: &Grain) -> bool {
        true
    }

    /// Returns how a changed record meets the grains that came under its id before; `id_format` is
    /// that of the id.
    fn merge_rule(&self, _id_format: &str) -> MergeRule {
        MergeRule::default()
    }

    /// Returns whether the record of a grain says itself that it is no longer current.
    fn is_ended(&self, _grain: &Grain) -> bool {
        false
    }
}

/// The name of a member, and the text it must have where that matters.
pub(super) type Marker = (&'static str, Option<&'static str>);

/// Every reader, in the order in which they are asked.
pub(super) static READERS: [&dyn FormatReader; 6] = [
    &mg::Mg,
    &aimem::Aimem,
    &omi::Omi,
    &pam::Pam,
    &provider::Providers,
    &jsonl::Jsonl,
];
