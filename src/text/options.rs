//! `TextOptions`: the settings of a text view, with their defaults.
//!
//! Ranking is not a setting of the view; each search passes its own.

use super::analysis::language::Language;

/// The settings of a text view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextOptions {
    /// The memory that a commit may use before it starts another segment, in bytes. It is clamped
    /// to 15 MB (the minimum of the index library) and 4 GB.
    pub budget_bytes: usize,
    /// Whether a background thread commits. Without it, the calls that feed and search commit, and
    /// the behaviour depends on the calls alone.
    pub background: bool,
    /// The language of texts that do not name one. An index of another language is rebuilt.
    pub language: Language,
    /// Whether a search evaluates words such as "the" and "what" beside other words. They are
    /// always indexed, for phrases.
    pub stop_words: bool,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self {
            budget_bytes: 50_000_000,
            background: true,
            language: Language::ENGLISH,
            stop_words: false,
        }
    }
}
