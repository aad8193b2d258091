//! `Document`: the text of one ledger row, with the values that rank it.
//!
//! It encodes the position of each term together with the grain field that contains it, for phrase
//! and field queries. It is never stored; the ledger holds the text.

use std::rc::Rc;

use crate::grain;
use crate::render::LineShape;

use super::analysis::chunk;
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
    voice: Voice,
    shape: LineShape,
    is_open: bool,
}

/// The one who says a turn of a conversation, as far as its ranking needs it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Voice {
    is_person: bool,
    /// The hash of the first word of the name; 0 of one without a name.
    speaker: u32,
}

impl Document {
    /// Adds the text of a field of the grain. Where no language is set, one that its letters tell is.
    #[must_use]
    pub fn passage(mut self, field: &str, text: impl Into<String>) -> Self {
        let text = text.into();
        self.language = self.language.or_else(|| Language::of_letters(&text));
        self.passages.push((number_of(field), text));
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

    /// Sets who said it: the role, and the name of the speaker.
    #[must_use]
    pub fn said_by(mut self, role: Option<&str>, speaker: Option<&str>) -> Self {
        let name = speaker.and_then(|name| chunk::chunks(name).next());
        let name = name.and_then(|mut name| name.parts.drain(..).next());
        self.voice = Voice {
            is_person: role.map_or(speaker.is_some(), |role| role == "user"),
            speaker: name.map_or(0, |name| hash_of_name(&name.folded())),
        };
        self
    }

    /// Sets the shape of its line in a recall.
    #[must_use]
    pub(crate) const fn shape(mut self, shape: LineShape) -> Self {
        self.shape = shape;
        self
    }

    /// Sets whether every handle sees it that reaches its namespace and its person.
    #[must_use]
    pub(crate) const fn open_to_all(mut self, is_open: bool) -> Self {
        self.is_open = is_open;
        self
    }

    /// Returns what ranking needs to know of the document, for the column of the index, given the
    /// cues in its words.
    pub(in crate::text) fn traits(&self, cues: u8) -> Traits {
        let asks = self.passages.iter().any(|(_, text)| ends_in_question(text));
        let flag = |is_set: bool, bit: u64| if is_set { bit } else { 0 };
        let voice = flag(self.voice.is_person, PERSON);
        let words = flag(asks, ASKS) | (u64::from(cues) << CUES_SHIFT);
        let open = flag(self.is_open, OPEN);
        let shape = u64::from(self.shape.to_bits()) << SHAPE_SHIFT;
        Traits(voice | words | open | shape | (u64::from(self.voice.speaker) << SPEAKER_SHIFT))
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
        let mut terms = Vec::new();
        self.each_term(default, cache, |position, of_word| {
            terms.push((position, Rc::clone(of_word)));
        });
        terms.sort_by_key(|(position, _)| *position);
        terms
    }

    /// Passes the terms of each word to `take` with its position: passage by passage, in the order
    /// of positions within each.
    pub(in crate::text) fn each_term(
        &self,
        default: Language,
        cache: &mut TermCache,
        mut take: impl FnMut(u32, &Rc<Terms>),
    ) {
        let language = self.language.unwrap_or(default);
        let mut next = [0_u32; FIELDS];
        for (field, text) in &self.passages {
            let Some(from) = next.get_mut(*field as usize) else {
                continue;
            };
            let start = *from;
            cache.each_token(text, language, |token| {
                let position = start.saturating_add(token.position);
                let position = position.saturating_mul(FIELD_SLOTS).saturating_add(*field);
                take(position, &token.terms);
                *from = position.saturating_add(PASSAGE_GAP);
            });
        }
    }
}

/// The properties of a document that rank it besides its words, and the shape of its line, in the 64
/// bits of a column.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(in crate::text) struct Traits(pub(in crate::text) u64);

impl Traits {
    /// Returns whether a person said it.
    pub(in crate::text) const fn is_person(self) -> bool {
        self.0 & PERSON != 0
    }

    /// Returns whether it ends in a question.
    pub(in crate::text) const fn asks(self) -> bool {
        self.0 & ASKS != 0
    }

    /// Returns the cues in its words, as [`cues`](super::analysis::cues) has them.
    pub(in crate::text) const fn cues(self) -> u8 {
        (self.0 >> CUES_SHIFT & 0xff) as u8
    }

    /// Returns whether every handle sees it that reaches its namespace and its person; columns of
    /// before do not say so.
    pub(in crate::text) const fn is_open(self) -> bool {
        self.0 & OPEN != 0
    }

    /// Returns the shape of its line in a recall.
    pub(in crate::text) const fn shape(self) -> LineShape {
        LineShape::from_bits((self.0 >> SHAPE_SHIFT & 0xffff) as u16)
    }

    /// Returns the hash of the name of the speaker; 0 if it is not known.
    pub(in crate::text) const fn speaker(self) -> u32 {
        (self.0 >> SPEAKER_SHIFT) as u32
    }
}

/// Returns the hash of a folded name: FNV-1a, since it must be the same in every process. It is
/// never 0.
pub(in crate::text) fn hash_of_name(name: &str) -> u32 {
    let mix = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    name.bytes().fold(0x811c_9dc5, mix).max(1)
}

/// Returns whether a text ends in a question, by its last mark or by the last letter where that is
/// grammar.
fn ends_in_question(text: &str) -> bool {
    let tail = text.trim_end();
    let last = tail.char_indices().rfind(|(_, c)| c.is_alphanumeric());
    let Some((at, letter)) = last else {
        return tail.contains(QUESTION_MARKS);
    };
    let marks = tail.get(at..).unwrap_or_default();
    // Greek asks with a semicolon, and Armenian puts its mark inside the last word.
    let is_greek = matches!(letter, '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}');
    let word = || tail.rsplit(char::is_whitespace).next().unwrap_or_default();
    marks.contains(QUESTION_MARKS)
        || (is_greek && marks.contains(';'))
        || (matches!(letter, '\u{530}'..='\u{58f}') && word().contains('՞'))
        || matches!(letter, 'か' | '吗' | '嗎' | '까')
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

/// The question marks of all scripts that have one.
const QUESTION_MARKS: &[char] = &[
    '?', '？', '؟', '⁇', '⁈', '⁉', '‽', '፧', '⸮', '꘏', '꛷', '︖', '﹖', '\u{37e}',
];

const PERSON: u64 = 1;
// Bit 1 is set in columns of before, of the turns of an assistant.
const ASKS: u64 = 1 << 2;
const OPEN: u64 = 1 << 3;
const CUES_SHIFT: u32 = 8;
const SHAPE_SHIFT: u32 = 16;
const SPEAKER_SHIFT: u32 = 32;

/// The gap between the word positions of two passages of one field.
const PASSAGE_GAP: u32 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_known_by_its_end_in_any_script() {
        for text in [
            "Really?",
            "Really?!",
            "(\"Really?\") ",
            "本当？",
            "本当ですか。",
            "你去吗",
            "حقا؟",
            "γιατί;",
            "Ինչո՞ւ",
            "?",
        ] {
            assert!(ends_in_question(text), "{text}");
        }
        for text in ["", "Why? Because.", "a; b", "so what", "2023"] {
            assert!(!ends_in_question(text), "{text}");
        }
    }

    #[test]
    fn traits_hold_what_was_set() {
        let shape = LineShape {
            tokens: 255,
            said: 254,
        };
        let said = Document::from("Why?").said_by(Some("user"), Some("Zoë Smith"));
        let said = said.shape(shape).open_to_all(true);
        let traits = said.traits(3);
        assert!(traits.is_person() && traits.asks() && traits.is_open());
        assert_eq!((traits.cues(), traits.speaker()), (3, hash_of_name("zoe")));
        assert_eq!(traits.shape(), shape);
        assert_eq!(Document::from("x").traits(0), Traits::default());
    }
}
