//! Portable AI Memory as one of the formats that can be read: stores, and files without their store.

use crate::codec::Value;
use crate::grain::{Grain, Status};
use crate::interchange::format_reader::FormatReader;
use crate::interchange::import_file::ReadResult;
use crate::interchange::io::source_file::{Input, SourceFile};
use crate::interchange::merge_rule::MergeRule;
use crate::interchange::{Error, ForeignVectors, Format, ImportFile, ReadOptions, RecordSet};

use super::files::archive::is_packed;
use super::files::storage::locate;
use super::names::{EXPORT, SERIALIZATIONS};
use super::open::open;
use super::read::standalone::{read_conversation, read_embeddings};
use super::types::residual;
use super::write::exported_form::is_export_of;

/// The reader of stores, and of conversations and embeddings without one.
pub(crate) struct Pam;

impl FormatReader for Pam {
    fn description(&self) -> &'static str {
        "pam (a JSON object with \"schema\": \"portable-ai-memory\", or a directory that holds one), \
         pam-conversation and pam-embeddings (its files without it)"
    }

    fn serializations(&self) -> &'static [Format] {
        &SERIALIZATIONS
    }

    fn detect_container(&self, input: Input<'_>) -> Result<Option<Format>, Error> {
        let is_store = match input {
            Input::Path(path) if path.is_dir() => locate(path)?.is_some(),
            input => is_packed(input)?,
        };
        Ok(is_store.then_some(Format::Pam))
    }

    fn read(&self, format: Format, input: Input<'_>, options: &ReadOptions) -> ReadResult {
        if format != Format::Pam {
            let source = SourceFile::Whole(input.open()?);
            return match format {
                Format::PamConversation => read_conversation(&source.bytes()?, options),
                _ => read_embeddings(source, options),
            };
        }
        let (store, validation) = open(input, options)?;
        let output = validation.output;
        let vectors = validation.vectors.map(ForeignVectors::new);
        Ok(ImportFile {
            records: RecordSet::new(store, output.len, output.has_signed)
                .with_warnings(validation.warnings),
            errors: validation.errors,
            findings: validation.findings.into(),
            loss: validation.loss,
            base: validation.base,
            signature: validation.signature,
            vectors: vectors.unwrap_or_default(),
            ..ImportFile::new(format)
        })
    }

    fn residual(&self, grain: &Grain) -> Option<Value> {
        residual::residual(grain)
    }

    fn inherited(&self, grain: &Grain) -> Option<Value> {
        residual::conversation_residual(grain)
    }

    fn is_export_of(&self, record: &Grain, stored: &Grain, status: &Status) -> bool {
        is_export_of(record, stored, status)
    }

    fn is_link(&self, grain: &Grain) -> bool {
        residual::is_relation(grain)
    }

    fn is_exportable(&self, grain: &Grain) -> bool {
        residual::is_exportable(grain)
    }

    fn states_visibility(&self, grain: &Grain) -> bool {
        residual::states_visibility(grain)
    }

    fn is_ended(&self, grain: &Grain) -> bool {
        residual::is_ended(grain)
    }

    fn merge_rule(&self, id_format: &str) -> MergeRule {
        match id_format {
            // An export is known by its id, and replaces no other.
            EXPORT => MergeRule::Beside,
            _ => MergeRule::default(),
        }
    }
}
