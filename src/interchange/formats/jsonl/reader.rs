//! JSON lines as one of the formats that can be read.

use std::io::{BufReader, Seek as _};

use crate::interchange::format_reader::FormatReader;
use crate::interchange::import_file::ReadResult;
use crate::interchange::io::source_file::{Input, SharedSource};
use crate::interchange::json_head::{JsonFormat, JsonHead};
use crate::interchange::model::record_set::{RecordSource, each_valid};
use crate::interchange::{Error, Format, ImportFile, ReadOptions, Record, RecordSet};

use super::Reader;

/// How JSON lines are recognised.
pub(in crate::interchange) static JSON: JsonFormat = JsonFormat {
    markers: &[],
    inner: &[],
    detect,
};

fn detect(head: &JsonHead) -> Option<Format> {
    head.is_line.then_some(Format::Jsonl)
}

/// The reader of JSON lines.
pub(crate) struct Jsonl;

impl FormatReader for Jsonl {
    fn description(&self) -> &'static str {
        "jsonl (a JSON object a line)"
    }

    fn read(&self, format: Format, input: Input<'_>, options: &ReadOptions) -> ReadResult {
        let options = ReadOptions {
            decryption: None,
            ..options.clone()
        };
        let mut source = LineSource(input.buffered()?, options);
        let mut file = ImportFile::new(format);
        let (len, has_signed) = file.count(Reader::new(&mut source.0, &source.1));
        file.records = RecordSet::new(source, len, has_signed);
        Ok(file)
    }
}

/// Lines that are read from the first one each time.
struct LineSource(BufReader<SharedSource>, ReadOptions);

impl RecordSource for LineSource {
    fn each(&mut self, take: &mut dyn FnMut(Record) -> bool) -> Result<(), Error> {
        self.0.rewind()?;
        each_valid(Reader::new(&mut self.0, &self.1), take)
    }
}
