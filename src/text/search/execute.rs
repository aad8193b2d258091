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
use crate::text::search::conversation::{self, Conversations, Surroundings};
use crate::text::search::hit::{self, Hits, ShapedHit, TOTAL_MAX};
use crate::text::search::in_order;
use crate::text::search::ranking::Ranking;
use crate::text::search::relevant;
use crate::text::search::rerank::{self, Dated, Explanations, Meaning, Reranker};
use crate::text::search::score_block::ScoreBlocks;
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

/// The result of a search: its hits, with their explanations, and for a recall what is known of them
/// and around them.
#[derive(Default)]
pub(crate) struct Searched {
    pub(crate) hits: Hits,
    /// One for each hit, if they were asked for.
    pub(crate) explanations: Vec<Vec<(&'static str, f64)>>,
    /// The hits of a recall.
    pub(crate) shaped: Vec<ShapedHit>,
    /// The turns around the hits of a recall; `None` where nothing was searched.
    pub(crate) around: Option<Surroundings>,
}

pub(in crate::text) fn search(view: &View, search: &Search<'_>) -> Result<Searched, Error> {
    let has_others = search.meaning.is_some() || !search.dated.rows.is_empty();
    if search.query.is_empty() && !has_others {
        return Ok(Searched::default());
    }
    find(view, search).map_err(Error::index("searching"))
}

fn find(view: &View, search: &Search<'_>) -> tantivy::Result<Searched> {
    let snapshot = view.snapshot();
    let segments = snapshot.segments(&view.fields)?;
    let plan = planned(view, search, &segments)?;
    let evaluation = Evaluation {
        view,
        search,
        segments: &segments,
        plan: &plan,
        norms: &bm25::norms(&plan),
    };
    let Ranked {
        matched,
        conversations,
        mut explanations,
    } = evaluation.best()?;
    let Matched {
        mut candidates,
        total,
        total_is_lower_bound,
        is_partial,
    } = matched;
    let ranking = search.ranking;
    if ranking.uses_signals() {
        rerank::weigh(&mut candidates, &segments, ranking, explanations.as_mut());
    }
    let (less_relevant, counted) = keep(&mut candidates, search, &segments, &plan)?;
    let explained = explanations.map(|explanations| rerank::parts(&candidates, &explanations));
    let hits = Hits {
        // Turns of a conversation that was read are hits without a match.
        total: total.max(candidates.len().min(TOTAL_MAX)),
        total_is_lower_bound: total_is_lower_bound || is_partial,
        is_partial,
        less_relevant,
        respelled: plan.respelled.clone(),
        counted,
        hits: hit::hits(&candidates, &segments, &plan, search.tells_fields)?,
    };
    let shaped = match search.reach {
        Some(_) => hit::shaped(&candidates, &hits.hits, &segments),
        None => Vec::new(),
    };
    drop(segments);
    let around = search
        .reach
        .map(|reach| Surroundings::new(snapshot, conversations, candidates, reach));
    Ok(Searched {
        hits,
        explanations: explained.unwrap_or_default(),
        shaped,
        around,
    })
}

/// A search while it finds its candidates.
struct Evaluation<'a> {
    view: &'a View,
    search: &'a Search<'a>,
    segments: &'a [Segment<'a>],
    plan: &'a Plan,
    norms: &'a [f64; 256],
}

/// The best candidates by words, best first, and how many match.
struct Matched {
    candidates: Vec<Candidate>,
    total: usize,
    total_is_lower_bound: bool,
    is_partial: bool,
}

/// Candidates reranked by their conversations, in any order.
struct Ranked {
    matched: Matched,
    conversations: Conversations,
    explanations: Option<Explanations>,
}

impl Evaluation<'_> {
    /// Returns the candidates, reranked: of fewer than [`kept`] where those left out cannot change the
    /// answer, which mostly is so.
    fn best(&self) -> tantivy::Result<Ranked> {
        let search = self.search;
        let kept = kept(search.ranking, search.limit);
        let lens = self.segments.iter().map(Segment::conversations);
        let conversations = lens.fold(0, usize::saturating_add);
        // Of a few conversations the best candidates seldom have as many as are read.
        let is_tried = conversations >= CONVERSATIONS_MANY;
        if let Some(few) = few(search).filter(|few| is_tried && *few < kept) {
            let matched = self.matched(few)?;
            let last = matched.candidates.last().map(|worst| worst.score);
            // Where there are no more, none is left out.
            let is_all = matched.candidates.len() < few || matched.is_partial;
            let Some(score) = last.filter(|_| !is_all) else {
                return self.ranked(matched);
            };
            if conversation::are_decided(&matched.candidates, self.segments) {
                let ranked = self.ranked(matched)?;
                // One outside the conversations that are read scores at most its words.
                let most = as_f32(score * SLACK);
                let candidates = ranked.matched.candidates.iter();
                let above = candidates.filter(|candidate| as_f32(candidate.score) > most);
                if above.count() >= search.limit {
                    return Ok(ranked);
                }
            }
        }
        self.ranked(self.matched(kept)?)
    }

    /// Returns the best `kept` candidates by words.
    fn matched(&self, kept: usize) -> tantivy::Result<Matched> {
        let (search, plan) = (self.search, self.plan);
        // A recall does not report a total.
        let count_max = if search.reach.is_some() { 0 } else { TOTAL_MAX };
        let mut top = TopDocs::new(kept, count_max, search.accept, search.is_over);
        let mut blocks = ScoreBlocks::new(plan.leaves.len());
        for (number, segment) in self.segments.iter().enumerate() {
            if top.is_over() {
                break;
            }
            let (accepted, parts) = (search.accepted, blocks.parts());
            let scorer = SegmentScorer::open(segment, plan, self.norms, accepted, parts)?;
            scorer.offer(number, &mut top);
        }
        let (total, total_is_lower_bound) = top.total();
        Ok(Matched {
            total,
            total_is_lower_bound,
            is_partial: top.is_over(),
            candidates: top.into_candidates(),
        })
    }

    fn ranked(&self, mut matched: Matched) -> tantivy::Result<Ranked> {
        let ranking = self.search.ranking;
        let mut explanations = ranking.explains.then(Explanations::new);
        let mut conversations = Conversations::new();
        if ranking.uses_conversation() && !matched.is_partial {
            let explanations = explanations.as_mut();
            conversations = self
                .reranker()
                .rank(&mut matched.candidates, explanations)?;
        }
        Ok(Ranked {
            matched,
            conversations,
            explanations,
        })
    }

    fn reranker(&self) -> Reranker<'_> {
        let search = self.search;
        Reranker {
            segments: self.segments,
            fields: &self.view.fields,
            plan: self.plan,
            norms: self.norms,
            ranking: search.ranking,
            asked: &search.query.asked,
            accept: search.accept,
            meaning: search.meaning,
            dated: search.dated,
        }
    }
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
        Some(own) => Statistics::of_own(segments, own, search.accept),
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

/// Returns the number of candidates to try with first: `None` where nothing but words alone decides
/// which candidates may be among the best, or where few rows match anyway.
fn few(search: &Search<'_>) -> Option<usize> {
    let (ranking, dated) = (search.ranking, search.dated);
    let is_by_words = ranking.uses_conversation() && !ranking.uses_signals();
    let is_dated = dated.order.is_some() || !dated.windows.is_empty() || !dated.rows.is_empty();
    let has_others = search.meaning.is_some() || is_dated || search.query.asked.cues != 0;
    let more = search.limit.saturating_add(search.limit / 4);
    (is_by_words && !has_others && search.accepted.is_none()).then(|| more.max(FEW_CANDIDATES))
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
        // Scores alone are moved faster than candidates.
        let mut scores: Vec<f32> = candidates.iter().map(score).collect();
        let (_, least, _) = scores.select_nth_unstable_by(last, |a, b| b.total_cmp(a));
        candidates.retain(|candidate| score(candidate).total_cmp(least).is_ge());
    }
    for candidate in candidates.iter_mut() {
        let segment = segments.get(candidate.segment);
        candidate.order = segment.map_or(0, |segment| segment.order(candidate.document));
    }
    candidates.sort_unstable_by(Candidate::best_first);
    candidates.truncate(limit);
}

/// The number of candidates that are reranked by their conversations, together with the other
/// matches in those.
const CONVERSATION_CANDIDATES: usize = 256;

/// The number of candidates that are mostly enough: more than the conversations that are read.
const FEW_CANDIDATES: usize = 2 * conversation::CONVERSATIONS_MAX;

/// With so many conversations the few candidates are mostly of more than are read.
const CONVERSATIONS_MANY: usize = 8 * conversation::CONVERSATIONS_MAX;

/// More than the rounding errors of a score.
const SLACK: f64 = 1.0 + 1e-6;

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
        // Of some views the turns are in conversations, of some in so many that not all are read.
        let (turns, every) = (1 + dice.below(60), dice.below(4));
        for _ in 0..documents {
            row += 1 + dice.below(gaps);
            let mut document = Document::from(&*dice.text(12));
            document.order = dice.below(50);
            document.thread = (row / turns + 1) * u64::from(row % 3 < every);
            document.time_ms = i64::try_from(row ^ dice.below(2)).unwrap();
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
                // Where the accepted rows are known, more candidates are kept.
                for limit in [1, 9, 60, 100] {
                    let [one, other] = [None, Some(&among)]
                        .map(|accepted| find(limit, None, accepted, &conversation));
                    prop_assert_eq!(one, other, "{:?} of {}", &query, limit);
                    let [one, other] = [None, Some(&among)]
                        .map(|accepted| find(limit, Some(1), accepted, &conversation));
                    prop_assert_eq!(one, other, "{:?} of {}", &query, limit);
                }
            }
        }
    }
}
