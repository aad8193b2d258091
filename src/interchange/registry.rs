//! The readers of all formats. No format may import this file: a reader knows no other one.

use crate::grain::Grain;

use super::Format;
use super::format_reader::FormatReader;
use super::formats::{aimem, jsonl, mg, omi, pam, provider};

/// Every reader, in the order in which they are asked.
pub(super) static READERS: [&dyn FormatReader; 6] = [
    &mg::Mg,
    &aimem::Aimem,
    &omi::Omi,
    &pam::Pam,
    &provider::Providers,
    &jsonl::Jsonl,
];

impl Format {
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

/// Returns whether the owner of the memory that a grain was made from lets it leave the store
/// (PAM 21.1), as far as the record says.
pub(crate) fn is_exportable(grain: &Grain) -> bool {
    READERS.iter().all(|reader| reader.is_exportable(grain))
}

/// Returns whether a grain says nothing but that others belong together.
pub(crate) fn is_link(grain: &Grain) -> bool {
    READERS.iter().any(|reader| reader.is_link(grain))
}
