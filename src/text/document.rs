use crate::grain;

use super::analysis::language::Language;
use super::analysis::token as analysis;

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
    pub(in crate::text) language: Option<Language>,
    /// What it was said in, 0 in none.
    pub(in crate::text) thread: u64,
    pub(in crate::text) time_ms: i64,
    pub(in crate::text) importance: f64,
    /// What decides between equal scores.
    pub(in crate::text) order: u64,
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
    pub(in crate::text) fn len_bytes(&self) -> usize {
        self.passages.iter().map(|(_, text)| text.len()).sum()
    }

    /// Returns the terms of its words with their positions, lowest position first: the stems, and what
    /// else finds them.
    pub(in crate::text) fn terms(&self, default: Language) -> DocumentTerms {
        let language = self.language.unwrap_or(default);
        let mut terms = DocumentTerms::default();
        let mut next = [0_u32; FIELDS];
        for (field, text) in &self.passages {
            let Some(from) = next.get_mut(*field as usize) else {
                continue;
            };
            let start = *from;
            for token in analysis::tokens(text, language) {
                let position = start.saturating_add(token.position);
                let position = position.saturating_mul(FIELD_SLOTS).saturating_add(*field);
                terms.stems.push((position, token.terms.stem));
                let variants = token
                    .terms
                    .variants
                    .into_iter()
                    .map(|name| (position, name));
                terms.variants.extend(variants);
                *from = position.saturating_add(PASSAGE_GAP);
            }
        }
        terms.stems.sort_by_key(|(position, _)| *position);
        terms.variants.sort_by_key(|(position, _)| *position);
        terms
    }
}

/// The terms of a document's words, each with its position.
#[derive(Debug, Default)]
pub(in crate::text) struct DocumentTerms {
    pub(in crate::text) stems: Vec<(u32, String)>,
    pub(in crate::text) variants: Vec<(u32, String)>,
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

/// Returns the number of a field of a grain, 0 of one that has none.
pub(in crate::text) fn number_of(field: &str) -> u32 {
    let number = grain::WORDED.iter().position(|name| *name == field);
    let number = number.and_then(|number| u32::try_from(number + 1).ok());
    number.unwrap_or(0)
}

/// Returns the field of a grain that a position is in, as its number.
pub(in crate::text) const fn field_of(position: u32) -> u32 {
    position % FIELD_SLOTS
}

/// Fields that a position can tell apart: a position is a word's position times this, plus its field.
pub(in crate::text) const FIELD_SLOTS: u32 = 64;

const FIELDS: usize = FIELD_SLOTS as usize;

/// How far apart the words of two passages of a field stand.
const PASSAGE_GAP: u32 = 2;
