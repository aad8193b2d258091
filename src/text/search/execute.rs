//! The execution of a search: plan, score all segments, rerank, and resolve the hits.
//!
//! `search` and `recall` are the two entry points; both evaluate one snapshot.

use crate::index::RowSet;
use crate::ledger::EntryId;
use crate::text::error::Error;
use crate::text::index::segment_reader::Segment;
use crate::text::index::view::View;
use crate::text::query::lowering::Query;
use crate::text::query::plan::{Others, Plan};
use crate::text::query::statistics::{OwnRows, Statistics};
use crate::text::search::bm25::{self, SegmentScorer};
use crate::text::search::conversation::{self, Around, Conversations};
use crate::text::search::hit::{Hit, Hits, RecalledHit, TOTAL_MAX};
use crate::text::search::in_order;
use crate::text::search::phrase::PhraseMatcher;
use crate::text::search::ranking::{Ranking, RankingExplanation};
use crate::text::search::relevant;
use crate::text::search::rerank::{Dated, Explanations, Meaning, Reranker};
use crate::text::search::score_block::ScoreBlock;
use crate::text::search::top_docs::{Candidate, TopDocs, as_f32};

/// A search: what is asked, and what may be shown.
pub(crate) struct Search<'a> {
    pub(crate) query: &'a Query,
    pub(crate) ranking: &'a Ranking,
    /// The maximum number of hits.
    pub(crate) limit: usize,
    pub(crate) accept: &'a (dyn Fn(EntryId) -> bool + Sync),
    /// The rows for which `accept` returns true, if they are known and few.
    pub(crate) accepted: Option<&'a RowSet>,
    /// The rows that `accept` accepts, where statistics are those of these alone.
    pub(crate) own: Option<OwnRows>,
    /// Asked before every few thousand rows: a search that is over returns the hits so far.
    pub(crate) is_over: &'a (dyn Fn() -> bool + Sync),
    /// The vectors of a hybrid search.
    pub(crate) meaning: Option<&'a Meaning<'a>>,
    /// The times that the question names.
    pub(crate) dated: Dated<'a>,
    /// The number of turns around each hit that a recall returns; `None` of a search, which counts
    /// its matches instead.
    pub(crate) reach: Option<usize>,
    /// Whether the hits tell the fields that matched, for which positions are read.
    pub(crate) tells_fields: bool,
}

/// The result of a search: its hits, with their explanations, and the turns around them for a
/// recall.
#[derive(Default)]
pub(crate) struct Searched {
    pub(crate) hits: Hits,
    /// One for each hit, if they were asked for.
    pub(crate) explanations: Vec<Vec<(&'static str, f64)>>,
    /// The surroundings of each hit, for a recall.
    around: Vec<Around>,
}

pub(in crate::text) fn search(view: &View, search: &Search<'_>) -> Result<Searched, Error> {
    let has_others = search.meaning.is_some() || !search.dated.rows.is_empty();
    if search.query.is_empty() && !has_others {
        return Ok(Searched::default());
    }
    find(view, search).map_err(Error::index("searching"))
}

fn find(view: &View, search: &Search<'_>) -> tantivy::Result<Searched> {
    let (query, ranking, limit) = (search.query, search.ranking, search.limit);
    let snapshot = view.snapshot();
    let segments = snapshot.segments(&view.fields)?;
    let plan = planned(view, search, &segments)?;
    let norms = bm25::norms(&plan);
    let kept = kept(ranking, limit);
    // A recall does not report a total.
    let count_max = if search.reach.is_some() { 0 } else { TOTAL_MAX };
    let mut top = TopDocs::new(kept, count_max, search.accept, search.is_over);
    // Made once: to clear them costs as much as to score a rare word.
    let mut blocks: Vec<_> = plan.leaves.iter().map(|_| ScoreBlock::new()).collect();
    for (number, segment) in segments.iter().enumerate() {
        if top.is_over() {
            break;
        }
        let (accepted, blocks) = (search.accepted, &mut *blocks);
        let scorer = SegmentScorer::open(segment, &plan, &norms, accepted, blocks)?;
        scorer.offer(number, &mut top);
    }
    let (total, total_is_lower_bound) = top.total();
    let is_partial = top.is_over();
    let mut candidates = top.into_candidates();
    let mut explanations = ranking.explains.then(Explanations::new);
    let mut conversations = Conversations::new();
    if ranking.uses_conversation() && !is_partial {
        let reranker = Reranker {
            segments: &segments,
            fields: &view.fields,
            plan: &plan,
            norms: &norms,
            ranking,
            asked: &query.asked,
            accept: search.accept,
            meaning: search.meaning,
            dated: search.dated,
        };
        conversations = reranker.rank(&mut candidates, explanations.as_mut())?;
    }
    if ranking.uses_signals() {
        weigh(&mut candidates, &segments, ranking, explanations.as_mut());
    }
    let (less_relevant, counted) = keep(&mut candidates, search, &segments, &plan)?;
    let around = match search.reach {
        Some(reach) => conversation::around(
            &candidates,
            conversations,
            &segments,
            &view.fields,
            reach,
            search.accept,
        )?,
        None => Vec::new(),
    };
    let explained = explanations.map(|explanations| parts(&candidates, &explanations));
    Ok(Searched {
        explanations: explained.unwrap_or_default(),
        around,
        hits: Hits {
            // Turns of a conversation that was read are hits without a match.
            total: total.max(candidates.len().min(TOTAL_MAX)),
            total_is_lower_bound: total_is_lower_bound || is_partial,
            is_partial,
            less_relevant,
            respelled: plan.respelled.clone(),
            counted,
            hits: hits(&candidates, &segments, &plan, search.tells_fields)?,
        },
    })
}

pub(in crate::text) fn sessions(
    view: &View,
    accept: &(dyn Fn(EntryId) -> bool + Sync),
) -> Result<Vec<Vec<EntryId>>, Error> {
    let snapshot = view.snapshot();
    let segments = snapshot.segments(&view.fields);
    let segments = segments.map_err(Error::index("reading conversations"))?;
    Ok(conversation::in_order(&segments, accept))
}

/// Plans a search over the statistics that it asks for.
fn planned(view: &View, search: &Search<'_>, segments: &[Segment<'_>]) -> tantivy::Result<Plan> {
    let fields = &view.fields;
    let statistics = match &search.own {
        Some(own) => Statistics::of_own(segments, fields, own, search.accept)?,
        None => Statistics::of_all(segments),
    };
    let keeps_stop_words = view.options.stop_words;
    let others = Others {
        relatives: search.ranking.relatives,
        spelling: search.ranking.spelling,
    };
    let clauses = &search.query.clauses;
    Plan::of(
        clauses,
        fields,
        keeps_stop_words,
        others,
        segments,
        &statistics,
    )
}

/// Returns the number of candidates: reranking may promote those that the words alone rank low.
fn kept(ranking: &Ranking, limit: usize) -> usize {
    match (ranking.uses_signals(), ranking.uses_conversation()) {
        (true, _) => limit.max(SIGNAL_CANDIDATES),
        (false, true) => limit.max(CONVERSATION_CANDIDATES),
        (false, false) => limit,
    }
}

/// Keeps the candidates that are asked for, as they are asked for: best first, or those that are in the
/// order of time before the others. Returns how many it leaves out as less relevant, and the rows that count.
fn keep(
    candidates: &mut Vec<Candidate>,
    search: &Search<'_>,
    segments: &[Segment<'_>],
    plan: &Plan,
) -> tantivy::Result<(usize, Vec<EntryId>)> {
    let (ranking, limit) = (search.ranking, search.limit);
    let order = search.dated.order.filter(|_| ranking.uses_conversation());
    if ranking.reranks() {
        let considered = order.map_or(limit, |_| limit.max(ORDERED_CANDIDATES));
        keep_best(candidates, considered, segments);
    }
    let less_relevant = relevant::keep(candidates, ranking, segments, plan, search.dated)?;
    let counted = match order {
        Some(order) => in_order::put(candidates, order, limit, segments, plan)?,
        None => Vec::new(),
    };
    Ok((less_relevant, counted))
}

/// Keeps the best `limit` candidates, best first. The tie-breaker is read of those alone whose scores
/// are high enough.
fn keep_best(candidates: &mut Vec<Candidate>, limit: usize, segments: &[Segment<'_>]) {
    let score = |candidate: &Candidate| as_f32(candidate.score);
    if let Some(last) = limit.checked_sub(1).filter(|last| *last < candidates.len()) {
        let higher_first = |a: &Candidate, b: &Candidate| score(b).total_cmp(&score(a));
        let (_, worst, _) = candidates.select_nth_unstable_by(last, higher_first);
        let least = score(worst);
        candidates.retain(|candidate| score(candidate).total_cmp(&least).is_ge());
    }
    for candidate in candidates.iter_mut() {
        let segment = segments.get(candidate.segment);
        candidate.order = segment.map_or(0, |segment| segment.order(candidate.document));
    }
    candidates.sort_unstable_by(Candidate::best_first);
    candidates.truncate(limit);
}

/// Multiplies the scores by the signals of the candidates.
fn weigh(
    candidates: &mut [Candidate],
    segments: &[Segment<'_>],
    ranking: &Ranking,
    mut explanations: Option<&mut Explanations>,
) {
    for candidate in candidates {
        let Some(segment) = segments.get(candidate.segment) else {
            continue;
        };
        let time_ms = segment.time_ms(candidate.document);
        let signals = ranking.signals(time_ms, segment.importance(candidate.document));
        if let Some(explanations) = &mut explanations {
            let explanation = explanations.entry(candidate.row);
            let explanation = explanation.or_insert_with(|| by_words(candidate.score));
            explanation.signals = signals;
        }
        candidate.score *= signals;
    }
}

/// Returns the parts of the score of each candidate.
fn parts(candidates: &[Candidate], explanations: &Explanations) -> Vec<Vec<(&'static str, f64)>> {
    let parts = |candidate: &Candidate| {
        let explanation = explanations.get(&candidate.row).copied();
        let explanation = explanation.unwrap_or_else(|| by_words(candidate.score));
        explanation.parts().collect()
    };
    candidates.iter().map(parts).collect()
}

impl Searched {
    /// Returns the hits of a recall, each with the turns around it.
    pub(crate) fn into_recalled(self) -> Vec<RecalledHit> {
        let hits = self.hits.hits.into_iter().zip(self.around);
        hits.map(|(hit, around)| RecalledHit {
            hit,
            turns: around.turns,
            has_thread: around.has_thread,
            shape: around.shape,
        })
        .collect()
    }
}

/// Returns the explanation of a score by words alone.
fn by_words(words: f64) -> RankingExplanation {
    RankingExplanation {
        words,
        ..RankingExplanation::default()
    }
}

/// Returns candidates as hits, with the fields that matched if `tells_fields` says so.
fn hits(
    candidates: &[Candidate],
    segments: &[Segment<'_>],
    plan: &Plan,
    tells_fields: bool,
) -> tantivy::Result<Vec<Hit>> {
    let mut hits: Vec<(usize, &Candidate, Hit)> = Vec::with_capacity(candidates.len());
    for (rank, candidate) in candidates.iter().enumerate() {
        let hit = Hit {
            row: candidate.row,
            score: as_f32(candidate.score),
            fields: 0,
        };
        hits.push((rank, candidate, hit));
    }
    if !tells_fields {
        return Ok(hits.into_iter().map(|(.., hit)| hit).collect());
    }
    hits.sort_unstable_by_key(|(_, at, _)| (at.segment, at.document));
    for of_segment in hits.chunk_by_mut(|(_, a, _), (_, b, _)| a.segment == b.segment) {
        let segment = of_segment
            .first()
            .and_then(|(_, at, _)| segments.get(at.segment));
        let Some(segment) = segment else {
            continue;
        };
        for leaf in plan.leaves.iter().filter(|leaf| leaf.is_scored) {
            let mut matcher = PhraseMatcher::open(segment, leaf)?;
            for (_, at, hit) in of_segment.iter_mut() {
                hit.fields |= matcher.fields(at.document);
            }
        }
    }
    hits.sort_unstable_by_key(|(rank, ..)| *rank);
    Ok(hits.into_iter().map(|(.., hit)| hit).collect())
}

/// The number of candidates that are reranked by their conversations, together with the other
/// matches in those.
const CONVERSATION_CANDIDATES: usize = 256;

/// The number of the best candidates that a question asks an order of.
const ORDERED_CANDIDATES: usize = 100;

/// The number of candidates that are reranked by time and importance.
const SIGNAL_CANDIDATES: usize = 1_000;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::ledger::{Disk, MemoryDisk};
    use crate::text::document::Document;
    use crate::text::index::open::Fingerprint;
    use crate::text::options::TextOptions;

    /// A sequence of numbers that looks like chance (SplitMix64).
    struct Dice(u64);

    impl Dice {
        fn below(&mut self, end: u64) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (z ^ (z >> 31)) % end
        }

        /// Draws a word: the first are frequent, the last rare, and some are forms of one.
        fn word(&mut self) -> &'static str {
            let (a, b, c) = (self.below(100), self.below(100), self.below(100));
            let place = a * b * c * WORDS.len() as u64 / 1_000_000;
            WORDS[usize::try_from(place).unwrap()]
        }

        fn text(&mut self, words_max: u64) -> String {
            let words: Vec<_> = (0..=self.below(words_max)).map(|_| self.word()).collect();
            words.join(" ")
        }

        fn query(&mut self) -> String {
            let [a, b, c, d] = [(); 4].map(|()| self.word());
            match self.below(9) {
                0 => a.to_owned(),
                1 => format!("{a} {b}"),
                2 => format!("+{a} {b} {c}"),
                3 => format!("{a} {b} -{c}"),
                4 => format!("\"{a} {b}\" {c}"),
                5 => format!("{a}^3 {b} {c} {d}"),
                6 => format!("{}* {b}", &a[..2]),
                7 => format!("({a} OR {b}) AND ({c} OR {d})"),
                _ => format!("+{a} +{b}"),
            }
        }
    }

    const WORDS: [&str; 24] = [
        "tea", "cup", "teas", "run", "runs", "running", "green", "pot", "kettle", "milk", "house",
        "houses", "e-mail", "email", "leaf", "leaves", "sugar", "lemon", "water", "winter",
        "spoon", "market", "river", "stone",
    ];

    /// Makes a view of several segments on the disk and in memory; returns it and its rows.
    fn view(dice: &mut Dice, documents: u64) -> (View, Vec<EntryId>) {
        let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::default());
        let of_any: Fingerprint = Arc::new(|_| Some([0; 8]));
        let (view, _) =
            View::open(&disk, 0, &of_any, &Arc::default(), TextOptions::default()).unwrap();
        let (mut rows, mut row) = (Vec::new(), 0);
        // Of some views the rows have gaps.
        let gaps = 1 + dice.below(2) * 2;
        for _ in 0..documents {
            row += 1 + dice.below(gaps);
            let mut document = Document::from(&*dice.text(12));
            document.order = dice.below(50);
            view.push(EntryId::new(row), document, |_| ());
            rows.push(EntryId::new(row));
            if dice.below(documents / 3) == 0 {
                view.flush().unwrap();
            }
        }
        if dice.below(2) == 0 {
            view.merge_all().unwrap();
        }
        (view, rows)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        #[test]
        fn pruning_changes_neither_the_hits_nor_their_order_nor_their_scores(seed: u64) {
            let mut dice = Dice(seed);
            let documents = 600 + dice.below(2_400);
            let (view, rows) = view(&mut dice, documents);
            for _ in 0..12 {
                let query = dice.query();
                let parsed = Query::parse(&query).unwrap();
                // Runs of rows, as conversations are in one namespace.
                let (every, seed) = (1 + dice.below(20), dice.below(1_000));
                let is_in = |row: &EntryId| (row.get() / 40 + seed).is_multiple_of(every);
                let among: RowSet = rows.iter().copied().filter(is_in).collect();
                let accept = |row: EntryId| among.contains(row);
                let (words, conversation) = (Ranking::WORDS, Ranking::default());
                let find = |limit, reach, accepted, ranking| {
                    let found = search(&view, &Search {
                        query: &parsed,
                        ranking,
                        limit,
                        accept: &accept,
                        accepted,
                        own: None,
                        is_over: &|| false,
                        meaning: None,
                        dated: Dated::default(),
                        reach,
                        tells_fields: true,
                    });
                    found.unwrap().hits
                };
                // With room for all, nothing is pruned.
                let all = find(rows.len() * 2, None, None, &words);
                for limit in [1, 7, 60] {
                    for accepted in [None, Some(&among)] {
                        let best = &all.hits[..limit.min(all.hits.len())];
                        let recalled = find(limit, Some(0), accepted, &words);
                        prop_assert_eq!(&*recalled.hits, best, "{:?} of {}", &query, limit);
                        let found = find(limit, None, accepted, &words);
                        prop_assert_eq!(&*found.hits, best, "{:?} of {}", &query, limit);
                        prop_assert_eq!(found.total, all.total, "{:?}", &query);
                    }
                }
                let [one, other] = [None, Some(&among)]
                    .map(|accepted| find(9, None, accepted, &conversation));
                prop_assert_eq!(one, other, "{:?}", &query);
            }
        }
    }
}
