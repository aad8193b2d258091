//! Stop words: frequent words without content, such as "the", that a query ignores beside others.
//!
//! They are indexed nevertheless, since phrases need them.

use tantivy::tokenizer::{self, RawTokenizer, StopWordFilter, TextAnalyzer, TokenStream as _};

use crate::text::analysis::fold;
use crate::text::analysis::language::Language;
use crate::text::query::ast::{Leaf, Node, Role, Word};

/// Returns the clauses without stop words, unless nothing else is left.
pub(in crate::text) fn kept(
    clauses: &[(Role, Node)],
    language: Language,
    keeps: bool,
) -> impl Iterator<Item = &(Role, Node)> {
    let is_stop = move |(_, node): &(Role, Node)| is_stop(node, language);
    let has_others = clauses
        .iter()
        .any(|clause| clause.0 != Role::MustNot && !is_stop(clause));
    let drops = has_others && !keeps;
    clauses
        .iter()
        .filter(move |clause| !(drops && is_stop(clause)))
}

/// Returns whether a clause is only a stop word typed without any operator.
fn is_stop(node: &Node, language: Language) -> bool {
    let Node::Leaf(Leaf {
        words,
        is_bare: true,
        ..
    }) = node
    else {
        return false;
    };
    match words.as_slice() {
        [(_, Word::Form(part))] => {
            let word = fold::lower(&part.written, language);
            if language == Language::ENGLISH {
                ENGLISH.contains(&word.as_str())
            } else {
                is_listed(&word, language)
            }
        }
        [(_, Word::Joined(joined))] if language == Language::ENGLISH => {
            CONTRACTED.contains(&joined.as_str())
        }
        _ => false,
    }
}

/// Returns whether a word is on the index library's stop word list of a language.
fn is_listed(word: &str, language: Language) -> bool {
    let list = match language.code() {
        "da" => tokenizer::Language::Danish,
        "de" => tokenizer::Language::German,
        "es" => tokenizer::Language::Spanish,
        "fi" => tokenizer::Language::Finnish,
        "fr" => tokenizer::Language::French,
        "hu" => tokenizer::Language::Hungarian,
        "it" => tokenizer::Language::Italian,
        "nl" => tokenizer::Language::Dutch,
        "no" => tokenizer::Language::Norwegian,
        "pt" => tokenizer::Language::Portuguese,
        "ru" => tokenizer::Language::Russian,
        "sv" => tokenizer::Language::Swedish,
        _ => return false,
    };
    let Some(filter) = StopWordFilter::new(list) else {
        return false;
    };
    let mut analyzer = TextAnalyzer::builder(RawTokenizer::default())
        .filter(filter)
        .build();
    !analyzer.token_stream(word).advance()
}

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
