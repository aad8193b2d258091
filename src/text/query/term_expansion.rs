//! Term expansion: the terms of the index that a word of a query can match.
//!
//! The planner looks these terms up; the highlighter tests tokens against them, so that both agree.

use crate::text::analysis::chunk::Part;
use crate::text::analysis::fold;
use crate::text::analysis::language::Language;
use crate::text::analysis::script::Script;
use crate::text::analysis::token::{self, Terms};
use crate::text::index::schema::TermField;
use crate::text::query::ast::Word;
use crate::text::query::fuzzy::FuzzyAutomaton;

/// The terms that a word of a query can match.
pub(in crate::text) struct TermExpansion {
    /// Exact terms, each with the factor of its frequency.
    pub(in crate::text) terms: Vec<(TermField, String, f32)>,
    /// Term prefixes.
    pub(in crate::text) prefixes: Vec<Prefix>,
    pub(in crate::text) fuzzy: Option<FuzzyAutomaton>,
}

/// A prefix of terms.
pub(in crate::text) struct Prefix {
    pub(in crate::text) field: Option<TermField>,
    pub(in crate::text) text: String,
    /// The minimum number of characters after the prefix.
    pub(in crate::text) min_extra: usize,
    pub(in crate::text) factor: f32,
}

impl TermExpansion {
    /// Expands a word in each of the `languages` that a text may be in.
    pub(in crate::text) fn of(word: &Word, languages: &[Language]) -> Self {
        let mut expansion = Self {
            terms: Vec::new(),
            prefixes: Vec::new(),
            fuzzy: None,
        };
        match word {
            Word::Form(part) => expansion.add_forms(part, languages),
            Word::Letters(letters) => expansion.add(TermField::Stems, letters.clone()),
            Word::Joined(joined) => {
                expansion.add(TermField::Variants, joined.clone());
                let part = Part {
                    written: joined.as_str().into(),
                    script: Script::of(joined.chars().next().unwrap_or_default()),
                    range: 0..joined.len(),
                };
                for language in languages {
                    expansion.add(TermField::Stems, token::terms(&part, *language).stem);
                }
            }
            Word::Prefix(part) => {
                let plain = part.folded();
                let texts = [token::bare(&plain), plain];
                let first = usize::from(!languages.contains(&Language::VIETNAMESE));
                for text in texts.into_iter().skip(first) {
                    expansion.prefixes.push(Prefix {
                        field: None,
                        text,
                        min_extra: 0,
                        factor: 1.0,
                    });
                }
            }
            Word::Fuzzy(part, distance) => {
                let plain = part.folded();
                expansion.fuzzy = Some(FuzzyAutomaton::to(&plain, *distance));
            }
        }
        expansion
    }

    fn add_forms(&mut self, part: &Part<'_>, languages: &[Language]) {
        for language in languages {
            let Terms { stem, variants, .. } = token::terms(part, *language);
            if *language == Language::VIETNAMESE {
                if stem == part.folded() {
                    let bare = token::bare(&stem);
                    self.terms.push((TermField::Variants, bare, BARE_FACTOR));
                }
                self.add(TermField::Stems, stem);
                continue;
            }
            let plain = fold::plain(&fold::lower(&part.written, *language));
            let plain_len = plain.chars().count();
            self.add(TermField::Variants, plain);
            self.add(TermField::Variants, stem.clone());
            for term in variants {
                if !token::is_marked(term.as_bytes()) {
                    self.add(TermField::Variants, term);
                }
            }
            if *language == Language::GERMAN {
                self.add_umlauts(part);
            }
            if language.has_compounds() && plain_len >= COMPOUND_PART_LEN_MIN {
                self.add_compounds(&stem);
            }
            self.add(TermField::Stems, stem);
        }
    }

    /// Adds the alternative spellings of umlauts: Müller equals Mueller, and neither equals Muller.
    fn add_umlauts(&mut self, part: &Part<'_>) {
        let lower = fold::lower(&part.written, Language::GERMAN);
        let pairs = [("ä", "ae"), ("ö", "oe"), ("ü", "ue")];
        let long = pairs.iter().fold(lower.clone(), |word, (umlaut, letters)| {
            word.replace(umlaut, letters)
        });
        let short = pairs.iter().fold(lower.clone(), |word, (umlaut, letters)| {
            word.replace(letters, umlaut)
        });
        for written in [long, short] {
            if written != lower {
                let part = Part {
                    written: written.into(),
                    ..part.clone()
                };
                let terms = token::terms(&part, Language::GERMAN);
                self.add(TermField::Stems, terms.stem);
            }
        }
    }

    /// Adds the compounds that end or start with a stem.
    fn add_compounds(&mut self, stem: &str) {
        self.prefixes.push(Prefix {
            field: Some(TermField::Variants),
            text: token::reversed(stem),
            min_extra: COMPOUND_MORE_MIN,
            factor: COMPOUND_FACTOR,
        });
        self.prefixes.push(Prefix {
            field: Some(TermField::Stems),
            text: stem.to_owned(),
            min_extra: COMPOUND_MORE_MIN,
            factor: COMPOUND_FACTOR,
        });
    }

    fn add(&mut self, field: TermField, term: String) {
        let is_known = |(its, known, _): &(TermField, String, f32)| *its == field && *known == term;
        if !self.terms.iter().any(is_known) {
            self.terms.push((field, term, 1.0));
        }
    }

    /// Returns whether a token with these terms matches.
    pub(in crate::text) fn matches(&self, terms: &Terms) -> bool {
        self.matches_term(TermField::Stems, &terms.stem)
            || terms
                .variants
                .iter()
                .any(|term| self.matches_term(TermField::Variants, term))
    }

    fn matches_term(&self, field: TermField, term: &str) -> bool {
        let is_listed = self
            .terms
            .iter()
            .any(|(its, listed, _)| *its == field && listed == term);
        let begins = || {
            self.prefixes
                .iter()
                .any(|prefix| prefix.field.is_none_or(|its| its == field) && prefix.matches(term))
        };
        let is_fuzzy = || {
            let fuzzy = self.fuzzy.as_ref();
            fuzzy.is_some_and(|fuzzy| fuzzy.distance(term.as_bytes()).is_some())
        };
        is_listed || begins() || is_fuzzy()
    }
}

impl Prefix {
    /// Returns whether a term matches.
    pub(in crate::text) fn matches(&self, term: &str) -> bool {
        let rest = term.strip_prefix(&self.text);
        rest.is_some_and(|rest| rest.chars().count() >= self.min_extra)
    }
}

/// A shorter word is a prefix or suffix of too many unrelated words.
const COMPOUND_PART_LEN_MIN: usize = 4;

/// A shorter remainder is an inflection, not a compound.
const COMPOUND_MORE_MIN: usize = 3;

/// The frequency factor of a compound, relative to the word itself.
const COMPOUND_FACTOR: f32 = 0.5;

/// The frequency factor of a word of Vietnamese with any marks, for one that was typed without.
const BARE_FACTOR: f32 = 0.5;
