//! Lookup of terms by pattern: by prefix, or by edit distance (a Levenshtein automaton).
//!
//! The matching terms are collected from all segments before the best are chosen, so that the
//! choice does not depend on how documents are spread over segments.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use levenshtein_automata::{DFA, Distance, LevenshteinAutomatonBuilder, SINK_STATE};
use tantivy::termdict::TermDictionary;
use tantivy_fst::Automaton;

use crate::text::analysis::token;
use crate::text::index::memory_segment::MemoryTerms;
use crate::text::index::schema::TermField;
use crate::text::index::segment_reader::{FieldTerms, Segment};
use crate::text::query::statistics::Statistics;

/// The terms that match a pattern, over all segments.
pub(in crate::text) struct PatternTerms {
    pattern: TermPattern,
    found: BTreeMap<(TermField, String), TermMatch>,
}

/// A pattern of terms.
pub(in crate::text) enum TermPattern {
    /// Terms with this prefix.
    Prefix(String),
    /// Terms within an edit distance.
    Fuzzy(FuzzyAutomaton),
}

/// Terms within an edit distance of a word. An insertion, deletion, substitution or transposition
/// of adjacent letters counts one.
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

    /// Adds the matching terms of a field of a segment, with their document frequencies.
    pub(in crate::text) fn collect(
        &mut self,
        field: TermField,
        segment: &Segment<'_>,
    ) -> tantivy::Result<()> {
        match segment.terms(field) {
            FieldTerms::Disk(terms) => self.collect_disk(field, terms),
            FieldTerms::Memory(terms) => {
                self.collect_memory(field, terms);
                Ok(())
            }
        }
    }

    fn collect_disk(&mut self, field: TermField, terms: &TermDictionary) -> tantivy::Result<()> {
        match &self.pattern {
            TermPattern::Prefix(prefix) => {
                let mut stream = terms.range().ge(prefix.as_bytes()).into_stream()?;
                while let Some((term, info)) = stream.next() {
                    if !term.starts_with(prefix.as_bytes()) {
                        break;
                    }
                    add(&mut self.found, field, term, info.doc_freq.into(), 0);
                }
            }
            TermPattern::Fuzzy(fuzzy) => {
                let mut stream = terms.search(fuzzy).into_stream()?;
                while let Some((term, info)) = stream.next() {
                    if let Some(distance) = fuzzy.distance(term) {
                        add(&mut self.found, field, term, info.doc_freq.into(), distance);
                    }
                }
            }
        }
        Ok(())
    }

    fn collect_memory(&mut self, field: TermField, terms: &MemoryTerms) {
        match &self.pattern {
            TermPattern::Prefix(prefix) => {
                let matched = terms.from(prefix);
                let matched = matched.take_while(|(term, _)| term.starts_with(prefix.as_str()));
                for (term, documents) in matched {
                    add(&mut self.found, field, term.as_bytes(), documents, 0);
                }
            }
            TermPattern::Fuzzy(fuzzy) => {
                for (term, documents) in terms.from("") {
                    if let Some(distance) = fuzzy.distance(term.as_bytes()) {
                        add(&mut self.found, field, term.as_bytes(), documents, distance);
                    }
                }
            }
        }
    }

    /// Returns the terms with their distance, ordered by distance, then by descending document
    /// frequency. Terms that no document of the statistics has are left out, so that they take no
    /// other's place.
    pub(in crate::text) fn into_terms(
        mut self,
        statistics: &Statistics<'_>,
    ) -> tantivy::Result<Vec<(TermField, String, u8)>> {
        if statistics.is_own() {
            for ((field, term), matched) in &mut self.found {
                matched.documents = statistics.documents_with(*field, term)?;
            }
            self.found.retain(|_, matched| matched.documents > 0);
        }
        let mut found: Vec<_> = self.found.into_iter().collect();
        found.sort_by(|(a_name, a), (b_name, b)| {
            let nearer = a.distance.cmp(&b.distance);
            let commoner = || b.documents.cmp(&a.documents);
            nearer.then_with(commoner).then_with(|| a_name.cmp(b_name))
        });
        found.truncate(TERMS_MAX);
        let terms = found.into_iter();
        Ok(terms
            .map(|((field, term), matched)| (field, term, matched.distance))
            .collect())
    }
}

fn add(
    found: &mut BTreeMap<(TermField, String), TermMatch>,
    field: TermField,
    term: &[u8],
    documents: u64,
    distance: u8,
) {
    if let Ok(term) = std::str::from_utf8(term) {
        let matched = found.entry((field, term.to_owned())).or_default();
        matched.documents += documents;
        matched.distance = distance;
    }
}

impl FuzzyAutomaton {
    /// Returns the automaton of `word` and an edit distance of 1 or 2.
    pub(in crate::text) fn to(word: &str, distance: u8) -> Self {
        static BUILDERS: [OnceLock<LevenshteinAutomatonBuilder>; 2] =
            [const { OnceLock::new() }; 2];
        let [one, two] = &BUILDERS;
        let (builder, distance) = if distance < 2 { (one, 1) } else { (two, 2) };
        let builder = builder.get_or_init(|| LevenshteinAutomatonBuilder::new(distance, true));
        Self(builder.build_dfa(word))
    }

    /// Returns the distance of a word, if it is within the limit.
    pub(in crate::text) fn distance(&self, word: &[u8]) -> Option<u8> {
        if token::is_marked(word) {
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

/// The maximum number of terms that a pattern expands to.
const TERMS_MAX: usize = 256;
