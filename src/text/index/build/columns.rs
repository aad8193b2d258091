//! The columns of a segment, and the lengths of its documents: a value of each for every document. The
//! store of documents has none.

use tantivy::TantivyError;
use tantivy::columnar::{ColumnType, ColumnarWriter};
use tantivy::directory::TerminatingWrite;
use tantivy::fieldnorm::{FieldNormReaders, FieldNormsSerializer};
use tantivy::index::{Segment, SegmentComponent};
use tantivy::store::StoreWriter;

use super::term_files::Lengths;
use crate::ledger::EntryId;
use crate::text::document::{Document, Traits};
use crate::text::index::schema::{Fields, IMPORTANCE, ORDER, ROW, THREAD, TIME, TRAITS};

/// The columns of the documents that were added so far.
pub(super) struct Columns {
    writer: ColumnarWriter,
    documents: u32,
}

impl Default for Columns {
    fn default() -> Self {
        let mut writer = ColumnarWriter::default();
        for (name, of) in COLUMNS {
            writer.record_column_type(name, of, false);
        }
        Self {
            writer,
            documents: 0,
        }
    }
}

impl Columns {
    /// Returns the number of documents.
    pub(super) const fn len(&self) -> u32 {
        self.documents
    }

    /// Returns the memory that they take, in bytes.
    pub(super) fn len_bytes(&self) -> usize {
        self.writer.mem_usage()
    }

    pub(super) fn add(&mut self, row: EntryId, document: &Document, traits: Traits) {
        let (at, writer) = (self.documents, &mut self.writer);
        writer.record_numerical(at, ROW, row.get());
        writer.record_numerical(at, ORDER, document.order);
        writer.record_numerical(at, THREAD, document.thread);
        writer.record_numerical(at, TIME, document.time_ms);
        writer.record_numerical(at, IMPORTANCE, document.importance);
        writer.record_numerical(at, TRAITS, traits.0);
        self.documents += 1;
    }

    pub(super) fn write(mut self, segment: &Segment) -> tantivy::Result<()> {
        let mut file = segment.open_write(SegmentComponent::FastFields)?;
        self.writer.serialize(self.documents, None, &mut file)?;
        Ok(file.terminate()?)
    }
}

/// Writes the lengths of documents in stems, each quantized, and returns them as they are read.
pub(super) fn write_lengths(
    segment: &Segment,
    fields: &Fields,
    lengths: &[u8],
    words: u64,
) -> tantivy::Result<Lengths> {
    let file = segment.open_write(SegmentComponent::FieldNorms)?;
    let mut file = FieldNormsSerializer::from_write(file)?;
    file.serialize_field(fields.stems, lengths)?;
    file.close()?;
    let written = FieldNormReaders::open(segment.open_read(SegmentComponent::FieldNorms)?)?;
    let written = written.get_field(fields.stems)?;
    let none = || TantivyError::InternalError("no lengths were written".to_owned());
    Ok(Lengths {
        of_documents: written.ok_or_else(none)?,
        words,
    })
}

/// Writes a store without documents, which the library looks for when it opens a segment: the ledger has
/// the text.
pub(super) fn write_no_documents(segment: &Segment) -> tantivy::Result<()> {
    let file = segment.open_write(SegmentComponent::Store)?;
    let settings = segment.index().settings();
    let store = StoreWriter::new(
        file,
        settings.docstore_compression,
        settings.docstore_blocksize,
        settings.docstore_compress_dedicated_thread,
    )?;
    Ok(store.close()?)
}

/// The type of each column, as the schema has it.
pub(super) const COLUMNS: [(&str, ColumnType); 6] = [
    (ROW, ColumnType::U64),
    (ORDER, ColumnType::U64),
    (THREAD, ColumnType::U64),
    (TIME, ColumnType::I64),
    (IMPORTANCE, ColumnType::F64),
    (TRAITS, ColumnType::U64),
];
