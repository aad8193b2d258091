use tantivy::tokenizer::{
    Language, LowerCaser, RemoveLongFilter, SimpleTokenizer, Stemmer, TextAnalyzer,
    TokenizerManager,
};

/// A word after analysis and its place among the words of its text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Word {
    pub(super) position: usize,
    pub(super) stem: String,
}

/// Returns what texts and queries alike go through: words are runs of letters and digits, in lower
/// case, reduced to their English stem; there are no stop words.
pub(super) fn analyzer() -> TextAnalyzer {
    TextAnalyzer::builder(SimpleTokenizer::default())
        .filter(RemoveLongFilter::limit(WORD_LEN_END))
        .filter(LowerCaser)
        .filter(Stemmer::new(Language::English))
        .build()
}

/// Returns the analyzers an index must know to be written.
pub(super) fn analyzers() -> TokenizerManager {
    // The defaults stay: the library asks for one even for numbers.
    let analyzers = TokenizerManager::default();
    analyzers.register(NAME, analyzer());
    analyzers
}

/// Returns the words of `text`, in order.
pub(super) fn words(analyzer: &mut TextAnalyzer, text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    analyzer.token_stream(text).process(&mut |token| {
        words.push(Word {
            position: token.position,
            stem: token.text.clone(),
        });
    });
    words
}

/// The name the schema stores. It changes with the analysis: another name is another schema, and an
/// index of another schema is built anew.
pub(super) const NAME: &str = "english-1";

/// Words of this many bytes or more are noise (keys, encoded files) and are not indexed.
const WORD_LEN_END: usize = 41;

#[cfg(test)]
mod tests {
    use super::*;

    fn stems(text: &str) -> Vec<String> {
        let words = words(&mut analyzer(), text);
        words.into_iter().map(|word| word.stem).collect()
    }

    #[test]
    fn words_are_lower_case_stems_without_punctuation() {
        assert_eq!(
            stems("The Running-Dogs, ran!"),
            ["the", "run", "dog", "ran"]
        );
    }

    #[test]
    fn a_word_of_forty_bytes_is_kept_and_a_longer_one_leaves_a_gap() {
        let text = format!("{} {} z", "7".repeat(40), "8".repeat(41));
        let words = words(&mut analyzer(), &text);
        assert_eq!(words.len(), 2);
        assert_eq!(words[1].position, 2);
    }
}
