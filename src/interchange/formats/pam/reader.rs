//! Portable AI Memory as one of the formats that can be read: stores, and files without their store.

use crate::codec::Value;
use crate::grain::Grain;
use crate::interchange::format_reader::FormatReader;
use crate::interchange::import_file::ReadResult;
use crate::interchange::io::source_file::{Input, SourceFile};
use crate::interchange::merge_rule::MergeRule;
use crate::interchange::{
    Diagnostics, Error, ForeignVectors, Format, ImportFile, ReadOptions, RecordSet,
};

use super::files::archive::is_packed;
use super::files::storage::locate;
use super::names::{EXPORT, SERIALIZATIONS};
use super::open::{Import, open};
use super::read::standalone::{open_embeddings, read_conversation};
use super::types::residual;

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
        let file = ImportFile::new(format);
        if format == Format::Pam {
            let (store, validation) = open(input, options)?;
            let output = validation.output;
            return Ok(ImportFile {
                records: RecordSet::new(store, output.len, output.has_signed),
                findings: validation.findings.into(),
                loss: validation.loss,
                base: validation.base,
                signature: validation.signature,
                vectors: validation
                    .vectors
                    .map(ForeignVectors::new)
                    .unwrap_or_default(),
                ..file
            });
        }
        let source = SourceFile::Whole(input.open()?);
        let (vectors, import) = if format == Format::PamConversation {
            (None, read_conversation(&source.bytes()?, options)?)
        } else {
            let (vectors, import) = open_embeddings(source, options)?;
            (Some(vectors), import)
        };
        let Import {
            records,
            findings: list,
            unlisted: more,
            loss,
            ..
        } = import;
        Ok(ImportFile {
            records: records.into(),
            findings: Diagnostics { list, more }.into(),
            loss,
            vectors: vectors.map(ForeignVectors::new).unwrap_or_default(),
            ..file
        })
    }

    fn residual(&self, grain: &Grain) -> Option<Value> {
        residual::residual(grain)
    }

    fn inherited(&self, grain: &Grain) -> Option<Value> {
        residual::conversation_residual(grain)
    }

    fn is_link(&self, grain: &Grain) -> bool {
        residual::is_relation(grain)
    }

    fn is_exportable(&self, grain: &Grain) -> bool {
        residual::is_exportable(grain)
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
