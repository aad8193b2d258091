use std::collections::BTreeMap;
use std::sync::OnceLock;

use levenshtein_automata::{DFA, Distance, LevenshteinAutomatonBuilder, SINK_STATE};
use tantivy::termdict::TermDictionary;
use tantivy_fst::Automaton;

use crate::text::analysis::token::BEHIND;
use crate::text::index::memory_segment::Names;
use crate::text::index::schema::Of;
use crate::text::index::segment_reader::{Segment, Terms};

/// Names that fit a pattern, gathered from all segments so that the choice is the same wherever
/// the documents lie.
pub(in crate::text) struct Expansion {
    pattern: Pattern,
    found: BTreeMap<(Of, String), Fitting>,
}

/// Which names fit.
pub(in crate::text) enum Pattern {
    /// Those that begin like this.
    Prefix(String),
    /// Those that differ by a few letters.
    Near(Near),
}

/// Words within a distance of another: each letter that is too many, missing, another, or swapped
/// with the next counts one.
pub(in crate::text) struct Near(DFA);

#[derive(Debug, Clone, Copy, Default)]
struct Fitting {
    documents: u64,
    distance: u8,
}

impl Expansion {
    pub(in crate::text) const fn new(pattern: Pattern) -> Self {
        Self {
            pattern,
            found: BTreeMap::new(),
        }
    }

    /// Adds the names of a kind that fit, with their number of documents.
    pub(in crate::text) fn collect(
        &mut self,
        of: Of,
        segment: &Segment<'_>,
    ) -> tantivy::Result<()> {
        match segment.terms(of) {
            Terms::Disk(terms) => self.from_disk(of, terms),
            Terms::Memory(terms) => {
                self.from_memory(of, terms);
                Ok(())
            }
        }
    }

    fn from_disk(&mut self, of: Of, terms: &TermDictionary) -> tantivy::Result<()> {
        match &self.pattern {
            Pattern::Prefix(prefix) => {
                let mut stream = terms.range().ge(prefix.as_bytes()).into_stream()?;
                while let Some((name, info)) = stream.next() {
                    if !name.starts_with(prefix.as_bytes()) {
                        break;
                    }
                    add(&mut self.found, of, name, info.doc_freq.into(), 0);
                }
            }
            Pattern::Near(near) => {
                let mut stream = terms.search(near).into_stream()?;
                while let Some((name, info)) = stream.next() {
                    if let Some(distance) = near.distance(name) {
                        add(&mut self.found, of, name, info.doc_freq.into(), distance);
                    }
                }
            }
        }
        Ok(())
    }

    fn from_memory(&mut self, of: Of, names: &Names) {
        match &self.pattern {
            Pattern::Prefix(prefix) => {
                let fitting = names.from(prefix);
                let fitting = fitting.take_while(|(name, _)| name.starts_with(prefix.as_str()));
                for (name, documents) in fitting {
                    add(&mut self.found, of, name.as_bytes(), documents, 0);
                }
            }
            Pattern::Near(near) => {
                for (name, documents) in names.from("") {
                    if let Some(distance) = near.distance(name.as_bytes()) {
                        add(&mut self.found, of, name.as_bytes(), documents, distance);
                    }
                }
            }
        }
    }

    /// Returns the names, nearest and then most frequent first, with their distance.
    pub(in crate::text) fn into_names(self) -> Vec<(Of, String, u8)> {
        let mut found: Vec<_> = self.found.into_iter().collect();
        found.sort_by(|(a_name, a), (b_name, b)| {
            let nearer = a.distance.cmp(&b.distance);
            let commoner = || b.documents.cmp(&a.documents);
            nearer.then_with(commoner).then_with(|| a_name.cmp(b_name))
        });
        found.truncate(NAMES_MAX);
        let names = found.into_iter();
        names
            .map(|((of, name), fitting)| (of, name, fitting.distance))
            .collect()
    }
}

fn add(
    found: &mut BTreeMap<(Of, String), Fitting>,
    of: Of,
    name: &[u8],
    documents: u64,
    distance: u8,
) {
    if let Ok(name) = std::str::from_utf8(name) {
        let fitting = found.entry((of, name.to_owned())).or_default();
        fitting.documents += documents;
        fitting.distance = distance;
    }
}

impl Near {
    /// Returns the words within `distance` (1, or 2) of `word`.
    pub(in crate::text) fn to(word: &str, distance: u8) -> Self {
        static BUILDERS: [OnceLock<LevenshteinAutomatonBuilder>; 2] =
            [const { OnceLock::new() }; 2];
        let [one, two] = &BUILDERS;
        let (builder, distance) = if distance < 2 { (one, 1) } else { (two, 2) };
        let builder = builder.get_or_init(|| LevenshteinAutomatonBuilder::new(distance, true));
        Self(builder.build_dfa(word))
    }

    /// Returns how far a word is, if it is near.
    pub(in crate::text) fn distance(&self, word: &[u8]) -> Option<u8> {
        if word.starts_with(&[BEHIND]) {
            return None;
        }
        match self.0.eval(word) {
            Distance::Exact(distance) => Some(distance),
            Distance::AtLeast(_) => None,
        }
    }
}

impl Automaton for &Near {
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

/// How many names a pattern stands for at most.
const NAMES_MAX: usize = 256;
