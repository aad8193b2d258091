//! The tantivy schema of the index.
//!
//! The names of fields and of the analyzer are part of the format: an index with another schema is
//! rebuilt.

use tantivy::schema::{
    FAST, Field, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::store::Compressor;
use tantivy::{Index, IndexBuilder, IndexSettings, Term};

use crate::text::analysis::language::Language;
use crate::text::analysis::token;

/// The fields of the index, and the language of texts that do not name one.
#[derive(Clone)]
pub(in crate::text) struct Fields {
    pub(in crate::text) schema: Schema,
    pub(in crate::text) stems: Field,
    pub(in crate::text) variants: Field,
    pub(in crate::text) languages: Field,
    pub(in crate::text) thread: Field,
    pub(in crate::text) language: Language,
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
    /// `row` identifies a document: the rows of a segment ascend. `order` breaks ties, `thread` finds
    /// the turns of a conversation, `time`, `importance` and `traits` rank. Only stems have lengths:
    /// a document is as long as it has words. No field is stored: the ledger holds the text.
    pub(in crate::text) fn new(language: Language) -> Self {
        let mut builder = Schema::builder();
        let analyzer = format!("{}-{language}", token::NAME);
        let indexed = |option, has_lengths| {
            let indexing = TextFieldIndexing::default().set_tokenizer(&analyzer);
            let indexing = indexing.set_index_option(option);
            TextOptions::default().set_indexing_options(indexing.set_fieldnorms(has_lengths))
        };
        let with_positions = IndexRecordOption::WithFreqsAndPositions;
        let stems = builder.add_text_field("stems", indexed(with_positions, true));
        let variants = builder.add_text_field("also", indexed(with_positions, false));
        let without = indexed(IndexRecordOption::Basic, false);
        let languages = builder.add_text_field("language", without);
        builder.add_u64_field(ROW, FAST);
        builder.add_u64_field(ORDER, FAST);
        let in_both = NumericOptions::default().set_indexed().set_fast();
        let thread = builder.add_u64_field(THREAD, in_both);
        builder.add_i64_field(TIME, FAST);
        builder.add_f64_field(IMPORTANCE, FAST);
        builder.add_u64_field(TRAITS, FAST);
        Self {
            stems,
            variants,
            languages,
            thread,
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

    /// Returns the term that all turns of a conversation have.
    pub(in crate::text) fn thread_term(&self, thread: u64) -> Term {
        Term::from_field_u64(self.thread, thread)
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
