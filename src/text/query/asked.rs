//! `Asked`: the persons and the kind of answer that a question names, and its words.
//!
//! It is read off the text of a query, whatever its clauses are, and only ranks: no text is found
//! or missed because of it.

use crate::text::analysis::chunk;
use crate::text::analysis::cues;
use crate::text::document::hash_of_name;

/// The persons and kinds of answer that a question names.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::text) struct Asked {
    /// The hashes of its words: a speaker is named by one of them.
    names: Vec<u32>,
    /// [`cues::NUMBER`] and [`cues::TIME`].
    pub(in crate::text) cues: u8,
}

/// A word of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QuestionWord {
    written: String,
    /// In small letters, without accents.
    pub(crate) folded: String,
}

impl QuestionWord {
    /// Returns the month that it names, from 1: by a word that is nothing else, beside a number, or by
    /// its capital if it does not begin the sentence.
    pub(crate) fn month(&self, is_first: bool, is_beside_number: bool) -> Option<i64> {
        let is_capital = self.written.starts_with(char::is_uppercase) && !is_first;
        let month = cues::month(&self.folded)?;
        (is_capital || is_beside_number || !cues::is_ambiguous_month(&self.folded))
            .then_some(month.into())
    }
}

/// Returns the words of a question, of the longest the first.
pub(crate) fn question_words(text: &str) -> Vec<QuestionWord> {
    let chunks = chunk::chunks(text).flat_map(|chunk| chunk.parts);
    let parts = chunks.filter(|part| !part.is_letter()).take(WORDS_MAX);
    let word = |part: chunk::Part<'_>| QuestionWord {
        folded: part.folded(),
        written: part.written.into_owned(),
    };
    parts.map(word).collect()
}

impl Asked {
    pub(in crate::text) fn of(text: &str) -> Self {
        let words = question_words(text).into_iter();
        let words: Vec<String> = words.map(|word| word.folded).collect();
        Self {
            names: words.iter().map(|word| hash_of_name(word)).collect(),
            cues: cues::asked_cues(&words),
        }
    }

    /// Returns whether it names a speaker.
    pub(in crate::text) fn names(&self, speaker: u32) -> bool {
        self.names.contains(&speaker)
    }
}

/// A longer text is not a question.
const WORDS_MAX: usize = 64;
