//! AIMEM as one of the formats that can be read, with the signature beside a bundle.

use std::fs::File;
use std::path::Path;

use crate::codec::Value;
use crate::grain::Grain;
use crate::interchange::format_reader::FormatReader;
use crate::interchange::import_file::ReadResult;
use crate::interchange::io::source_file::{Input, up_to};
use crate::interchange::json_head::{JsonFormat, JsonHead};
use crate::interchange::merge_rule::MergeRule;
use crate::interchange::{
    Error, Format, ImportFile, Merge, Place, ReadOptions, RecordSet, Signature,
};

use super::envelope::FORMATS;
use super::open;
use super::residual::{is_link, residual};
use super::signature::{signature_paths, verify_source};

/// How bundles are recognised.
pub(in crate::interchange) static JSON: JsonFormat = JsonFormat {
    markers: &[
        ("format", Some(FORMATS[0])),
        ("format", Some(FORMATS[1])),
        ("chunks", None),
        ("memories", None),
    ],
    inner: &[],
    detect,
};

fn detect(head: &JsonHead) -> Option<Format> {
    let has_records = head.has(&["chunks", "memories"]);
    let is_bundle = head.is_whole && head.says("format", &FORMATS);
    // A document that lacks its records is one all the same: the rule that it breaks is reported.
    is_bundle.then_some(if has_records || !head.is_line {
        Format::Aimem
    } else {
        Format::AimemNdjson
    })
}

/// The reader of bundles.
pub(crate) struct Aimem;

impl FormatReader for Aimem {
    fn description(&self) -> &'static str {
        "aimem (a JSON object with \"format\": \"aimem-bundle\")"
    }

    fn serializations(&self) -> &'static [Format] {
        &[Format::Aimem, Format::AimemNdjson]
    }

    fn read(&self, format: Format, input: Input<'_>, options: &ReadOptions) -> ReadResult {
        let is_stream = format == Format::AimemNdjson;
        let mut file = ImportFile::new(format);
        match open(input.buffered()?, is_stream, options.profile) {
            Ok((bundle, validation)) => {
                file.findings = validation.findings.into();
                file.records = RecordSet::new(bundle, validation.records, false);
            }
            Err(errors) => file.errors = errors,
        }
        if let Input::Path(path) = input {
            check_signature(&mut file, path, options)?;
        }
        Ok(file)
    }

    /// Without its vector, which a bundle may leave out: it is no part of what a record says.
    fn residual(&self, grain: &Grain) -> Option<Value> {
        let mut record = residual(grain)?;
        if let Value::Map(map) = &mut record {
            map.remove("embedding");
        }
        Some(record)
    }

    fn is_link(&self, grain: &Grain) -> bool {
        is_link(grain)
    }

    fn merge_rule(&self, id_format: &str) -> MergeRule {
        MergeRule::Newest {
            if_ended: Merge::Reject,
            // AIMEM 2.9 rejects a chunk of the same time that differs; it leaves open what a newer
            // one does, which is documented (docs/interchange.md). Links have no such rule.
            if_equal: match id_format {
                "aimem" => Merge::Reject,
                _ => Merge::Update,
            },
        }
    }
}

/// More than any envelope takes, in bytes.
const SIGNATURE_LEN_MAX: usize = 1024 * 1024;

/// Checks the signature beside a bundle (AIMEM 5.3); one that does not verify refuses the bundle.
fn check_signature(file: &mut ImportFile, path: &Path, options: &ReadOptions) -> Result<(), Error> {
    let Some(beside) = signature_paths(path).find(|path| path.is_file()) else {
        file.signature = Some(Signature::Absent);
        return Ok(());
    };
    if options.skip_signature {
        file.signature = Some(Signature::Skipped);
        return Ok(());
    }
    let signature = up_to(File::open(&beside)?, SIGNATURE_LEN_MAX, "a signature")?;
    match verify_source(Input::Path(path).buffered()?, file.format, &signature) {
        Ok(signer) => {
            file.signature = Some(Signature::Valid);
            let message = format!("signed by {}", signer.did);
            file.findings.push((Place::File, message));
        }
        Err(error) => {
            file.signature = Some(Signature::Invalid);
            file.records = RecordSet::default();
            file.errors.push(error);
        }
    }
    Ok(())
}
