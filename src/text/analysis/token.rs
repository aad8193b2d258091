//! Tokens: each word of a text with its position and the terms that it is indexed by.
//!
//! One word has one stem and any number of variants (its unstemmed form, its joined chunk, its
//! reversed form for compounds).

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;

use crate::text::analysis::chunk::{Chunk, Part, WORD_LEN_MAX, next_chunk, plain_word};
use crate::text::analysis::cues;
use crate::text::analysis::fold;
use crate::text::analysis::language::Language;
use crate::text::analysis::script::Script;
use crate::text::analysis::word_cache::WordCache;

/// The terms that a word is indexed by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::text) struct Terms {
    /// The stem, folded.
    pub(in crate::text) stem: String,
    /// Further terms: the unstemmed word, the reversed stem of a possible compound, the stem as
    /// typed without accents.
    pub(in crate::text) variants: Vec<String>,
    /// Whether it says a time or a number, as [`cues`] has them.
    pub(in crate::text) cues: u8,
    /// The numbers that the owner of the cache gave to the stem and the variants.
    pub(in crate::text) numbers: OnceCell<Box<[u32]>>,
}

/// A word of a text: where it stands and its terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::text) struct Token {
    /// The number of words before it in the text.
    pub(in crate::text) position: u32,
    pub(in crate::text) range: Range<usize>,
    pub(in crate::text) terms: Rc<Terms>,
}

/// Returns the tokens of a text in order.
pub(in crate::text) fn tokens(text: &str, language: Language) -> Vec<Token> {
    TermCache::default().tokens(text, language)
}

/// Terms of words that were met before: few words make most of a text.
#[derive(Debug, Default)]
pub(in crate::text) struct TermCache {
    /// The language of the words, of which there is one at a time.
    language: Language,
    words: WordCache<Terms>,
}

impl TermCache {
    /// Returns the tokens of a text in order.
    pub(in crate::text) fn tokens(&mut self, text: &str, language: Language) -> Vec<Token> {
        let mut tokens = Vec::new();
        self.each_token(text, language, |token| tokens.push(token));
        tokens
    }

    /// Passes the tokens of a text to `take`, in order.
    pub(in crate::text) fn each_token(
        &mut self,
        text: &str,
        language: Language,
        mut take: impl FnMut(Token),
    ) {
        let (mut from, mut position) = (0, 0);
        let mut tokens = Vec::new();
        loop {
            if let Some(range) = plain_word(text, from) {
                from = range.end;
                let part = Part {
                    written: Cow::Borrowed(text.get(range.clone()).unwrap_or_default()),
                    script: Script::Latin,
                    range,
                };
                if part.range.len() <= WORD_LEN_MAX {
                    take(self.token(&part, position, language));
                }
                position += 1;
                continue;
            }
            let Some(chunk) = next_chunk(text, from) else {
                return;
            };
            let Some(last) = chunk.parts.last() else {
                return;
            };
            from = last.range.end;
            self.tokens_of(chunk, &mut position, language, &mut tokens);
            tokens.drain(..).for_each(&mut take);
        }
    }

    /// Adds the tokens of a chunk.
    fn tokens_of(
        &mut self,
        mut chunk: Chunk<'_>,
        position: &mut u32,
        language: Language,
        tokens: &mut Vec<Token>,
    ) {
        if chunk.parts.iter().all(Part::is_letter) {
            grams(&chunk.parts, position, tokens);
        } else {
            for part in &chunk.parts {
                if part.written.chars().count() <= WORD_LEN_MAX {
                    tokens.push(self.token(part, *position, language));
                }
                *position += 1;
            }
        }
        if let (Some(token), Some(joined)) = (tokens.first_mut(), chunk.joined.take())
            && !token.terms.variants.contains(&joined)
        {
            let terms = Rc::make_mut(&mut token.terms);
            terms.variants.push(joined);
            terms.numbers.take();
        }
    }

    fn token(&mut self, part: &Part<'_>, position: u32, language: Language) -> Token {
        Token {
            position,
            range: part.range.clone(),
            terms: self.terms(part, language),
        }
    }

    fn terms(&mut self, part: &Part<'_>, language: Language) -> Rc<Terms> {
        if self.language != language {
            self.words.clear();
            self.language = language;
        }
        // Most numbers are met once.
        if part.written.bytes().any(|byte| byte.is_ascii_digit()) {
            return Rc::new(terms(part, language));
        }
        let make = || terms(part, language);
        self.words.get_or_insert_with(&part.written, make)
    }
}

/// Adds a token for each run of two adjacent letters, or three of Thai, and shorter ones at the end. Any
/// run of letters is then found by these, and one that is shorter by a prefix of them.
fn grams(letters: &[Part<'_>], position: &mut u32, tokens: &mut Vec<Token>) {
    for (at, letter) in letters.iter().enumerate() {
        let end = at.saturating_add(letter.gram_len()).min(letters.len());
        let gram = letters.get(at..end).unwrap_or_default();
        let last = gram.last().unwrap_or(letter);
        let variants = Vec::new();
        tokens.push(Token {
            position: *position,
            range: letter.range.start..last.range.end,
            terms: Rc::new(Terms {
                stem: gram.iter().map(|letter| &*letter.written).collect(),
                variants,
                cues: 0,
                numbers: OnceCell::new(),
            }),
        });
        *position += 1;
    }
}

/// Returns the terms of a word in a language.
pub(in crate::text) fn terms(part: &Part<'_>, language: Language) -> Terms {
    if part.written.bytes().all(|byte| byte.is_ascii_digit()) {
        return of_number(&part.written, language);
    }
    let lower = fold::lower(&part.written, language);
    if language == Language::VIETNAMESE && part.script == Script::Latin {
        return of_vietnamese(&lower, &fold::plain(&lower));
    }
    let stem_of = |word: &str| {
        let stem = match language.stemmer(part.script) {
            Some(stemmer) => stemmer.stem(word).into_owned(),
            None => word.to_owned(),
        };
        // A stemmer may add an accent.
        if stem.is_ascii() {
            return stem;
        }
        fold::plain(&stem)
    };
    if lower.is_ascii() {
        let cues = cues::cues_of(&lower, language);
        let stem = stem_of(&lower);
        let written = (lower != stem).then_some(lower);
        return of_stem(stem, written.into_iter().collect(), cues, language);
    }
    let plain = fold::plain(&lower);
    let (stem, typed) = if part.script == Script::Arabic {
        // Vowel marks are rarely written, and the stemmer would treat them as letters.
        let letters = lower.chars().filter(|letter| !fold::is_silent(*letter));
        let stem = stem_of(&letters.collect::<String>());
        (stem.clone(), stem)
    } else if plain == lower {
        let stem = stem_of(&lower);
        (stem.clone(), stem)
    } else {
        (stem_of(&lower), stem_of(&plain))
    };
    let mut variants = Vec::new();
    let cues = cues::cues_of(&plain, language);
    for other in [plain, typed] {
        if other != stem && !variants.contains(&other) {
            variants.push(other);
        }
    }
    of_stem(stem, variants, cues, language)
}

/// Returns the terms of a number, which no stemmer changes.
fn of_number(digits: &str, language: Language) -> Terms {
    let cues = cues::cues_of(digits, language);
    of_stem(digits.to_owned(), Vec::new(), cues, language)
}

fn of_stem(stem: String, mut variants: Vec<String>, cues: u8, language: Language) -> Terms {
    if language.has_compounds() && stem.chars().count() >= COMPOUND_LEN_MIN {
        variants.push(reversed(&stem));
    }
    Terms {
        stem,
        variants,
        cues,
        numbers: OnceCell::new(),
    }
}

/// Returns the terms of a word that its tone tells from others; of one typed without marks any.
fn of_vietnamese(lower: &str, plain: &str) -> Terms {
    let stem = fold::with_tone(lower);
    let bare = (stem != plain).then(|| bare(plain));
    Terms {
        stem,
        variants: bare.into_iter().collect(),
        cues: cues::cues_of(plain, Language::VIETNAMESE),
        numbers: OnceCell::new(),
    }
}

/// Returns a word of Vietnamese without its marks, marked: one with other marks does not match it.
pub(in crate::text) fn bare(plain: &str) -> String {
    format!("{}{plain}", char::from(BARE))
}

/// Returns whether a term is marked, and no spelling of a word.
pub(in crate::text) fn is_marked(term: &[u8]) -> bool {
    matches!(term, [REVERSED | BARE, ..])
}

/// Returns a stem reversed and marked, so that all compounds that end in `versicherung` share a
/// prefix.
pub(in crate::text) fn reversed(stem: &str) -> String {
    let mut reversed = String::from(char::from(REVERSED));
    reversed.extend(stem.chars().rev());
    reversed
}

/// Shorter words are unlikely to be compounds.
const COMPOUND_LEN_MIN: usize = 7;

/// Marks a reversed term.
const REVERSED: u8 = 1;

/// Marks a term without the marks of Vietnamese.
const BARE: u8 = 2;

/// The name of the analyzer in the schema. It must change with the analysis: an index with another
/// schema is rebuilt.
pub(in crate::text) const NAME: &str = "words-3";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::analysis::chunk::chunks;

    fn stems(text: &str) -> Vec<String> {
        let tokens = tokens(text, Language::ENGLISH);
        tokens
            .into_iter()
            .map(|token| token.terms.stem.clone())
            .collect()
    }

    fn joined(text: &str) -> Vec<String> {
        chunks(text).filter_map(|chunk| chunk.joined).collect()
    }

    #[test]
    fn words_are_lower_case_stems_without_punctuation() {
        assert_eq!(
            stems("The Running-Dogs, ran!"),
            ["the", "run", "dog", "ran"]
        );
        assert_eq!(stems("Caroline's dogs’ café"), ["carolin", "dog", "cafe"]);
    }

    #[test]
    fn identifiers_are_found_by_their_words_and_as_a_whole() {
        assert_eq!(
            stems("getHTTPCode snake_case"),
            ["get", "http", "code", "snake", "case"]
        );
        assert_eq!(
            joined("getHTTPCode snake_case e-mail a@b.org 1,000 x,y and/or"),
            [
                "gethttpcode",
                "snakecase",
                "email",
                "aborg",
                "1000",
                "andor"
            ]
        );
        assert_eq!(
            joined("https://docs.rs/x plain words. Next"),
            ["httpsdocsrsx"]
        );
    }

    #[test]
    fn no_stemmer_changes_a_number() {
        for (language, script) in Language::all() {
            for number in ["0", "17", "001", "2019", "1234567890"] {
                let stemmer = language.stemmer(script).unwrap();
                assert_eq!(stemmer.stem(number), number, "{language}");
            }
        }
    }

    #[test]
    fn scripts_without_words_become_pairs_of_letters() {
        assert_eq!(stems("東京都"), ["東京", "京都", "都"]);
        assert_eq!(stems("茶"), ["茶"]);
        assert_eq!(stems("iPhone手机"), ["i", "phone", "手机", "机"]);
        assert_eq!(stems("ｶﾞｲﾄﾞ"), stems("ガイド"));
    }

    #[test]
    fn thai_becomes_runs_of_three_letters() {
        assert_eq!(stems("ชาเย็น"), ["ชาเ", "าเย", "เย็", "ย็น", "็น", "น"]);
        assert_eq!(stems("ชา"), ["ชา", "า"]);
    }

    #[test]
    fn a_word_of_sixty_four_letters_is_kept_and_a_longer_one_leaves_a_gap() {
        let text = format!("{} {} z", "7".repeat(64), "8".repeat(65));
        let tokens = tokens(&text, Language::ENGLISH);
        assert_eq!(tokens.len(), 2);
        assert_eq!(tokens[1].position, 2);
    }

    /// The tokens of a text whose words all go the way of those that need parts.
    fn tokens_of_chunks(text: &str, language: Language) -> Vec<Token> {
        let (mut cache, mut position, mut found) = (TermCache::default(), 0, Vec::new());
        for chunk in chunks(text) {
            let mut tokens = Vec::new();
            cache.tokens_of(chunk, &mut position, language, &mut tokens);
            found.append(&mut tokens);
        }
        found
    }

    proptest::proptest! {
        #[test]
        fn plain_words_are_the_tokens_that_chunks_would_give(
            text in "([a-cA-C1éß東 ,.:/'_-]|[a-d]{1,3} |://|'s|x{62,66} ){0,40}",
        ) {
            for language in [Language::ENGLISH, Language::TURKISH] {
                proptest::prop_assert_eq!(
                    tokens(&text, language),
                    tokens_of_chunks(&text, language)
                );
            }
        }
    }

    #[test]
    fn every_token_knows_where_it_stands() {
        let text = "Ein Öl-Wechsel für ｶﾞｲﾄﾞ東京, don't";
        for token in tokens(text, Language::GERMAN) {
            let written = &text[token.range.clone()];
            let first = token.terms.stem.chars().next();
            assert!(first.is_some() && !written.is_empty(), "{written}");
        }
    }
}
