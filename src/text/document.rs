use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::store::Compressor;
use tantivy::tokenizer::TokenizerManager;
use tantivy::{Index, IndexBuilder, IndexSettings, TantivyDocument, Term};

use super::analysis;

/// What a row says: passages, each with an order of words of its own.
///
/// A phrase is found within a passage, never across two, so the fields of a grain are best passed
/// as one passage each.
///
/// ```
/// use grainstore::text::Document;
///
/// let one = Document::from("prefers green tea");
/// let many: Document = ["prefers", "green tea"].into_iter().collect();
/// assert_ne!(one, many);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Document {
    text: Vec<String>,
}

impl Document {
    /// Returns the length of the passages together, in bytes.
    pub(super) fn len_bytes(&self) -> usize {
        self.text.iter().map(String::len).sum()
    }
}

impl<T: Into<String>> From<T> for Document {
    fn from(passage: T) -> Self {
        Self {
            text: vec![passage.into()],
        }
    }
}

impl<T: Into<String>> FromIterator<T> for Document {
    fn from_iter<I: IntoIterator<Item = T>>(passages: I) -> Self {
        Self {
            text: passages.into_iter().map(Into::into).collect(),
        }
    }
}

/// The fields of the index.
#[derive(Clone)]
pub(super) struct Fields {
    pub(super) schema: Schema,
    pub(super) text: Field,
    pub(super) analyzers: TokenizerManager,
    row: Field,
}

impl Fields {
    /// Returns the fields: `text` with positions, for phrases; `row` to say what was found, and
    /// indexed so that one row can be found again. Nothing is stored: the ledger has it.
    pub(super) fn new() -> Self {
        let mut builder = Schema::builder();
        let indexing = TextFieldIndexing::default()
            .set_tokenizer(analysis::NAME)
            .set_index_option(IndexRecordOption::WithFreqsAndPositions);
        let text = builder.add_text_field(
            "text",
            TextOptions::default().set_indexing_options(indexing),
        );
        let row = builder.add_u64_field(ROW, INDEXED | FAST);
        Self {
            schema: builder.build(),
            text,
            row,
            analyzers: analysis::analyzers(),
        }
    }

    /// Returns how to make an index of these fields.
    pub(super) fn index(&self) -> IndexBuilder {
        // Where nothing is stored there is nothing to compress, least of all in a thread per
        // segment: a search would start one for each new row.
        let settings = IndexSettings {
            docstore_compression: Compressor::None,
            docstore_compress_dedicated_thread: false,
            ..IndexSettings::default()
        };
        Index::builder()
            .schema(self.schema.clone())
            .settings(settings)
            .tokenizers(self.analyzers.clone())
    }

    /// Returns the term that only the document of this row has.
    pub(super) fn row_term(&self, row: u64) -> Term {
        Term::from_field_u64(self.row, row)
    }

    /// Returns `document` as the index library takes it.
    pub(super) fn indexable(&self, row: u64, document: &Document) -> TantivyDocument {
        let mut indexable = TantivyDocument::new();
        indexable.add_u64(self.row, row);
        for passage in &document.text {
            indexable.add_text(self.text, passage);
        }
        indexable
    }
}

/// The name of the field that holds the row.
pub(super) const ROW: &str = "row";
