//! `Document`: the text of one ledger row, with the values that rank it.
//!
//! It encodes the position of each term together with the grain field that contains it, for phrase
//! and field queries. It is never stored; the ledger holds the text.

use std::rc::Rc;

use crate::grain;

use super::analysis::language::Language;
use super::analysis::token::{TermCache, Terms};

/// The text of a row: passages, each belonging to a field of the grain, and the values that rank
/// the row besides its words.
///
/// A phrase matches within one passage and never across two, so the text of one field should be one
/// passage.
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
    /// `None`: the default language of the view.
    pub(in crate::text) language: Option<Language>,
    /// The conversation that it belongs to; 0 for none.
    pub(in crate::text) thread: u64,
    pub(in crate::text) time_ms: i64,
    pub(in crate::text) importance: f64,
    /// The tie-breaker between equal scores.
    pub(in crate::text) order: u64,
}

impl Document {
    /// Adds the text of a field of the grain.
    #[must_use]
    pub fn passage(mut self, field: &str, text: impl Into<String>) -> Self {
        self.passages.push((number_of(field), text.into()));
        self
    }

    /// Sets the language, if it is not the default language of the view.
    #[must_use]
    pub const fn language(mut self, language: Language) -> Self {
        self.language = Some(language);
        self
    }

    /// Sets the conversation that this is a turn of; 0 is none.
    #[must_use]
    pub const fn thread(mut self, thread: u64) -> Self {
        self.thread = thread;
        self
    }

    /// Sets when it was said, in milliseconds since 1970.
    #[must_use]
    pub const fn time_ms(mut self, time_ms: i64) -> Self {
        self.time_ms = time_ms;
        self
    }

    /// Sets its importance, in [0, 1].
    #[must_use]
    pub const fn importance(mut self, importance: f64) -> Self {
        self.importance = importance;
        self
    }

    /// Sets the tie-breaker between equal scores: lower values rank first, then older rows.
    #[must_use]
    pub const fn order(mut self, order: u64) -> Self {
        self.order = order;
        self
    }

    /// Returns the total length of the passages, in bytes.
    pub(in crate::text) fn len_bytes(&self) -> usize {
        self.passages.iter().map(|(_, text)| text.len()).sum()
    }

    /// Returns the terms of its words, each with its position, in the order of positions.
    pub(in crate::text) fn terms(
        &self,
        default: Language,
        cache: &mut TermCache,
    ) -> Vec<(u32, Rc<Terms>)> {
        let language = self.language.unwrap_or(default);
        let mut terms = Vec::new();
        let mut next = [0_u32; FIELDS];
        for (field, text) in &self.passages {
            let Some(from) = next.get_mut(*field as usize) else {
                continue;
            };
            let start = *from;
            for token in cache.tokens(text, language) {
                let position = start.saturating_add(token.position);
                let position = position.saturating_mul(FIELD_SLOTS).saturating_add(*field);
                terms.push((position, token.terms));
                *from = position.saturating_add(PASSAGE_GAP);
            }
        }
        terms.sort_by_key(|(position, _)| *position);
        terms
    }
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

/// Returns the number of a grain field; 0 for a field without one.
pub(in crate::text) fn number_of(field: &str) -> u32 {
    let number = grain::SEARCHABLE_FIELDS
        .iter()
        .position(|name| *name == field);
    let number = number.and_then(|number| u32::try_from(number + 1).ok());
    number.unwrap_or(0)
}

/// Returns the number of the grain field that a position belongs to.
pub(in crate::text) const fn field_of(position: u32) -> u32 {
    position % FIELD_SLOTS
}

/// The number of fields that a position can encode: position = word position × `FIELD_SLOTS` +
/// field number.
pub(in crate::text) const FIELD_SLOTS: u32 = 64;

const FIELDS: usize = FIELD_SLOTS as usize;

/// The gap between the word positions of two passages of one field.
const PASSAGE_GAP: u32 = 2;
