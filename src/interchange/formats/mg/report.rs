//! The report about an archive: everything in it is validated, and nothing is stored.

use std::io::{Read, Seek};

use crate::codec::Compression;
use crate::crypto::{self, Offline, verify_signature};

use super::archive::{Archive, ReadOptions};
use crate::interchange::{Error, Record};

/// The content of a file and its flaws.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// Grains that are valid.
    pub grains: u64,
    /// Grains that are refused.
    pub refused: u64,
    /// The length of the file.
    pub bytes: u64,
    /// How its grains are compressed.
    pub compression: Compression,
    /// Grains that its manifest gives a status.
    pub manifest_entries: usize,
    /// Warnings, which refuse nothing; at most 1000.
    pub warnings: Vec<String>,
    /// Errors, at most 1000: a file without any is valid.
    pub findings: Vec<Error>,
}

impl<R: Read + Seek> Archive<R> {
    /// Reads a whole file, and validates it and every grain in it.
    pub fn verify(source: R, options: ReadOptions) -> Report {
        let mut report = Report::default();
        let result = Self::open(source, options).and_then(|archive| archive.validate(&mut report));
        if let Err(error) = result {
            report.find(error);
        }
        report
    }

    fn validate(&self, report: &mut Report) -> Result<(), Error> {
        report.bytes = self.len_bytes();
        report.compression = self.compression();
        report.manifest_entries = self.manifest_entries();
        report.warnings.extend_from_slice(self.warnings());
        let mut records = self.records()?;
        for record in &mut records {
            match record {
                Ok(record) => {
                    report.grains = report.grains.saturating_add(1);
                    check_signature(&record, report);
                    for warning in record.warnings {
                        report.warn(format!("{}: {warning}", record.place));
                    }
                }
                Err(error) => {
                    report.refused = report.refused.saturating_add(1);
                    report.find(error);
                }
            }
        }
        for address in records.unclaimed().take(LIST_LEN_MAX) {
            report.warn(format!("manifest: {address} is not in the file"));
        }
        Ok(())
    }
}

/// A signature that cannot be checked here is a warning; an invalid one is an error.
fn check_signature(record: &Record, report: &mut Report) {
    if !record.grain.is_signed() {
        return;
    }
    match verify_signature(&record.grain, &Offline) {
        Ok(_) => {}
        Err(error @ crypto::Error::Unresolved { .. }) => {
            report.warn(format!("{}: {error}", record.place));
        }
        Err(source) => report.find(Error::Signature {
            place: record.place.clone(),
            source,
        }),
    }
}

impl Report {
    /// Returns whether nothing is wrong.
    pub const fn is_valid(&self) -> bool {
        self.findings.is_empty()
    }

    fn find(&mut self, error: Error) {
        if self.findings.len() < LIST_LEN_MAX {
            self.findings.push(error);
        }
    }

    fn warn(&mut self, warning: String) {
        if self.warnings.len() < LIST_LEN_MAX {
            self.warnings.push(warning);
        }
    }
}

/// A file can have a hundred million errors.
const LIST_LEN_MAX: usize = 1000;
