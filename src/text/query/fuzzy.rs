use std::collections::BTreeMap;
use std::sync::OnceLock;

use levenshtein_automata::{DFA, Distance, LevenshteinAutomatonBuilder, SINK_STATE};
use tantivy::termdict::TermDictionary;
use tantivy_fst::Automaton;

use crate::text::analysis::token::REVERSED;
use crate::text::index::memory_segment::MemoryTerms;
use crate::text::index::schema::TermField;
use crate::text::index::segment_reader::{FieldTerms, Segment};

/// MemoryTerms that fit a pattern, gathered from all segments so that the choice is the same wherever
/// the documents lie.
pub(in crate::text) struct PatternTerms {
    pattern: TermPattern,
    found: BTreeMap<(TermField, String), TermMatch>,
}

/// Which terms fit.
pub(in crate::text) enum TermPattern {
    /// Those that begin like this.
    Prefix(String),
    /// Those that differ by a few letters.
    Fuzzy(FuzzyAutomaton),
}

/// Words within a distance of another: each letter that is too many, missing, another, or swapped
/// with the next counts one.
pub(in crate::text) struct FuzzyAutomaton(DFA);

#[derive(Debug, Clone, Copy, Default)]
struct TermMatch {
    documents: u64,
    distance: u8,
}

impl PatternTerms {
    pub(in crate::text) const fn new(pattern: TermPattern) -> Self {
        Self {
            pattern,
            found: BTreeMap::new(),
        }
    }

    /// Adds the terms of a kind that fit, with their number of documents.
    pub(in crate::text) fn collect(
        &mut self,
        of: TermField,
        segment: &Segment<'_>,
    ) -> tantivy::Result<()> {
        match segment.terms(of) {
            FieldTerms::Disk(terms) => self.from_disk(of, terms),
            FieldTerms::Memory(terms) => {
                self.from_memory(of, terms);
                Ok(())
            }
        }
    }

    fn from_disk(&mut self, of: TermField, terms: &TermDictionary) -> tantivy::Result<()> {
        match &self.pattern {
            TermPattern::Prefix(prefix) => {
                let mut stream = terms.range().ge(prefix.as_bytes()).into_stream()?;
                while let Some((term, info)) = stream.next() {
                    if !term.starts_with(prefix.as_bytes()) {
                        break;
                    }
                    add(&mut self.found, of, term, info.doc_freq.into(), 0);
                }
            }
            TermPattern::Fuzzy(fuzzy) => {
                let mut stream = terms.search(fuzzy).into_stream()?;
                while let Some((term, info)) = stream.next() {
                    if let Some(distance) = fuzzy.distance(term) {
                        add(&mut self.found, of, term, info.doc_freq.into(), distance);
                    }
                }
            }
        }
        Ok(())
    }

    fn from_memory(&mut self, of: TermField, terms: &MemoryTerms) {
        match &self.pattern {
            TermPattern::Prefix(prefix) => {
                let matched = terms.from(prefix);
                let matched = matched.take_while(|(term, _)| term.starts_with(prefix.as_str()));
                for (term, documents) in matched {
                    add(&mut self.found, of, term.as_bytes(), documents, 0);
                }
            }
            TermPattern::Fuzzy(fuzzy) => {
                for (term, documents) in terms.from("") {
                    if let Some(distance) = fuzzy.distance(term.as_bytes()) {
                        add(&mut self.found, of, term.as_bytes(), documents, distance);
                    }
                }
            }
        }
    }

    /// Returns the terms, nearest and then most frequent first, with their distance.
    pub(in crate::text) fn into_terms(self) -> Vec<(TermField, String, u8)> {
        let mut found: Vec<_> = self.found.into_iter().collect();
        found.sort_by(|(a_name, a), (b_name, b)| {
            let nearer = a.distance.cmp(&b.distance);
            let commoner = || b.documents.cmp(&a.documents);
            nearer.then_with(commoner).then_with(|| a_name.cmp(b_name))
        });
        found.truncate(TERMS_MAX);
        let terms = found.into_iter();
        terms
            .map(|((of, term), matched)| (of, term, matched.distance))
            .collect()
    }
}

fn add(
    found: &mut BTreeMap<(TermField, String), TermMatch>,
    of: TermField,
    term: &[u8],
    documents: u64,
    distance: u8,
) {
    if let Ok(term) = std::str::from_utf8(term) {
        let matched = found.entry((of, term.to_owned())).or_default();
        matched.documents += documents;
        matched.distance = distance;
    }
}

impl FuzzyAutomaton {
    /// Returns the words within `distance` (1, or 2) of `word`.
    pub(in crate::text) fn to(word: &str, distance: u8) -> Self {
        static BUILDERS: [OnceLock<LevenshteinAutomatonBuilder>; 2] =
            [const { OnceLock::new() }; 2];
        let [one, two] = &BUILDERS;
        let (builder, distance) = if distance < 2 { (one, 1) } else { (two, 2) };
        let builder = builder.get_or_init(|| LevenshteinAutomatonBuilder::new(distance, true));
        Self(builder.build_dfa(word))
    }

    /// Returns how far a word is, if it is fuzzy.
    pub(in crate::text) fn distance(&self, word: &[u8]) -> Option<u8> {
        if word.starts_with(&[REVERSED]) {
            return None;
        }
        match self.0.eval(word) {
            Distance::Exact(distance) => Some(distance),
            Distance::AtLeast(_) => None,
        }
    }
}

impl Automaton for &FuzzyAutomaton {
    type State = u32;

    fn start(&self) -> u32 {
        self.0.initial_state()
    }

    fn is_match(&self, state: &u32) -> bool {
        matches!(self.0.distance(*state), Distance::Exact(_))
    }

    fn can_match(&self, state: &u32) -> bool {
        *state != SINK_STATE
    }

    fn accept(&self, state: &u32, byte: u8) -> u32 {
        self.0.transition(*state, byte)
    }
}

/// How many terms a pattern stands for at most.
const TERMS_MAX: usize = 256;
