//! `Store::recall`: the best grains for a question, with their context, within a token budget.
//!
//! Ranking is in `text`; the output formats are in `render`.

mod collected;
mod contradictions;
mod gathering;
mod names;

use crate::index::{RowSet, Snapshot};
use crate::ledger::EntryId;
use crate::render::Recollection;
use crate::store::Access;
use crate::store::read::unless_erased;
use crate::text::{self, Hit, KnownLine, Ranking, ShapedHit};

use super::dated::asked_by_time;
use super::names::with_aliases;
use super::plan::rows_to_rank;
use super::search::{QuestionVector, if_few, own_rows, with_meaning};
use super::visible::narrow;
use super::{Error, Filter, Sort, SortBy};
pub(super) use contradictions::contradicted_by;
use gathering::Gathering;

/// The limits and the ranking of a recall.
///
/// ```
/// use grainstore::query::Recall;
///
/// let short = Recall { budget: 500, ..Recall::default() };
/// assert_eq!(short.reach, 1);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recall {
    /// The maximum size of the result as Markdown, in [`tokens`](crate::render::tokens).
    pub budget: usize,
    /// The number of turns before and after each hit that are included.
    pub reach: usize,
    /// The ranking.
    pub ranking: Ranking,
}

impl Default for Recall {
    fn default() -> Self {
        Self {
            budget: 2_000,
            reach: 1,
            ranking: Ranking::default(),
        }
    }
}

impl Recall {
    /// Returns the recall with only what is relevant ([`Ranking::precise`]), without the turns around it.
    ///
    /// ```
    /// use grainstore::query::Recall;
    ///
    /// assert_eq!(Recall::default().precise().reach, 0);
    /// ```
    #[must_use]
    pub const fn precise(self) -> Self {
        Self {
            reach: 0,
            ranking: self.ranking.precise(),
            ..self
        }
    }
}

/// See [`Store::recall`](crate::Store::recall).
pub(crate) fn recall(
    store: &Access,
    question: &str,
    filter: &Filter,
    recall: &Recall,
) -> Result<Recollection, Error> {
    let filter = match store.capability() {
        Some(capability) => narrow(capability, filter),
        None => Some(filter.clone()),
    };
    let vector = QuestionVector::default();
    match filter {
        Some(filter) => unless_erased(|| recall_once(store, question, &filter, recall, &vector)),
        None => Ok(Recollection::default()),
    }
}

fn recall_once(
    store: &Access,
    question: &str,
    filter: &Filter,
    recall: &Recall,
    vector: &QuestionVector,
) -> Result<Recollection, Error> {
    let query = text::Query::words(question);
    let vector = vector.of(store, &query, &recall.ranking)?;
    let snapshot = store.snapshot();
    let rows = rows_to_rank(store, &snapshot, filter)?;
    let accept = rows.membership();
    let text = store.text_view()?;
    let when = super::dated::when(store, &snapshot, &rows, question, &recall.ranking)?;
    if let Some(asked) = asked_by_time(store, &snapshot, &rows, &when)? {
        let hits: Vec<_> = asked.into_iter().map(by_time).collect();
        let mut gathering =
            Gathering::new(store, &snapshot, (&*rows, filter), &hits, recall.budget)?;
        // A question for a time has what was said then, and nothing around it.
        gathering.fill(&|| Ok(text.highlighter(&query)?), &mut |hit| {
            let hit = hits.get(hit).map(|it| (it.hit.row, it.line));
            Ok(hit.into_iter().collect())
        })?;
        gathering.record_reads("recall")?;
        return gathering.into_recollection();
    }
    let named = super::dated::named(store, &snapshot, &rows, &when, &recall.ranking)?;
    let query = query.without(&when.used);
    let (asked, mut read_as) = with_aliases(store, &snapshot, &rows, &query, &recall.ranking)?;
    let is_over = store.search_deadline();
    let search = |meaning: Option<&text::Meaning<'_>>| {
        let found = text.find(&text::Search {
            query: &asked,
            ranking: &recall.ranking,
            limit: HITS,
            accept: &accept,
            accepted: if_few(&rows, &snapshot),
            own: own_rows(store, &rows, &recall.ranking),
            is_over: &is_over,
            meaning,
            dated: named.dated(),
            reach: Some(recall.reach),
            tells_fields: false,
        });
        Ok(found?)
    };
    let (found, _) = with_meaning(store, &snapshot, &rows, vector, HITS, search)?;
    let is_partial = found.hits.is_partial;
    let less_relevant = found.hits.less_relevant;
    read_as.extend(found.hits.respelled.iter().cloned());
    let is_told = store.capability().is_none();
    let counted = found.hits.counted.clone();
    let (hits, mut around) = (found.shaped, found.around);
    let mut gathering = Gathering::new(store, &snapshot, (&*rows, filter), &hits, recall.budget)?;
    if is_told {
        gathering.count(&counted)?;
    }
    gathering.fill(&|| Ok(text.highlighter(&asked)?), &mut |hit| {
        Ok(text.turns_around(around.as_mut(), hit, &accept)?)
    })?;
    gathering.record_reads("recall")?;
    Ok(Recollection {
        is_partial,
        less_relevant: if is_told { less_relevant } else { 0 },
        read_as,
        ..gathering.into_recollection()?
    })
}

/// Returns the rows of the hot grains among `rows`, newest first: they belong in every prompt
/// (OMS 22.8).
pub(super) fn hot_rows(
    store: &Access,
    snapshot: &Snapshot,
    rows: &RowSet,
) -> Result<Vec<EntryId>, Error> {
    let hot = snapshot.with_facet("recall_priority", "hot").among(rows)?;
    if hot.is_empty() {
        return Ok(Vec::new());
    }
    let newest = Sort::by(SortBy::Time).descending();
    let (places, _) = newest.page(store, snapshot, &hot, None, HITS)?;
    Ok(places.iter().map(|[.., row]| EntryId::new(*row)).collect())
}

/// Returns a row that is asked for by its time as a hit.
fn by_time(row: EntryId) -> ShapedHit {
    let hit = Hit {
        row,
        score: 0.0,
        fields: 0,
    };
    ShapedHit {
        hit,
        has_thread: true,
        line: KnownLine::default(),
    }
}

/// The maximum number of hits of a recall.
const HITS: usize = 100;
