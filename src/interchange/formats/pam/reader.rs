//! Portable AI Memory as one of the formats that can be read: stores, and files without their store.

use crate::codec::Value;
use crate::grain::Grain;
use crate::interchange::detect::JsonHead;
use crate::interchange::format::{FormatReader, Marker};
use crate::interchange::import_file::ReadResult;
use crate::interchange::io::source_file::{Input, SourceFile};
use crate::interchange::merge::MergeRule;
use crate::interchange::{Diagnostics, Error, Format, ImportFile, ReadOptions, RecordSet};

use super::files::archive::is_packed;
use super::files::storage::locate;
use super::read::standalone::{open_embeddings, read_conversation};
use super::types::residual;
use super::{CONVERSATION, EMBEDDINGS_SCHEMA, EXPORT, Import, SCHEMA, open};

/// The reader of stores, and of conversations and embeddings without one.
pub(crate) struct Pam;

impl FormatReader for Pam {
    fn description(&self) -> &'static str {
        "pam (a JSON object with \"schema\": \"portable-ai-memory\", or a directory that holds one), \
         pam-conversation and pam-embeddings (its files without it)"
    }

    fn serializations(&self) -> &'static [Format] {
        &[Format::Pam, Format::PamConversation, Format::PamEmbeddings]
    }

    fn markers(&self) -> &'static [Marker] {
        &[
            ("schema", Some(SCHEMA)),
            ("schema", Some(CONVERSATION)),
            ("schema", Some(EMBEDDINGS_SCHEMA)),
        ]
    }

    fn detect_json(&self, head: &JsonHead) -> Option<Format> {
        let schemas = [SCHEMA, CONVERSATION, EMBEDDINGS_SCHEMA];
        let formats = schemas.into_iter().zip(self.serializations());
        let mut found = formats.filter(|(schema, _)| head.says("schema", &[schema]));
        found.next().map(|(_, format)| *format)
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
                vectors: validation.vectors.into(),
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
            vectors: vectors.into(),
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
