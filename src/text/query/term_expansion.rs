use crate::text::analysis::chunk::Part;
use crate::text::analysis::fold;
use crate::text::analysis::language::Language;
use crate::text::analysis::script::Script;
use crate::text::analysis::token::{self as analysis, REVERSED, Terms};
use crate::text::index::schema::TermField;
use crate::text::query::ast::Word;
use crate::text::query::fuzzy::FuzzyAutomaton;

/// The terms a word of a query may have in the index: what is looked up, and what tells whether a
/// token of a text is meant.
pub(in crate::text) struct TermExpansion {
    /// Whole terms.
    pub(in crate::text) terms: Vec<(TermField, String)>,
    /// Beginnings of terms.
    pub(in crate::text) prefixes: Vec<Prefix>,
    pub(in crate::text) fuzzy: Option<FuzzyAutomaton>,
}

/// Terms that begin alike.
pub(in crate::text) struct Prefix {
    pub(in crate::text) of: Option<TermField>,
    pub(in crate::text) text: String,
    /// How many letters min_extra they have at least.
    pub(in crate::text) min_extra: usize,
    pub(in crate::text) factor: f32,
}

impl TermExpansion {
    /// Returns the terms of a word, in whichever of `languages` a text may be.
    pub(in crate::text) fn of(word: &Word, languages: &[Language]) -> Self {
        let mut expansion = Self {
            terms: Vec::new(),
            prefixes: Vec::new(),
            fuzzy: None,
        };
        match word {
            Word::Form(part) => expansion.add_forms(part, languages),
            Word::Letters(letters) => expansion.terms.push((TermField::Stems, letters.clone())),
            Word::Joined(joined) => {
                expansion.terms.push((TermField::Variants, joined.clone()));
                let part = Part {
                    written: joined.clone(),
                    script: Script::of(joined.chars().next().unwrap_or_default()),
                    range: 0..joined.len(),
                };
                for language in languages {
                    expansion.add(TermField::Stems, analysis::terms(&part, *language).stem);
                }
            }
            Word::Prefix(part) => expansion.prefixes.push(Prefix {
                of: None,
                text: fold::plain(&fold::lower(&part.written, Language::OTHER)),
                min_extra: 0,
                factor: 1.0,
            }),
            Word::Fuzzy(part, distance) => {
                let plain = fold::plain(&fold::lower(&part.written, Language::OTHER));
                expansion.fuzzy = Some(FuzzyAutomaton::to(&plain, *distance));
            }
        }
        expansion
    }

    fn add_forms(&mut self, part: &Part, languages: &[Language]) {
        for language in languages {
            let Terms { stem, variants } = analysis::terms(part, *language);
            let plain = fold::plain(&fold::lower(&part.written, *language));
            let plain_len = plain.chars().count();
            self.add(TermField::Variants, plain);
            self.add(TermField::Variants, stem.clone());
            for term in variants {
                if !term.as_bytes().starts_with(&[REVERSED]) {
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

    /// Adds the other spelling of umlauts: Müller is Mueller, and neither is Muller.
    fn add_umlauts(&mut self, part: &Part) {
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
                    written,
                    ..part.clone()
                };
                let terms = analysis::terms(&part, Language::GERMAN);
                self.add(TermField::Stems, terms.stem);
            }
        }
    }

    /// Adds the compounds that end or begin with a stem.
    fn add_compounds(&mut self, stem: &str) {
        self.prefixes.push(Prefix {
            of: Some(TermField::Variants),
            text: analysis::reversed(stem),
            min_extra: COMPOUND_MORE_MIN,
            factor: COMPOUND_FACTOR,
        });
        self.prefixes.push(Prefix {
            of: Some(TermField::Stems),
            text: stem.to_owned(),
            min_extra: COMPOUND_MORE_MIN,
            factor: COMPOUND_FACTOR,
        });
    }

    fn add(&mut self, of: TermField, term: String) {
        if !self.terms.contains(&(of, term.clone())) {
            self.terms.push((of, term));
        }
    }

    /// Returns whether a token with these terms is meant.
    pub(in crate::text) fn matches(&self, terms: &Terms) -> bool {
        self.matches_term(TermField::Stems, &terms.stem)
            || terms
                .variants
                .iter()
                .any(|term| self.matches_term(TermField::Variants, term))
    }

    fn matches_term(&self, of: TermField, term: &str) -> bool {
        let is_listed = self
            .terms
            .iter()
            .any(|(its, expansion)| *its == of && expansion == term);
        let begins = || {
            self.prefixes
                .iter()
                .any(|prefix| prefix.of.is_none_or(|its| its == of) && prefix.matches(term))
        };
        let is_fuzzy = || {
            let fuzzy = self.fuzzy.as_ref();
            fuzzy.is_some_and(|fuzzy| fuzzy.distance(term.as_bytes()).is_some())
        };
        is_listed || begins() || is_fuzzy()
    }
}

impl Prefix {
    /// Returns whether a term is meant.
    pub(in crate::text) fn matches(&self, term: &str) -> bool {
        let rest = term.strip_prefix(&self.text);
        rest.is_some_and(|rest| rest.chars().count() >= self.min_extra)
    }
}

/// A shorter word begins or ends too many others by chance.
const COMPOUND_PART_LEN_MIN: usize = 4;

/// What is less than this longer is another form of the word, not a compound.
const COMPOUND_MORE_MIN: usize = 3;

/// How much a compound counts beside the word itself.
const COMPOUND_FACTOR: f32 = 0.5;
