//! The `.mg` container as one of the formats that can be read.

use std::io::BufReader;

use crate::interchange::format_reader::FormatReader;
use crate::interchange::import_file::ReadResult;
use crate::interchange::io::source_file::{Input, SharedSource};
use crate::interchange::model::record_set::{RecordSource, each_valid};
use crate::interchange::{
    Diagnostics, Error, Format, ImportFile, Place, ReadOptions, Record, RecordSet,
};

use super::Archive;
use super::header::MAGIC;

/// The reader of archives.
pub(crate) struct Mg;

impl FormatReader for Mg {
    fn description(&self) -> &'static str {
        "mg (starts with \"MG\" and 0x01)"
    }

    fn detect_bytes(&self, head: &[u8]) -> Option<Format> {
        head.starts_with(&MAGIC).then_some(Format::Mg)
    }

    fn read(&self, format: Format, input: Input<'_>, _options: &ReadOptions) -> ReadResult {
        let mut source = ArchiveSource(input.buffered()?);
        let mut file = ImportFile::new(format);
        let (len, has_signed) = source.validate(&mut file).unwrap_or_else(|error| {
            file.errors.push(error);
            (0, false)
        });
        file.records = RecordSet::new(source, len, has_signed);
        Ok(file)
    }
}

/// An archive that is opened anew for each reading.
struct ArchiveSource(BufReader<SharedSource>);

impl ArchiveSource {
    /// Reads all grains once; returns how many are valid, and whether any is signed.
    fn validate(&mut self, file: &mut ImportFile) -> Result<(u64, bool), Error> {
        let archive = Archive::open(&mut self.0, super::ReadOptions::default())?;
        file.footer = Some(archive.footer);
        let warnings = archive.warnings().iter().cloned();
        let warnings = warnings.map(|warning| (Place::File, warning));
        file.findings.extend(warnings);
        let mut records = archive.records()?;
        let counted = file.count(&mut records);
        // Ruling I18: a status for a grain that the file does not have says nothing here.
        let mut findings = Diagnostics::default();
        for address in records.unclaimed() {
            let message = format!("the manifest names {address}, which the file does not hold");
            findings.note(Place::File, message);
        }
        file.findings.extend(Vec::from(findings));
        Ok(counted)
    }
}

impl RecordSource for ArchiveSource {
    fn each(&mut self, take: &mut dyn FnMut(Record) -> bool) -> Result<(), Error> {
        let archive = Archive::open(&mut self.0, super::ReadOptions::default())?;
        each_valid(archive.records()?, take)
    }
}
