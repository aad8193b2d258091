//! The exports of providers as formats that can be read.

use crate::interchange::detect::{JsonHead, detect_json};
use crate::interchange::format::{FormatReader, Marker};
use crate::interchange::import_file::ReadResult;
use crate::interchange::io::file_set::FileSet;
use crate::interchange::io::source_file::Input;
use crate::interchange::json::BUFFER_LEN;
use crate::interchange::{Error, Format, ImportFile, ReadOptions, RecordSet};

use super::{Provider, copilot, is_conversation_file, is_page, open};

/// The reader of all exports: the files of each provider have the same names as those of others.
pub(crate) struct Providers;

impl FormatReader for Providers {
    fn description(&self) -> &'static str {
        "exports of ChatGPT, Claude, Gemini, Copilot and Grok"
    }

    fn detect_bytes(&self, head: &[u8]) -> Option<Format> {
        is_copilot(head).then_some(Format::Provider(Provider::Copilot))
    }

    fn markers(&self) -> &'static [Marker] {
        &[
            ("mapping", None),
            ("chat_messages", None),
            ("conversations_memory", None),
            ("project_memories", None),
            ("prompt_template", None),
            ("header", None),
            ("conversations", None),
            ("type", None),
        ]
    }

    fn detect_json(&self, head: &JsonHead) -> Option<Format> {
        let claude = [
            "chat_messages",
            "conversations_memory",
            "project_memories",
            "prompt_template",
        ];
        let provider = match head.is_array {
            true if head.has(&["mapping"]) => Provider::Chatgpt,
            true if head.has(&claude) => Provider::Claude,
            true if head.has(&["header"]) => Provider::Gemini,
            false if head.is_whole && head.has(&["conversations"]) && !head.has(&["type"]) => {
                Provider::Grok
            }
            _ => return None,
        };
        Some(Format::Provider(provider))
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
        let (export, validation) = open(input, provider, options.profile)?;
        let output = validation.output;
        Ok(ImportFile {
            records: RecordSet::new(export, output.len, output.has_signed),
            findings: validation.findings.into(),
            loss: validation.loss,
            ..ImportFile::new(format)
        })
    }
}

/// Returns whether text starts with the header of one of Copilot's tables.
fn is_copilot(head: &[u8]) -> bool {
    let line = head.split(|byte| *byte == b'\n').next();
    line.is_some_and(copilot::is_header)
}

/// More than the first line of a table takes.
const HEAD_LEN: u64 = 4096;
