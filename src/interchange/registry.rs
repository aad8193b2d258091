//! The readers and writers of all formats. No format may import this file: none knows another one.

use crate::codec::{ContentAddress, Value};
use crate::grain::Grain;

use super::format_reader::FormatReader;
use super::formats::format_writer::FormatWriter;
use super::formats::{aimem, jsonl, markdown, mg, neighbour, omi, pam, provider};
use super::model::embedded_grain;
use super::{Error, Format, Record};

/// Every reader, in the order in which they are asked.
pub(super) static READERS: [&dyn FormatReader; 8] = [
    &mg::Mg,
    &aimem::Aimem,
    &omi::Omi,
    &pam::Pam,
    &provider::Providers,
    &jsonl::Jsonl,
    &markdown::Markdown,
    // A tree of notes may have a file of theirs in it.
    &neighbour::Neighbours,
];

impl Format {
    pub(super) fn reader(self) -> &'static dyn FormatReader {
        match self {
            Self::Mg => &mg::Mg,
            Self::Jsonl => &jsonl::Jsonl,
            Self::Pam | Self::PamConversation | Self::PamEmbeddings => &pam::Pam,
            Self::Aimem | Self::AimemNdjson => &aimem::Aimem,
            Self::Omi | Self::OmiJsonl => &omi::Omi,
            Self::Markdown => &markdown::Markdown,
            Self::Provider(_) => &provider::Providers,
            _ => &neighbour::Neighbours,
        }
    }
}

impl Format {
    /// Returns whether grains can be written in the format.
    pub fn is_written(self) -> bool {
        matches!(self, Self::Mg | Self::Jsonl | Self::Markdown) || self.writer::<Error>().is_some()
    }

    /// Returns the writer of a format; `None` for one that is read only, or is a copy of grains and not
    /// a record of each.
    pub(crate) fn writer<E: From<Error> + Send + 'static>(
        self,
    ) -> Option<&'static dyn FormatWriter<E>> {
        match self {
            Self::Pam => Some(&pam::Pam),
            Self::Aimem | Self::AimemNdjson => Some(&aimem::Aimem),
            Self::Omi | Self::OmiJsonl => Some(&omi::Omi),
            Self::Langgraph | Self::McpMemory | Self::Mem0 | Self::Cogx => {
                Some(&neighbour::Neighbours)
            }
            _ => None,
        }
    }
}

/// Returns whether the owner of the memory that a grain was made from lets it leave the store
/// (PAM 21.1), as far as the record says.
pub(crate) fn is_exportable(grain: &Grain) -> bool {
    READERS.iter().all(|reader| reader.is_exportable(grain))
}

/// Returns whether the record of a grain states who may see it, which nothing here enforces.
pub(crate) fn states_visibility(grain: &Grain) -> bool {
    READERS.iter().any(|reader| reader.states_visibility(grain))
}

/// Returns whether a grain says nothing but that others belong together.
pub(crate) fn is_link(grain: &Grain) -> bool {
    READERS.iter().any(|reader| reader.is_link(grain))
}

/// Returns the vector that the record of a grain carries, with the name of its model.
pub(crate) fn carried_vector(grain: &Grain) -> Option<(String, Vec<f32>)> {
    aimem::vector_of(grain)
}

/// Returns whether a record says what an export of a stored grain says.
pub(crate) fn says_the_same(record: &Grain, stored: &Grain) -> bool {
    if aimem::residual(record).is_some() {
        return aimem::is_export_of(record, stored);
    }
    if markdown::residual(record).is_some() {
        return markdown::is_export_of(record, stored);
    }
    let said = READERS.iter().find_map(|reader| reader.residual(record));
    let said = said.as_ref().and_then(Value::as_map);
    let content = said.and_then(|record| record.get("content")?.as_text());
    content == Some(&embedded_grain::summary_text(stored))
}

/// Returns the addresses that a record has in other stores: an export to a format that cannot carry
/// a grain whole names the grain by its address, in the id of the record or in what was kept of the
/// record when it was converted.
pub(crate) fn exported_addresses(record: &Record) -> impl Iterator<Item = ContentAddress> {
    let own = record.foreign_id.as_ref().map(|id| id.id().to_owned());
    let kept = READERS.iter().flat_map(|reader| {
        let residual = reader.residual(&record.grain);
        let residual = residual.as_ref().and_then(Value::as_map);
        let text = |name: &str| residual?.get(name)?.as_text().map(str::to_owned);
        ["id", "exported"].map(text).into_iter().flatten()
    });
    // `urn:grainstore:ADDRESS`, `urn:aimem:PRODUCER:ADDRESS`.
    let address = |id: String| id.rsplit(':').next()?.parse().ok();
    own.into_iter().chain(kept).filter_map(address)
}
