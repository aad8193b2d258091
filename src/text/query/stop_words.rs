//! Stop words: frequent words without content, such as "the", that a query ignores beside others.
//!
//! They are indexed nevertheless, since phrases need them.

use std::str::Split;
use std::sync::LazyLock;

use tantivy::tokenizer::{
    Language as Listed, StopWordFilter, Token, TokenFilter as _, TokenStream, Tokenizer,
};

use crate::text::analysis::fold;
use crate::text::analysis::language::Language;
use crate::text::query::ast::{Leaf, Node, Role, Word};

/// Returns the clauses without stop words, unless nothing else is left.
///
/// A question is in the language of which it has the most stop words, if those are more than it has
/// of `language`: the words of both are left out.
pub(in crate::text) fn kept(
    clauses: &[(Role, Node)],
    language: Language,
    keeps: bool,
) -> impl Iterator<Item = &(Role, Node)> {
    // A clause alone stays, whatever it is.
    let stops = match keeps || clauses.len() < 2 {
        true => Vec::new(),
        false => are_stop_words(clauses, language),
    };
    let is_stop = move |place: usize| stops.get(place).copied().unwrap_or(false);
    let clauses = clauses.iter().enumerate();
    let mut others = clauses.clone();
    let drops = others.any(|(place, (role, _))| *role != Role::MustNot && !is_stop(place));
    clauses.filter_map(move |(place, clause)| (!(drops && is_stop(place))).then_some(clause))
}

/// Returns for each clause whether it is a stop word.
fn are_stop_words(clauses: &[(Role, Node)], language: Language) -> Vec<bool> {
    let words: Vec<Option<String>> = clauses.iter().map(|(_, node)| lower(node)).collect();
    let asked: Vec<&str> = words.iter().flatten().map(String::as_str).collect();
    let mut words_once = asked.clone();
    words_once.sort_unstable();
    words_once.dedup();
    let text = words_once.join(" ");
    let of_language = |language| of_language(&words_once, &text, language);
    let mut stops = of_language(language);
    if asked.len() >= QUESTION_LEN_MIN && 2 * stops.len() < asked.len() {
        let others = LISTED.iter().map(|(code, _)| *code).chain(["en"]);
        let others = others.filter(|code| *code != language.code());
        let others = others.filter_map(|code| code.parse::<Language>().ok());
        let of_others = others.map(of_language);
        let most = of_others.max_by_key(Vec::len).unwrap_or_default();
        if most.len() >= TELLING_MIN && most.len() > stops.len() {
            stops.extend(most);
        }
    }
    let clauses = clauses.iter().zip(&words);
    clauses
        .map(|((_, node), word)| {
            let is_stop = word.as_deref().is_some_and(|word| stops.contains(&word));
            is_stop || language == Language::ENGLISH && is_contracted(node)
        })
        .collect()
}

/// Returns the word of a clause that is typed without any operator.
fn loose(node: &Node) -> Option<&Word> {
    match node {
        Node::Leaf(Leaf {
            words,
            is_bare: true,
            ..
        }) => match words.as_slice() {
            [(_, word)] => Some(word),
            _ => None,
        },
        _ => None,
    }
}

/// Returns a loose word in small letters.
fn lower(node: &Node) -> Option<String> {
    match loose(node)? {
        Word::Form(part) => Some(fold::lower(&part.written, Language::OTHER)),
        _ => None,
    }
}

fn is_contracted(node: &Node) -> bool {
    matches!(loose(node), Some(Word::Joined(joined)) if CONTRACTED.contains(&joined.as_str()))
}

/// Returns those of some words, each given once and all as one text, that are stop words of a language.
fn of_language<'w>(words: &[&'w str], text: &str, language: Language) -> Vec<&'w str> {
    let mut words = words.iter().copied();
    if language == Language::ENGLISH {
        return words.filter(|word| ENGLISH.contains(word)).collect();
    }
    let listed = LISTED.iter().find(|(code, _)| *code == language.code());
    let Some((_, filter)) = listed else {
        return Vec::new();
    };
    // A list of the library answers as a filter alone, which passes on the other words in order.
    let mut filtered = filter.clone().transform(Spaced);
    let mut others = filtered.token_stream(text);
    let mut stops = Vec::new();
    while others.advance() {
        let other = others.token().text.as_str();
        stops.extend(words.by_ref().take_while(|word| *word != other));
    }
    stops.extend(words);
    stops
}

/// Splits a text whose words stand one space apart.
#[derive(Clone)]
struct Spaced;

struct SpacedWords<'a> {
    words: Split<'a, char>,
    token: Token,
}

impl Tokenizer for Spaced {
    type TokenStream<'a> = SpacedWords<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> SpacedWords<'a> {
        SpacedWords {
            words: text.split(' '),
            token: Token::default(),
        }
    }
}

impl TokenStream for SpacedWords<'_> {
    fn advance(&mut self) -> bool {
        let word = self.words.next();
        self.token.text.clear();
        self.token.text.push_str(word.unwrap_or_default());
        word.is_some()
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}

/// The stop word lists of the index library, by the codes of their languages.
static LISTED: LazyLock<Vec<(&str, StopWordFilter)>> = LazyLock::new(|| {
    let languages = [
        ("da", Listed::Danish),
        ("de", Listed::German),
        ("es", Listed::Spanish),
        ("fi", Listed::Finnish),
        ("fr", Listed::French),
        ("hu", Listed::Hungarian),
        ("it", Listed::Italian),
        ("nl", Listed::Dutch),
        ("no", Listed::Norwegian),
        ("pt", Listed::Portuguese),
        ("ru", Listed::Russian),
        ("sv", Listed::Swedish),
    ];
    let lists = languages.into_iter();
    lists
        .filter_map(|(code, listed)| Some((code, StopWordFilter::new(listed)?)))
        .collect()
});

/// Fewer stop words are words of another language by accident.
const TELLING_MIN: usize = 2;

/// Fewer words are no question that tells its language.
const QUESTION_LEN_MIN: usize = 3;

/// The stop word list of the English Snowball stemmer (snowballstem.org) without its contractions,
/// and the fragments that remain when those are split at the apostrophe.
#[rustfmt::skip]
const ENGLISH: &[&str] = &[
    "i", "me", "my", "myself", "we", "us", "our", "ours", "ourselves", "you", "your", "yours",
    "yourself", "yourselves", "he", "him", "his", "himself", "she", "her", "hers", "herself", "it",
    "its", "itself", "they", "them", "their", "theirs", "themselves", "what", "which", "who",
    "whom", "this", "that", "these", "those", "am", "is", "are", "was", "were", "be", "been",
    "being", "have", "has", "had", "having", "do", "does", "did", "doing", "will", "would", "shall",
    "should", "can", "could", "may", "might", "must", "ought", "a", "an", "the", "and", "but", "if",
    "or", "because", "as", "until", "while", "of", "at", "by", "for", "with", "about", "against",
    "between", "into", "through", "during", "before", "after", "above", "below", "to", "from", "up",
    "down", "in", "out", "on", "off", "over", "under", "again", "further", "then", "once", "here",
    "there", "when", "where", "why", "how", "all", "any", "both", "each", "few", "more", "most",
    "other", "some", "such", "no", "nor", "not", "only", "own", "same", "so", "than", "too", "very",
    "s", "t", "d", "m", "ll", "re", "ve", "don", "isn", "aren", "wasn", "weren", "hasn", "haven",
    "hadn", "doesn", "didn", "won", "wouldn", "shan", "shouldn", "couldn", "mustn",
];

/// Contractions without their apostrophe.
#[rustfmt::skip]
const CONTRACTED: &[&str] = &[
    "im", "youre", "were", "theyre", "ive", "youve", "weve", "theyve", "id", "youd", "hed", "shed",
    "wed", "theyd", "ill", "youll", "hell", "shell", "well", "theyll", "isnt", "arent", "wasnt",
    "werent", "hasnt", "havent", "hadnt", "doesnt", "dont", "didnt", "wont", "wouldnt", "shant",
    "shouldnt", "cant", "couldnt", "mustnt",
];

#[cfg(test)]
mod tests {
    use crate::text::query::lowering::Query;

    use super::*;

    /// Returns the words of a question that are left in an English store.
    fn left(text: &str) -> String {
        let query = Query::words(text);
        let kept = kept(&query.clauses, Language::ENGLISH, false);
        let words: Vec<String> = kept.filter_map(|(_, node)| lower(node)).collect();
        words.join(" ")
    }

    #[test]
    fn a_question_in_another_language_loses_the_stop_words_of_its_own() {
        for (question, words) in [
            ("Was hat Mira am Montag gegessen?", "mira montag gegessen"),
            (
                "¿Qué comió ella en la casa de su madre?",
                "comió casa madre",
            ),
            ("Que nous as-tu dit sur le chat?", "dit chat"),
            ("Что она ела вчера у мамы?", "ела вчера мамы"),
        ] {
            assert_eq!(left(question), words);
        }
    }

    #[test]
    fn a_question_in_english_keeps_words_that_are_stop_words_elsewhere() {
        for (question, words) in [
            ("What did the hat of Mira cost?", "hat mira cost"),
            ("Where did she die in the war?", "die war"),
            ("hat die", "hat die"),
            ("Mira hat stolen", "mira hat stolen"),
        ] {
            assert_eq!(left(question), words);
        }
    }
}
