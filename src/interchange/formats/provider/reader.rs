//! The exports of providers as formats that can be read.

use crate::interchange::format_reader::FormatReader;
use crate::interchange::import_file::ReadResult;
use crate::interchange::io::source_file::Input;
use crate::interchange::model::record_set::RecordSource;
use crate::interchange::{Error, Format, ImportFile, ReadOptions, Record, RecordSet};

use super::Provider;
use super::code;
use super::detect::is_copilot;
use super::export::Export;
use super::parts::{self, exports};

/// The reader of all exports: the files of each provider have the same names as those of others.
pub(crate) struct Providers;

impl FormatReader for Providers {
    fn description(&self) -> &'static str {
        "exports of ChatGPT, Claude, Gemini, Copilot, Grok, DeepSeek and Cursor"
    }

    fn detect_bytes(&self, head: &[u8]) -> Option<Format> {
        is_copilot(head).then_some(Format::Provider(Provider::Copilot))
    }

    fn detect_container(&self, input: Input<'_>) -> Result<Option<Format>, Error> {
        let first = parts::providers(input)?.into_iter().next();
        Ok(first.map(Format::Provider))
    }

    fn read(&self, format: Format, input: Input<'_>, options: &ReadOptions) -> ReadResult {
        read(format, input, options, true)
    }

    fn read_detected(&self, format: Format, input: Input<'_>, options: &ReadOptions) -> ReadResult {
        read(format, input, options, false)
    }
}

fn read(format: Format, input: Input<'_>, options: &ReadOptions, is_only_it: bool) -> ReadResult {
    let mut file = ImportFile::new(format);
    let Format::Provider(wanted) = format else {
        return Ok(file);
    };
    let (found, findings) = exports(input, wanted, is_only_it)?;
    file.findings = findings;
    let (mut open, mut errors) = (Vec::new(), Vec::new());
    let (mut len, mut has_signed, mut warnings) = (0_u64, false, Vec::new());
    for parts in found {
        match Export::open(parts, options) {
            Ok((export, validation)) => {
                open.push(export);
                len = len.saturating_add(validation.output.len);
                warnings.extend(validation.warnings);
                has_signed |= validation.output.has_signed;
                file.findings.extend(Vec::from(validation.findings));
                file.loss.merge(&validation.loss);
            }
            Err(found) => errors.extend(found),
        }
    }
    // Among several exports, one without records keeps no other one out.
    let is_nothing = |error: &Error| error.code() == code::SHAPE;
    if !open.is_empty() && errors.iter().all(is_nothing) {
        file.findings.extend(errors.iter().map(Error::to_finding));
        errors.clear();
    }
    if !errors.is_empty() {
        return Err(errors.into());
    }
    file.records = RecordSet::new(Exports(open), len, has_signed).with_warnings(warnings);
    Ok(file)
}

/// Exports, one after the other.
struct Exports(Vec<Export>);

impl RecordSource for Exports {
    fn each(&mut self, take: &mut dyn FnMut(Record) -> bool) -> Result<(), Error> {
        let mut is_wanted = true;
        for export in &mut self.0 {
            export.each(&mut |record| {
                is_wanted = take(record);
                is_wanted
            })?;
            if !is_wanted {
                break;
            }
        }
        Ok(())
    }
}
