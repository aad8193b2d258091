//! TextOptions.

use super::analysis::language::Language;

/// What a view may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextOptions {
    /// How much memory a commit may fill before it starts another segment, in bytes; kept between
    /// 15 MB, the least the index library works with, and 4 GB.
    pub budget_bytes: usize,
    /// Whether a thread of the view's own commits; without it, whoever feeds or searches does, and
    /// what happens depends on nothing but the calls.
    pub background: bool,
    /// The language of texts that name none. An index of another language is built anew.
    pub language: Language,
    /// Whether a search looks for words like "the" and "what" beside others. They are indexed in
    /// any case, for phrases.
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
