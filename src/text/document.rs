use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::store::Compressor;
use tantivy::tokenizer::{PreTokenizedString, RawTokenizer, Token, TokenizerManager};
use tantivy::{Index, IndexBuilder, IndexSettings, TantivyDocument, Term};

use crate::grain;

use super::Language;
use super::analysis;

/// What a row says: passages of text, each of a field of the grain, and what ranks it beside its
/// words.
///
/// A phrase is found within a passage, never across two, so the fields of a grain are best passed
/// as one passage each.
///
/// ```
/// use grainstore::text::Document;
///
/// let one = Document::from("prefers green tea");
/// let many = Document::default()
///     .passage("relation", "prefers")
///     .passage("object", "green tea");
/// assert_ne!(one, many);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Document {
    passages: Vec<(u32, String)>,
    /// None is the language of the view.
    pub(super) language: Option<Language>,
    /// What it was said in, 0 in none.
    pub(super) thread: u64,
    pub(super) time_ms: i64,
    pub(super) importance: f64,
    /// What decides between equal scores.
    pub(super) order: u64,
}

impl Document {
    /// Adds what a field of the grain says.
    #[must_use]
    pub fn passage(mut self, field: &str, text: impl Into<String>) -> Self {
        self.passages.push((number_of(field), text.into()));
        self
    }

    /// Says which language it is in, where that is not the language of the view.
    #[must_use]
    pub const fn language(mut self, language: Language) -> Self {
        self.language = Some(language);
        self
    }

    /// Says which conversation it is a turn of; 0 is none.
    #[must_use]
    pub const fn thread(mut self, thread: u64) -> Self {
        self.thread = thread;
        self
    }

    /// Says when it was said, in milliseconds since 1970.
    #[must_use]
    pub const fn time_ms(mut self, time_ms: i64) -> Self {
        self.time_ms = time_ms;
        self
    }

    /// Says how important it is, in [0, 1].
    #[must_use]
    pub const fn importance(mut self, importance: f64) -> Self {
        self.importance = importance;
        self
    }

    /// Says where it stands among others of the same score: lower ones first, then older rows.
    #[must_use]
    pub const fn order(mut self, order: u64) -> Self {
        self.order = order;
        self
    }

    /// Returns the length of the passages together, in bytes.
    pub(super) fn len_bytes(&self) -> usize {
        self.passages.iter().map(|(_, text)| text.len()).sum()
    }

    /// Returns the names of its words with their places, lowest place first: the stems, and what
    /// else finds them.
    pub(super) fn names(&self, default: Language) -> Named {
        let language = self.language.unwrap_or(default);
        let mut named = Named::default();
        let mut next = [0_u32; FIELDS];
        for (field, text) in &self.passages {
            let Some(from) = next.get_mut(*field as usize) else {
                continue;
            };
            let start = *from;
            for token in analysis::tokens(text, language) {
                let position = start.saturating_add(token.position);
                let place = position.saturating_mul(PLACES).saturating_add(*field);
                named.stems.push((place, token.names.stem));
                let also = token.names.also.into_iter().map(|name| (place, name));
                named.also.extend(also);
                *from = position.saturating_add(PASSAGE_GAP);
            }
        }
        named.stems.sort_by_key(|(place, _)| *place);
        named.also.sort_by_key(|(place, _)| *place);
        named
    }
}

/// The names of a document's words, each with its place.
#[derive(Debug, Default)]
pub(super) struct Named {
    pub(super) stems: Vec<(u32, String)>,
    pub(super) also: Vec<(u32, String)>,
}

impl<T: Into<String>> From<T> for Document {
    fn from(passage: T) -> Self {
        Self::default().passage("", passage)
    }
}

impl<T: Into<String>> FromIterator<T> for Document {
    fn from_iter<I: IntoIterator<Item = T>>(passages: I) -> Self {
        let passages = passages.into_iter();
        passages.fold(Self::default(), |document, passage| {
            document.passage("", passage)
        })
    }
}

/// The fields of the index, and the language of texts that name none.
#[derive(Clone)]
pub(super) struct Fields {
    pub(super) schema: Schema,
    pub(super) analyzers: TokenizerManager,
    pub(super) stems: Field,
    pub(super) also: Field,
    pub(super) languages: Field,
    pub(super) thread: Field,
    pub(super) language: Language,
    row: Field,
    order: Field,
    time: Field,
    importance: Field,
}

impl Fields {
    /// Returns the fields: `stems` has one name per word, `also` the other names, both with places,
    /// for phrases and to tell the fields of a grain apart; `language` what was fed in another
    /// language than the view's; `row` to say what was found, and indexed so that one row can be
    /// found again; `order` to decide between equal scores; `thread` to find the turns of a
    /// conversation; `time` and `importance` to rank
    /// by. Nothing is stored: the ledger has it.
    pub(super) fn new(language: Language) -> Self {
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
            also: builder.add_text_field("also", placed),
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
    pub(super) fn index(&self) -> IndexBuilder {
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
    pub(super) fn row_term(&self, row: u64) -> Term {
        Term::from_field_u64(self.row, row)
    }

    /// Returns the term that the turns of a conversation have.
    pub(super) fn thread_term(&self, thread: u64) -> Term {
        Term::from_field_u64(self.thread, thread)
    }

    /// Returns `document` as the index library takes it.
    pub(super) fn indexable(&self, row: u64, document: &Document) -> TantivyDocument {
        let named = document.names(self.language);
        let mut indexable = TantivyDocument::new();
        indexable.add_u64(self.row, row);
        indexable.add_u64(self.order, document.order);
        indexable.add_u64(self.thread, document.thread);
        indexable.add_i64(self.time, document.time_ms);
        indexable.add_f64(self.importance, document.importance);
        indexable.add_pre_tokenized_text(self.stems, cut(named.stems));
        indexable.add_pre_tokenized_text(self.also, cut(named.also));
        if let Some(language) = document.language.filter(|of| *of != self.language) {
            indexable.add_text(self.languages, language.code());
        }
        indexable
    }
}

/// Returns the number of a field of a grain, 0 of one that has none.
pub(super) fn number_of(field: &str) -> u32 {
    let number = grain::SEARCHABLE_FIELDS
        .iter()
        .position(|name| *name == field);
    let number = number.and_then(|number| u32::try_from(number + 1).ok());
    number.unwrap_or(0)
}

fn cut(names: Vec<(u32, String)>) -> PreTokenizedString {
    let token = |(place, text): (u32, String)| Token {
        position: place as usize,
        text,
        ..Token::default()
    };
    PreTokenizedString {
        text: String::new(),
        tokens: names.into_iter().map(token).collect(),
    }
}

/// Returns the field of a grain that a place is in, as its number.
pub(super) const fn field_of(place: u32) -> u32 {
    place % PLACES
}

/// Fields that a place can tell apart: a place is a word's position times this, plus its field.
pub(super) const PLACES: u32 = 64;

const FIELDS: usize = PLACES as usize;

/// How far apart the words of two passages of a field stand.
const PASSAGE_GAP: u32 = 2;

/// The name of the field that holds the row.
pub(super) const ROW: &str = "row";

/// The name of the field that decides between equal scores.
pub(super) const ORDER: &str = "order";

/// The name of the field that holds the conversation.
pub(super) const THREAD: &str = "thread";

/// The name of the field that holds the time.
pub(super) const TIME: &str = "time";

/// The name of the field that holds the importance.
pub(super) const IMPORTANCE: &str = "importance";
