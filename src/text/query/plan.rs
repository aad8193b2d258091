//! The planner: resolves the words of a query to terms of the index and assigns their weights.
//!
//! All statistics (document frequency, mean length) are taken over all segments together
//! ([`Statistics`]), so that the score of a document does not depend on its segment.

use crate::text::analysis::chunk::Part;
use crate::text::analysis::family::Family;
use crate::text::analysis::fold;
use crate::text::analysis::language::Language;
use crate::text::analysis::token;
use crate::text::index::schema::{Fields, TermField};
use crate::text::index::segment_reader::Segment;
use crate::text::query::ast::{Leaf, Node, Role, Word};
use crate::text::query::fuzzy::{PatternTerms, TermPattern};
use crate::text::query::statistics::{Statistics, as_f64};
use crate::text::query::stop_words;
use crate::text::query::term_expansion::TermExpansion;

/// A query that segments can evaluate: each word with its terms in the index, each leaf with its
/// weight.
pub(in crate::text) struct Plan {
    pub(in crate::text) root: Vec<(Role, PlanNode)>,
    pub(in crate::text) leaves: Vec<PlannedLeaf>,
    /// Whether it has loose words alone, beside what is ruled out.
    pub(in crate::text) is_loose: bool,
    /// Whether it is its leaves, in their order and once each, of which any may match: a score is then
    /// the sum of theirs.
    pub(in crate::text) is_flat: bool,
    /// The mean document length in words.
    pub(in crate::text) len_mean: f64,
    /// Words that no document has, each with the one that it was read as.
    pub(in crate::text) respelled: Vec<(String, String)>,
}

/// A clause: the index of a leaf, or a group.
pub(in crate::text) enum PlanNode {
    Leaf(usize),
    Group(Vec<(Role, Self)>),
}

/// A word or a phrase.
#[derive(Debug, PartialEq)]
pub(in crate::text) struct PlannedLeaf {
    /// Each word with its distance from the first and its terms.
    pub(in crate::text) words: Vec<(u32, Vec<WeightedTerm>)>,
    pub(in crate::text) field: Option<u32>,
    /// The inverse document frequency times the boost.
    pub(in crate::text) weight: f64,
    /// Whether it adds to the score; `false` below a `MustNot`.
    pub(in crate::text) is_scored: bool,
    /// The number of clauses that it is.
    pub(in crate::text) uses: u32,
}

/// A term of the index and the factor of its frequency.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::text) struct WeightedTerm {
    pub(in crate::text) field: TermField,
    pub(in crate::text) text: String,
    pub(in crate::text) factor: f32,
}

/// Builds a plan from a query.
struct Planner<'a> {
    segments: &'a [Segment<'a>],
    statistics: &'a Statistics<'a>,
    languages: Vec<Language>,
    others: Others,
    leaves: Vec<PlannedLeaf>,
    respelled: Vec<(String, String)>,
}

/// The factors of other words in the place of one that no document has; 0 for none.
#[derive(Clone, Copy)]
pub(in crate::text) struct Others {
    pub(in crate::text) relatives: f64,
    pub(in crate::text) spelling: f64,
}

impl PlannedLeaf {
    /// Returns whether both have the same words, field and weight.
    fn is_alike(&self, other: &Self) -> bool {
        self.weight == other.weight
            && self.field == other.field
            && self.is_scored == other.is_scored
            && self.words == other.words
    }

    /// Returns whether both are one word without a field, with the same stem in some language.
    fn is_form_of(&self, other: &Self) -> bool {
        self.stems()
            .any(|stem| other.stems().any(|its| its == stem))
    }

    /// Returns the stems of a word; none for a phrase or a word with a field.
    fn stems(&self) -> impl Iterator<Item = &str> {
        let words = match self.words.as_slice() {
            [(_, terms)] if self.field.is_none() => terms.as_slice(),
            _ => &[],
        };
        let stems = words.iter().filter(|term| term.field == TermField::Stems);
        let itself = stems.filter(|term| term.factor == 1.0);
        itself.map(|term| term.text.as_str())
    }
}

impl Plan {
    /// Plans a query over segments.
    pub(in crate::text) fn of(
        clauses: &[(Role, Node)],
        fields: &Fields,
        keeps_stop_words: bool,
        others: Others,
        segments: &[Segment<'_>],
        statistics: &Statistics<'_>,
    ) -> tantivy::Result<Self> {
        let mut planner = Planner {
            segments,
            statistics,
            languages: languages(fields.language, statistics)?,
            others,
            leaves: Vec::new(),
            respelled: Vec::new(),
        };
        let is_bare = |node: &Node| matches!(node, Node::Leaf(leaf) if leaf.is_bare);
        let is_loose = |(role, node): &(Role, Node)| match role {
            Role::Should => is_bare(node),
            Role::Must => false,
            Role::MustNot => true,
        };
        let kept = stop_words::kept(clauses, fields.language, keeps_stop_words);
        let root = planner.nodes(kept, true)?;
        let is_next = |(at, (role, node)): (usize, &(Role, PlanNode))| {
            *role == Role::Should && matches!(node, PlanNode::Leaf(number) if *number == at)
        };
        let are_all = root.len() == planner.leaves.len();
        Ok(Self {
            is_loose: clauses.iter().all(is_loose),
            is_flat: are_all && root.iter().enumerate().all(is_next),
            root,
            leaves: planner.leaves,
            len_mean: statistics.len_mean,
            respelled: planner.respelled,
        })
    }
}

/// Returns the default language and all languages that documents name.
pub(in crate::text) fn languages(
    default: Language,
    statistics: &Statistics<'_>,
) -> tantivy::Result<Vec<Language>> {
    let codes = statistics.languages()?;
    let named = codes
        .iter()
        .filter_map(|code| code.parse::<Language>().ok());
    let mut languages = vec![default];
    languages.extend(named.filter(|language| *language != default));
    Ok(languages)
}

impl Planner<'_> {
    fn nodes<'n>(
        &mut self,
        clauses: impl Iterator<Item = &'n (Role, Node)>,
        is_scored: bool,
    ) -> tantivy::Result<Vec<(Role, PlanNode)>> {
        let mut nodes: Vec<(Role, PlanNode)> = Vec::new();
        for (role, node) in clauses {
            let is_scored = is_scored && *role != Role::MustNot;
            let node = match node {
                Node::Group(clauses) => PlanNode::Group(self.nodes(clauses.iter(), is_scored)?),
                Node::Leaf(leaf) => {
                    let planned = self.leaf(leaf, is_scored)?;
                    let is_repeated = nodes.iter().any(|(other, node)| {
                        let PlanNode::Leaf(number) = node else {
                            return false;
                        };
                        let known = self.leaves.get(*number);
                        let is_again = |known: &PlannedLeaf| {
                            known.is_alike(&planned) || leaf.is_bare && known.is_form_of(&planned)
                        };
                        other == role && known.is_some_and(is_again)
                    });
                    // A repeated word counts once, in any of its forms.
                    if is_repeated {
                        continue;
                    }
                    PlanNode::Leaf(self.number(planned))
                }
            };
            nodes.push((*role, node));
        }
        Ok(nodes)
    }

    /// Returns the number of a leaf: one that stands in several groups is evaluated once.
    fn number(&mut self, planned: PlannedLeaf) -> usize {
        let known = self.leaves.iter_mut().enumerate();
        for (number, leaf) in known {
            if leaf.is_alike(&planned) {
                leaf.uses = leaf.uses.saturating_add(1);
                return number;
            }
        }
        self.leaves.push(planned);
        self.leaves.len() - 1
    }

    fn leaf(&mut self, leaf: &Leaf, is_scored: bool) -> tantivy::Result<PlannedLeaf> {
        let mut words = Vec::new();
        let mut idf = 0.0;
        for (offset, word) in &leaf.words {
            let mut terms = self.terms(word)?;
            if is_scored {
                let mut with = self.documents_with(&terms)?;
                let mut factor = 1.0;
                let Others {
                    relatives,
                    spelling,
                } = self.others;
                if with == 0 && leaf.is_bare && relatives > 0.0 {
                    terms.append(&mut self.relatives(word)?);
                    with = self.documents_with(&terms)?;
                    factor = if with == 0 { 1.0 } else { relatives };
                }
                if with == 0 && leaf.is_bare && spelling > 0.0 {
                    terms.append(&mut self.respelled(word)?);
                    with = self.documents_with(&terms)?;
                    factor = if with == 0 { 1.0 } else { spelling };
                }
                idf += factor * self.idf(with);
            }
            words.push((*offset, terms));
        }
        Ok(PlannedLeaf {
            words,
            field: leaf.field,
            weight: idf * f64::from(leaf.boost),
            is_scored,
            uses: 1,
        })
    }

    /// Returns the terms of the family of a word.
    fn relatives(&self, word: &Word) -> tantivy::Result<Vec<WeightedTerm>> {
        let Word::Form(part) = word else {
            return Ok(Vec::new());
        };
        let mut texts: Vec<String> = Vec::new();
        for language in &self.languages {
            let written = fold::plain(&fold::lower(&part.written, *language));
            let stem = token::terms(part, *language).stem;
            let family = Family::of(&written, &stem, *language);
            for form in family.forms {
                let form = Part {
                    written: (*form).into(),
                    ..part.clone()
                };
                texts.push(token::terms(&form, *language).stem);
            }
            for root in &family.roots {
                let prefix = PatternTerms::new(TermPattern::Prefix(root.clone()));
                let terms = self.expand(prefix, Some(TermField::Stems))?;
                let terms = terms.into_iter().map(|(_, text, _)| text);
                texts.extend(terms.filter(|text| family.has(text, root)));
            }
        }
        texts.sort_unstable();
        texts.dedup();
        let term = |text| WeightedTerm {
            field: TermField::Stems,
            text,
            factor: 1.0,
        };
        Ok(texts.into_iter().map(term).collect())
    }

    /// Returns the terms of the word that is spelt most like one that no document has, and notes it.
    fn respelled(&mut self, word: &Word) -> tantivy::Result<Vec<WeightedTerm>> {
        let Word::Form(part) = word else {
            return Ok(Vec::new());
        };
        let written = part.folded();
        let len = written.chars().count();
        let is_word = written.chars().all(char::is_alphabetic);
        if len < RESPELLED_LEN_MIN || !is_word {
            return Ok(Vec::new());
        }
        let distance = if len < RESPELLED_LEN_TWICE { 1 } else { 2 };
        let mut terms = self.terms(&Word::Fuzzy(part.clone(), distance))?;
        // The first letter is seldom wrong, and another makes another word.
        terms.retain(|term| term.text.chars().next() == written.chars().next());
        let nearest = terms.iter().map(|term| term.factor).fold(0.0, f32::max);
        terms.retain(|term| term.factor >= nearest);
        // Of several as near the most frequent is meant.
        let mut best = None;
        for term in &terms {
            let with = self.statistics.documents_with(term.field, &term.text)?;
            if best.as_ref().is_none_or(|(most, _)| with > *most) {
                best = Some((with, term.text.clone()));
            }
        }
        let Some((_, text)) = best else {
            return Ok(Vec::new());
        };
        terms.retain(|term| term.text == text);
        terms.iter_mut().for_each(|term| term.factor = 1.0);
        self.respelled
            .push((part.written.clone().into_owned(), text));
        Ok(terms)
    }

    /// Returns the terms of a word in the index.
    fn terms(&self, word: &Word) -> tantivy::Result<Vec<WeightedTerm>> {
        let expansion = TermExpansion::of(word, &self.languages);
        let mut terms = Vec::new();
        let mut add = |field, text: String, factor| {
            if !terms
                .iter()
                .any(|term: &WeightedTerm| term.field == field && term.text == text)
            {
                terms.push(WeightedTerm {
                    field,
                    text,
                    factor,
                });
            }
        };
        for (field, text, factor) in expansion.terms {
            add(field, text, factor);
        }
        for prefix in expansion.prefixes {
            let expansion = PatternTerms::new(TermPattern::Prefix(prefix.text.clone()));
            for (field, text, _) in self.expand(expansion, prefix.field)? {
                if prefix.matches(&text) {
                    add(field, text, prefix.factor);
                }
            }
        }
        if let Some(fuzzy) = expansion.fuzzy {
            let expansion = PatternTerms::new(TermPattern::Fuzzy(fuzzy));
            for (field, text, distance) in self.expand(expansion, None)? {
                add(field, text, 1.0 / f32::from(distance + 1));
            }
        }
        Ok(terms)
    }

    fn expand(
        &self,
        mut expansion: PatternTerms,
        field: Option<TermField>,
    ) -> tantivy::Result<Vec<(TermField, String, u8)>> {
        for segment in self.segments {
            for each in [TermField::Stems, TermField::Variants] {
                if field.is_none_or(|field| field == each) {
                    expansion.collect(each, segment)?;
                }
            }
        }
        expansion.into_terms(self.statistics)
    }

    /// Returns the number of documents with a word, about.
    fn documents_with(&self, terms: &[WeightedTerm]) -> tantivy::Result<u64> {
        let mut with = [0; 2];
        for term in terms {
            let [stems, variants] = &mut with;
            *(if term.field == TermField::Stems {
                stems
            } else {
                variants
            }) += self.statistics.documents_with(term.field, &term.text)?;
        }
        // A document may contain several of the terms, and most contain both the stem and a variant
        // of a word.
        let with = with.into_iter().max().unwrap_or(0);
        Ok(with.min(self.statistics.documents))
    }

    /// Returns the inverse document frequency of a word, in the variant that is never negative.
    fn idf(&self, with: u64) -> f64 {
        let without = as_f64(self.statistics.documents - with);
        ((without + 0.5) / (as_f64(with) + 0.5)).ln_1p()
    }
}

/// A shorter word is another word, if a letter is another.
const RESPELLED_LEN_MIN: usize = 5;

/// A word of so many letters may have two wrong.
const RESPELLED_LEN_TWICE: usize = 9;
