use std::collections::HashMap;
use std::sync::Arc;

use tantivy::query::{
    Bm25StatisticsProvider, BooleanWeight, EnableScoring, Occur, PhraseQuery, Query as _,
    ScoreCombiner, Scorer, TermQuery, Weight,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{BitSet, DocId, Score, Searcher, SegmentReader, Term};

use super::Query;
use super::analysis::Word;
use super::document::ROW;
use super::hit::{Best, Hit};
use super::query::{Clause, Role};

/// What a search reads: it stays as it is while the view goes on being fed.
pub(super) struct Snapshot {
    pub(super) committed: Searcher,
    pub(super) tail: Vec<Arc<SegmentReader>>,
}

impl Snapshot {
    fn segments(&self) -> impl Iterator<Item = &SegmentReader> {
        let tail = self.tail.iter().map(Arc::as_ref);
        self.committed.segment_readers().iter().chain(tail)
    }
}

/// Scores every document of `snapshot` that matches `query` and offers it to `best`.
///
/// The statistics are those of all segments together, so a document scores the same whichever
/// segment holds it. Every match is visited, never only the promising ones: it may be counted.
pub(super) fn collect(
    query: &Query,
    field: Field,
    snapshot: &Snapshot,
    best: &mut Best<'_>,
) -> tantivy::Result<()> {
    let statistics = Statistics::gather(query, field, snapshot)?;
    let sum = sum_of_clauses(query, field, &snapshot.committed, &statistics)?;
    let conditions = Conditions::of(query, field, &snapshot.committed)?;
    for segment in snapshot.segments() {
        let admitted = conditions.admitted(segment)?;
        let rows = segment.fast_fields().u64(ROW)?;
        sum.for_each(segment, &mut |document, score| {
            if admitted.contains(document)
                && let Some(row) = rows.first(document)
            {
                best.offer(Hit { row, score });
            }
        })?;
    }
    Ok(())
}

/// What BM25 asks about a corpus, summed over segments.
struct Statistics {
    documents: u64,
    words: u64,
    documents_with: HashMap<Term, u64>,
}

impl Statistics {
    /// Asks each segment once per word that will be scored.
    fn gather(query: &Query, field: Field, snapshot: &Snapshot) -> tantivy::Result<Self> {
        let mut statistics = Self {
            documents: 0,
            words: 0,
            documents_with: HashMap::new(),
        };
        for word in query.wanted().flat_map(|clause| &clause.words) {
            let term = Term::from_field_text(field, &word.stem);
            statistics.documents_with.insert(term, 0);
        }
        for segment in snapshot.segments() {
            let inverted = segment.inverted_index(field)?;
            statistics.documents += u64::from(segment.max_doc());
            statistics.words += inverted.total_num_tokens();
            for (term, documents) in &mut statistics.documents_with {
                *documents += u64::from(inverted.doc_freq(term)?);
            }
        }
        Ok(statistics)
    }
}

impl Bm25StatisticsProvider for Statistics {
    fn total_num_tokens(&self, _: Field) -> tantivy::Result<u64> {
        Ok(self.words)
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        Ok(self.documents)
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        Ok(self.documents_with.get(term).copied().unwrap_or(0))
    }
}

/// Returns what scores: the sum of the clauses that are looked for and occur, at least one.
fn sum_of_clauses(
    query: &Query,
    field: Field,
    searcher: &Searcher,
    statistics: &Statistics,
) -> tantivy::Result<BooleanWeight<Sum>> {
    let scored = EnableScoring::enabled_from_statistics_provider(statistics, searcher);
    let weights = query.wanted().map(|clause| {
        let weight = leaf(clause, field).weight(scored)?;
        Ok((Occur::Should, weight))
    });
    let weights = weights.collect::<tantivy::Result<_>>()?;
    let combiner = Box::new(Sum::default);
    Ok(BooleanWeight::with_minimum_number_should_match(
        weights, 1, true, combiner,
    ))
}

/// What a document must satisfy besides being looked for.
///
/// The library has conjunctions and exclusions of its own, but 0.27 seeks a phrase backwards when
/// it is to be excluded, and adds the scores of a conjunction in the order of their frequency in a
/// segment. Sets of documents have neither fault, and cost no more than reading every match does.
struct Conditions(Vec<(Role, Box<dyn Weight>)>);

impl Conditions {
    fn of(query: &Query, field: Field, searcher: &Searcher) -> tantivy::Result<Self> {
        let unscored = EnableScoring::disabled_from_searcher(searcher);
        let clauses = query.clauses().iter();
        let conditions = clauses
            .filter(|clause| clause.role != Role::Should)
            .map(|clause| Ok((clause.role, leaf(clause, field).weight(unscored)?)));
        Ok(Self(conditions.collect::<tantivy::Result<_>>()?))
    }

    /// Returns the documents of `segment` that satisfy all conditions.
    fn admitted(&self, segment: &SegmentReader) -> tantivy::Result<BitSet> {
        let mut admitted = BitSet::with_max_value_and_full(segment.max_doc());
        for (role, weight) in &self.0 {
            if *role == Role::MustNot {
                let mut remove = |documents: &[DocId]| {
                    documents
                        .iter()
                        .for_each(|document| admitted.remove(*document));
                };
                weight.for_each_no_score(segment, &mut remove)?;
            } else {
                let mut both = BitSet::with_max_value(segment.max_doc());
                let mut keep = |documents: &[DocId]| {
                    for document in documents.iter().filter(|found| admitted.contains(**found)) {
                        both.insert(*document);
                    }
                };
                weight.for_each_no_score(segment, &mut keep)?;
                admitted = both;
            }
        }
        Ok(admitted)
    }
}

/// Returns the clause as the index library takes it.
fn leaf(clause: &Clause, field: Field) -> Box<dyn tantivy::query::Query> {
    let term = |word: &Word| Term::from_field_text(field, &word.stem);
    match clause.words.as_slice() {
        [word] => Box::new(TermQuery::new(term(word), IndexRecordOption::WithFreqs)),
        words => {
            let placed = words.iter().map(|word| (word.position, term(word)));
            Box::new(PhraseQuery::new_with_offset(placed.collect()))
        }
    }
}

/// Adds up scores in double precision.
///
/// The order of the parts depends on the segment, and in single precision so would the last bit of
/// the sum: equal documents would no longer tie, and a commit could swap them. A sum of thousands
/// of single-precision scores is exact in double precision, or so nearly that rounding it hides
/// the order.
#[derive(Default, Clone, Copy)]
struct Sum {
    score: f64,
}

impl ScoreCombiner for Sum {
    fn update<S: Scorer>(&mut self, scorer: &mut S) {
        self.score += f64::from(scorer.score());
    }

    fn clear(&mut self) {
        self.score = 0.0;
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "rounding once is the point"
    )]
    fn score(&self) -> Score {
        self.score as Score
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tantivy::query::{AllScorer, ConstScorer};

    use super::*;

    fn sum(scores: &[f32]) -> Score {
        let mut sum = Sum::default();
        for score in scores {
            sum.update(&mut ConstScorer::new(AllScorer::new(1), *score));
        }
        sum.score()
    }

    proptest! {
        #[test]
        fn a_sum_does_not_depend_on_the_order_of_its_parts(
            scores in prop::collection::vec(1e-4_f32..40.0, 2..20),
            turn in 1_usize..19,
        ) {
            let mut turned = scores.clone();
            turned.rotate_left(turn % scores.len());
            prop_assert_eq!(sum(&turned).to_bits(), sum(&scores).to_bits());
        }
    }
}
