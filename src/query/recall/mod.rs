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
use crate::store::Store;
use crate::text::{self, Hit, Ranking, RecalledHit};

use super::hybrid::QuestionVector;
use super::search::if_few;
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

impl Store {
    /// Returns the grains that match a question best, among those that pass a filter, with the
    /// turns around them, up to the token budget.
    ///
    /// Hot grains (`recall_priority`) that pass the filter come first, in up to a quarter of the
    /// budget, whatever the question, those that fit it before the newest others; cold ones are left
    /// out unless the filter names a priority (OMS 22.8). The question is read as plain words.
    /// Duplicate texts are included once.
    ///
    /// Facts come before conversations: what is current before what is not, best first, and what
    /// contradicts another line right after it. Turns of one session stay together in chronological
    /// order. Names stand for DIDs where a grain that passes the filter says the name.
    ///
    /// ```
    /// use grainstore::query::Recall;
    /// use grainstore::render::Format;
    /// use grainstore::{Draft, Filter, Options, Store, Time};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// let moment = Time::from_ms(1_768_471_200_000);
    /// store.put(Draft::belief("user", "mg:prefers", "dark mode").confidence(0.9).created_at(moment))?;
    /// let known = store.recall("What mode does she like?", &Filter::new(), &Recall::default())?;
    /// let text = known.render(Format::Text);
    /// assert!(text.starts_with("[2026-01-15 10:00] user prefers dark mode ("), "{text}");
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// `ERR_FILTER`; storage errors; `ERR_TEXT`, also for a store opened without its text view;
    /// `ERR_EMBEDDER` as [`Store::search`].
    pub fn recall(
        &self,
        question: &str,
        filter: &Filter,
        recall: &Recall,
    ) -> Result<Recollection, Error> {
        let filter = match self.capability() {
            Some(capability) => narrow(capability, filter),
            None => Some(filter.clone()),
        };
        let vector = QuestionVector::default();
        match filter {
            Some(filter) => {
                self.unless_erased(|| self.recall_once(question, &filter, recall, &vector))
            }
            None => Ok(Recollection::default()),
        }
    }

    fn recall_once(
        &self,
        question: &str,
        filter: &Filter,
        recall: &Recall,
        vector: &QuestionVector,
    ) -> Result<Recollection, Error> {
        let query = text::Query::words(question);
        let vector = vector.of(self, &query, &recall.ranking)?;
        let snapshot = self.snapshot();
        let rows = self.rows_to_rank(&snapshot, filter)?;
        let accept = |row: EntryId| rows.contains(row);
        let text = self.text_view()?;
        let when = self.when(&snapshot, &rows, question, &recall.ranking)?;
        if let Some(asked) = self.asked_by_time(&snapshot, &rows, &when)? {
            let passages: Vec<_> = asked.into_iter().map(by_time).collect();
            let mut gathering = Gathering::new(self, &snapshot, &rows, &passages, recall.budget)?;
            gathering.fill(&|| Ok(text.highlighter(&query)?))?;
            gathering.record_reads("recall")?;
            return gathering.into_recollection();
        }
        let named = self.named(&snapshot, &rows, &when, &recall.ranking)?;
        let query = query.without(&when.used);
        let (asked, mut read_as) = self.with_aliases(&snapshot, &rows, &query, &recall.ranking)?;
        let is_over = self.search_deadline();
        let search = |meaning: Option<&text::Meaning<'_>>| {
            let found = text.find(&text::Search {
                query: &asked,
                ranking: &recall.ranking,
                limit: HITS,
                accept: &accept,
                accepted: if_few(&rows, &snapshot),
                own: self.own_rows(&rows, &recall.ranking),
                is_over: &is_over,
                meaning,
                dated: named.dated(),
                reach: Some(recall.reach),
                tells_fields: false,
            });
            Ok(found?)
        };
        let (found, _) = self.with_meaning(&snapshot, &rows, vector, HITS, search)?;
        let is_partial = found.hits.is_partial;
        let less_relevant = found.hits.less_relevant;
        read_as.extend(found.hits.respelled.iter().cloned());
        let is_told = self.capability().is_none();
        let counted = found.hits.counted.clone();
        let passages = found.into_recalled();
        let mut gathering = Gathering::new(self, &snapshot, &rows, &passages, recall.budget)?;
        if is_told {
            gathering.count(&counted)?;
        }
        gathering.fill(&|| Ok(text.highlighter(&asked)?))?;
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
    fn hot_rows(&self, snapshot: &Snapshot, mut rows: RowSet) -> Result<Vec<EntryId>, Error> {
        rows.intersect(&snapshot.with_facet("recall_priority", "hot").set()?);
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let newest = Sort::by(SortBy::Time).descending();
        let (places, _) = newest.page(self, snapshot, &rows, None, HITS)?;
        Ok(places.iter().map(|[.., row]| EntryId::new(*row)).collect())
    }
}

/// Returns a row that is asked for by its time as a hit.
fn by_time(row: EntryId) -> RecalledHit {
    let hit = Hit {
        row,
        score: 0.0,
        fields: 0,
    };
    RecalledHit {
        hit,
        turns: vec![row],
        has_thread: true,
    }
}

/// The maximum number of hits of a recall.
const HITS: usize = 100;
