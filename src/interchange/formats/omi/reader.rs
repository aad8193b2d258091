//! OMI-AI as one of the formats that can be read.

use crate::codec::Value;
use crate::grain::Grain;
use crate::interchange::format_reader::FormatReader;
use crate::interchange::import_file::ReadResult;
use crate::interchange::io::source_file::Input;
use crate::interchange::json_head::{JsonFormat, JsonHead};
use crate::interchange::merge_rule::MergeRule;
use crate::interchange::{Format, ImportFile, ReadOptions, RecordSet};

use super::open;
use super::residual::{inherited, is_relation, residual};
use super::validate::FORMAT;

/// How documents and streams are recognised.
pub(in crate::interchange) static JSON: JsonFormat = JsonFormat {
    markers: &[
        ("format", Some(FORMAT)),
        ("serialization", Some("jsonl")),
        ("chunks", None),
        ("memories", None),
    ],
    inner: &[],
    detect,
};

fn detect(head: &JsonHead) -> Option<Format> {
    let has_records = head.has(&["chunks", "memories"]);
    // A document that lacks its records is one all the same: the rule that it breaks is reported.
    let is_stream = (!has_records && head.is_line) || head.says("serialization", &["jsonl"]);
    let is_omi = head.is_whole && head.says("format", &[FORMAT]);
    is_omi.then_some(if is_stream {
        Format::OmiJsonl
    } else {
        Format::Omi
    })
}

/// The reader of documents and streams.
pub(crate) struct Omi;

impl FormatReader for Omi {
    fn description(&self) -> &'static str {
        "omi (a JSON object with \"format\": \"open-memory-interchange\")"
    }

    fn serializations(&self) -> &'static [Format] {
        &[Format::Omi, Format::OmiJsonl]
    }

    fn read(&self, format: Format, input: Input<'_>, options: &ReadOptions) -> ReadResult {
        let is_lines = format == Format::OmiJsonl;
        let (document, validation) = open(input.buffered()?, is_lines, options)?;
        Ok(ImportFile {
            // Whole grains inside may be signed.
            records: RecordSet::new(document, validation.records, true),
            errors: validation.errors,
            findings: validation.findings.into(),
            ..ImportFile::new(format)
        })
    }

    fn residual(&self, grain: &Grain) -> Option<Value> {
        residual(grain)
    }

    fn inherited(&self, grain: &Grain) -> Option<Value> {
        let inherited = inherited(grain);
        (!inherited.is_empty()).then_some(Value::Map(inherited))
    }

    fn is_link(&self, grain: &Grain) -> bool {
        is_relation(grain)
    }

    /// The importer must not choose between two records of one id (OMI 13.3).
    fn merge_rule(&self, _id_format: &str) -> MergeRule {
        MergeRule::Conflict
    }
}
