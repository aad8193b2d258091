//! The exports of providers as formats that can be read.

use crate::interchange::detect_json::detect_json;
use crate::interchange::format_reader::FormatReader;
use crate::interchange::import_file::ReadResult;
use crate::interchange::io::file_set::FileSet;
use crate::interchange::io::source_file::Input;
use crate::interchange::json::BUFFER_LEN;
use crate::interchange::{Error, Format, ImportFile, ReadOptions, RecordSet};

use super::detect::{is_conversation_file, is_copilot, is_page};
use super::{Provider, open};

/// The reader of all exports: the files of each provider have the same names as those of others.
pub(crate) struct Providers;

impl FormatReader for Providers {
    fn description(&self) -> &'static str {
        "exports of ChatGPT, Claude, Gemini, Copilot and Grok"
    }

    fn detect_bytes(&self, head: &[u8]) -> Option<Format> {
        is_copilot(head).then_some(Format::Provider(Provider::Copilot))
    }

    fn detect_container(&self, input: Input<'_>) -> Result<Option<Format>, Error> {
        for file in FileSet::list(input, is_conversation_file)?.each() {
            let (name, file) = file?;
            let found = file.read(BUFFER_LEN, |input| detect_json(input));
            let found = found.and_then(|found| Ok((found?, file.head(HEAD_LEN)?)));
            let (found, head) = found.map_err(|source| file.error(name, source))?;
            match found {
                Some(Format::Provider(_)) => return Ok(found),
                _ if is_copilot(&head) => return Ok(Some(Format::Provider(Provider::Copilot))),
                _ if is_page(&head) => return Ok(Some(Format::Provider(Provider::Gemini))),
                _ => {}
            }
        }
        Ok(None)
    }

    fn read(&self, format: Format, input: Input<'_>, options: &ReadOptions) -> ReadResult {
        let Format::Provider(provider) = format else {
            return Ok(ImportFile::new(format));
        };
        let (export, validation) = open(input, provider, options)?;
        let output = validation.output;
        Ok(ImportFile {
            records: RecordSet::new(export, output.len, output.has_signed),
            findings: validation.findings.into(),
            loss: validation.loss,
            ..ImportFile::new(format)
        })
    }
}

/// More than the first line of a table takes.
const HEAD_LEN: u64 = 4096;
