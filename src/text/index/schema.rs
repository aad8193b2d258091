//! The tantivy schema of the index, and the values of a document in its columns.
//!
//! The names of fields and of the analyzer are part of the format: an index with another schema is
//! rebuilt.

use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::store::Compressor;
use tantivy::{Index, IndexBuilder, IndexSettings, TantivyDocument, Term};

use crate::ledger::EntryId;
use crate::text::analysis::language::Language;
use crate::text::analysis::token;
use crate::text::document::{Document, Traits};

/// The fields of the index, and the language of texts that do not name one.
#[derive(Clone)]
pub(in crate::text) struct Fields {
    pub(in crate::text) schema: Schema,
    pub(in crate::text) stems: Field,
    pub(in crate::text) variants: Field,
    pub(in crate::text) languages: Field,
    pub(in crate::text) thread: Field,
    pub(in crate::text) language: Language,
    pub(in crate::text) row: Field,
    order: Field,
    time: Field,
    importance: Field,
    traits: Field,
}

/// The field of the index that a term belongs to: one stem per word, or further variants of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::text) enum TermField {
    Stems,
    Variants,
}

impl Fields {
    /// Creates the schema. `stems` holds one term per word and `also` its variants, both with
    /// positions, for phrases and field queries. `language` lists languages other than the default.
    /// `row` identifies a document and is indexed for erasure. `order` breaks ties, `thread` finds
    /// the turns of a conversation, `time`, `importance` and `traits`
    /// rank. No field is stored: the ledger
    /// holds the text.
    pub(in crate::text) fn new(language: Language) -> Self {
        let mut builder = Schema::builder();
        let analyzer = format!("{}-{language}", token::NAME);
        let indexed = |option| {
            let indexing = TextFieldIndexing::default().set_tokenizer(&analyzer);
            TextOptions::default().set_indexing_options(indexing.set_index_option(option))
        };
        let with_positions = indexed(IndexRecordOption::WithFreqsAndPositions);
        Self {
            stems: builder.add_text_field("stems", with_positions.clone()),
            variants: builder.add_text_field("also", with_positions),
            languages: builder.add_text_field("language", indexed(IndexRecordOption::Basic)),
            row: builder.add_u64_field(ROW, INDEXED | FAST),
            order: builder.add_u64_field(ORDER, FAST),
            thread: builder.add_u64_field(THREAD, INDEXED | FAST),
            time: builder.add_i64_field(TIME, FAST),
            importance: builder.add_f64_field(IMPORTANCE, FAST),
            traits: builder.add_u64_field(TRAITS, FAST),
            schema: builder.build(),
            language,
        }
    }

    /// Returns a builder for an index of this schema.
    pub(in crate::text) fn index(&self) -> IndexBuilder {
        // Nothing is stored, so there is nothing to compress, and no thread per segment is needed
        // for it.
        let settings = IndexSettings {
            docstore_compression: Compressor::None,
            docstore_compress_dedicated_thread: false,
            ..IndexSettings::default()
        };
        Index::builder()
            .schema(self.schema.clone())
            .settings(settings)
    }

    /// Returns the term that only the document of this row has.
    pub(in crate::text) fn row_term(&self, row: EntryId) -> Term {
        Term::from_field_u64(self.row, row.get())
    }

    /// Returns the term that all turns of a conversation have.
    pub(in crate::text) fn thread_term(&self, thread: u64) -> Term {
        Term::from_field_u64(self.thread, thread)
    }

    /// Returns the values of a document in the columns of the index.
    pub(in crate::text) fn columns(
        &self,
        row: EntryId,
        document: &Document,
        traits: Traits,
    ) -> TantivyDocument {
        let mut values = TantivyDocument::new();
        values.add_u64(self.row, row.get());
        values.add_u64(self.order, document.order);
        values.add_u64(self.thread, document.thread);
        values.add_i64(self.time, document.time_ms);
        values.add_f64(self.importance, document.importance);
        values.add_u64(self.traits, traits.0);
        values
    }
}

/// The field of the row.
pub(in crate::text) const ROW: &str = "row";

/// The field of the tie-breaker.
pub(in crate::text) const ORDER: &str = "order";

/// The field of the conversation.
pub(in crate::text) const THREAD: &str = "thread";

/// The field of the time.
pub(in crate::text) const TIME: &str = "event_time";

/// The field of the importance.
pub(in crate::text) const IMPORTANCE: &str = "importance";

/// The field of the [`Traits`](crate::text::document::Traits).
pub(in crate::text) const TRAITS: &str = "traits";
