//! The fields of the index.

use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::store::Compressor;
use tantivy::tokenizer::{PreTokenizedString, RawTokenizer, Token, TokenizerManager};
use tantivy::{Index, IndexBuilder, IndexSettings, TantivyDocument, Term};

use crate::text::analysis::language::Language;
use crate::text::analysis::token as analysis;
use crate::text::document::Document;

/// The fields of the index, and the language of texts that name none.
#[derive(Clone)]
pub(in crate::text) struct Fields {
    pub(in crate::text) schema: Schema,
    pub(in crate::text) analyzers: TokenizerManager,
    pub(in crate::text) stems: Field,
    pub(in crate::text) variants: Field,
    pub(in crate::text) languages: Field,
    pub(in crate::text) thread: Field,
    pub(in crate::text) language: Language,
    row: Field,
    order: Field,
    time: Field,
    importance: Field,
}

/// Which terms of words are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::text) enum TermField {
    Stems,
    Variants,
}

impl Fields {
    /// Returns the fields: `stems` has one name per word, `also` the other terms, both with places,
    /// for phrases and to tell the fields of a grain apart; `language` what was fed in another
    /// language than the view's; `row` to say what was found, and indexed so that one row can be
    /// found again; `order` to decide between equal scores; `thread` to find the turns of a
    /// conversation; `time` and `importance` to rank
    /// by. Nothing is stored: the ledger has it.
    pub(in crate::text) fn new(language: Language) -> Self {
        let mut builder = Schema::builder();
        let analyzer = format!("{}-{language}", analysis::NAME);
        let indexed = |option| {
            let indexing = TextFieldIndexing::default().set_tokenizer(&analyzer);
            TextOptions::default().set_indexing_options(indexing.set_index_option(option))
        };
        let placed = indexed(IndexRecordOption::WithFreqsAndPositions);
        let analyzers = TokenizerManager::default();
        // Words come cut: this is only asked for.
        analyzers.register(&analyzer, RawTokenizer::default());
        Self {
            stems: builder.add_text_field("stems", placed.clone()),
            variants: builder.add_text_field("also", placed),
            languages: builder.add_text_field("language", indexed(IndexRecordOption::Basic)),
            row: builder.add_u64_field(ROW, INDEXED | FAST),
            order: builder.add_u64_field(ORDER, FAST),
            thread: builder.add_u64_field(THREAD, INDEXED | FAST),
            time: builder.add_i64_field(TIME, FAST),
            importance: builder.add_f64_field(IMPORTANCE, FAST),
            schema: builder.build(),
            analyzers,
            language,
        }
    }

    /// Returns how to make an index of these fields.
    pub(in crate::text) fn index(&self) -> IndexBuilder {
        // Where nothing is stored there is nothing to compress, least of all in a thread per
        // segment.
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
    pub(in crate::text) fn row_term(&self, row: u64) -> Term {
        Term::from_field_u64(self.row, row)
    }

    /// Returns the term that the turns of a conversation have.
    pub(in crate::text) fn thread_term(&self, thread: u64) -> Term {
        Term::from_field_u64(self.thread, thread)
    }

    /// Returns `document` as the index library takes it.
    pub(in crate::text) fn indexable(&self, row: u64, document: &Document) -> TantivyDocument {
        let terms = document.terms(self.language);
        let mut indexable = TantivyDocument::new();
        indexable.add_u64(self.row, row);
        indexable.add_u64(self.order, document.order);
        indexable.add_u64(self.thread, document.thread);
        indexable.add_i64(self.time, document.time_ms);
        indexable.add_f64(self.importance, document.importance);
        indexable.add_pre_tokenized_text(self.stems, cut(terms.stems));
        indexable.add_pre_tokenized_text(self.variants, cut(terms.variants));
        if let Some(language) = document.language.filter(|of| *of != self.language) {
            indexable.add_text(self.languages, language.code());
        }
        indexable
    }
}

fn cut(terms: Vec<(u32, String)>) -> PreTokenizedString {
    let token = |(position, text): (u32, String)| Token {
        position: position as usize,
        text,
        ..Token::default()
    };
    PreTokenizedString {
        text: String::new(),
        tokens: terms.into_iter().map(token).collect(),
    }
}

/// The name of the field that holds the row.
pub(in crate::text) const ROW: &str = "row";

/// The name of the field that decides between equal scores.
pub(in crate::text) const ORDER: &str = "order";

/// The name of the field that holds the conversation.
pub(in crate::text) const THREAD: &str = "thread";

/// The name of the field that holds the time.
pub(in crate::text) const TIME: &str = "time";

/// The name of the field that holds the importance.
pub(in crate::text) const IMPORTANCE: &str = "importance";
