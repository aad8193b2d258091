//! `Store::recall`: the best grains for a question, with their context, within a token budget.
//!
//! Ranking is in `text`; the output formats are in `render`.

use std::collections::{BTreeMap, HashSet};

use crate::codec::nfc;
use crate::grain::{Grain, Type};
use crate::index::{RowSet, Snapshot};
use crate::ledger::EntryId;
use crate::render::{Line, Passage, Recollection};
use crate::store::{ReadRecorder, Store};
use crate::text::{self, Ranking};

use super::hybrid::QuestionVector;
use super::visible::narrow;
use super::{Error, Filter, Sort, SortBy};

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

impl Store {
    /// Returns the grains that match a question best, among those that pass a filter, with the
    /// turns around them, up to the token budget.
    ///
    /// Hot grains (`recall_priority`) that pass the filter come first, newest first, in up to a
    /// quarter of the budget, whatever the question; cold ones are left out unless the filter names
    /// a priority (OMS 22.8). The question is read as plain words. Duplicate texts are included once. Passages are ordered
    /// best first; turns of one session stay together in chronological order.
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
        let mut recorder = self.read_recorder("recall");
        let query = text::Query::words(&nfc(question));
        let vector = vector.of(self, &query, &recall.ranking)?;
        let snapshot = self.snapshot();
        let rows = self.rows_to_rank(&snapshot, filter)?;
        let text = self.text_view()?;
        let is_over = self.search_deadline();
        let limits = (HITS, recall.reach);
        let rank = |meaning: Option<&text::Meaning<'_>>| {
            let accept = |row: EntryId| rows.contains(row);
            let by = &recall.ranking;
            let found = text.recall_until(&query, by, limits, &accept, &is_over, meaning);
            Ok(found?)
        };
        let found = self.with_meaning(&snapshot, &rows, vector, HITS, rank)?;
        let (passages, is_partial) = found.0;
        let mut collected = Collected::new(recall.budget);
        let hot = self.hot_rows(&snapshot, rows)?;
        let is_hot_cut = collected.within_share(HOT_SHARE, |collected| {
            let mut hot = hot.iter();
            hot.try_for_each(|row| self.collect(&snapshot, *row, None, collected, &mut recorder))
        })?;
        for passage in &passages {
            // The hit comes first; its context only takes the remaining room.
            let best = std::iter::once(&passage.hit.row);
            let beside = passage.turns.iter().filter(|row| **row != passage.hit.row);
            for row in best.chain(beside) {
                let score = (*row == passage.hit.row).then(|| passage.hit.relevance());
                self.collect(&snapshot, *row, score, &mut collected, &mut recorder)?;
            }
            if collected.is_cut {
                break;
            }
        }
        collected.is_cut |= is_hot_cut;
        recorder.record()?;
        self.retrieved(collected.rows.iter().copied());
        Ok(Recollection {
            is_partial,
            ..collected.into_recollection()
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

    /// Adds a grain to the lines, if the handle sees it and may rely on it.
    fn collect(
        &self,
        snapshot: &Snapshot,
        row: EntryId,
        score: Option<f64>,
        collected: &mut Collected,
        recorder: &mut ReadRecorder<'_>,
    ) -> Result<(), Error> {
        if collected.rows.contains(&row) {
            return Ok(());
        }
        let grain = &self.version_at(snapshot, row)?.grain;
        if self.sees(snapshot, grain)?
            && self.may_rely_on(grain)?
            && collected.add(row, grain, score)
        {
            recorder.add(grain);
        }
        Ok(())
    }
}

/// The lines collected within the budget.
struct Collected {
    left: usize,
    budget: usize,
    is_cut: bool,
    rows: HashSet<EntryId>,
    texts: HashSet<String>,
    /// Passages in the order of their first line, each with its lines.
    passages: Vec<(Passage, Sorted)>,
}

/// Lines by time and row.
type Sorted = BTreeMap<(i64, EntryId), Line>;

impl Collected {
    fn new(budget: usize) -> Self {
        Self {
            left: budget,
            budget,
            is_cut: false,
            rows: HashSet::new(),
            texts: HashSet::new(),
            passages: Vec::new(),
        }
    }

    /// Adds lines within a share of the budget; returns whether some did not fit.
    fn within_share(
        &mut self,
        share: usize,
        add: impl FnOnce(&mut Self) -> Result<(), Error>,
    ) -> Result<bool, Error> {
        let kept = self.budget - self.budget / share;
        self.left -= kept;
        add(self)?;
        self.left += kept;
        Ok(std::mem::take(&mut self.is_cut))
    }

    /// Adds the text of a grain, unless it is a duplicate or exceeds the budget; returns whether it
    /// was added.
    fn add(&mut self, row: EntryId, grain: &Grain, score: Option<f64>) -> bool {
        let line = line(grain, score);
        let said = format!("{:?} {}", line.speaker, line.text);
        if line.text.is_empty() || self.texts.contains(&said) {
            return false;
        }
        let session = grain.text("session_id").map(str::to_owned);
        let place = self
            .passages
            .iter()
            .position(|(passage, _)| session.is_some() && passage.session == session);
        let mut cost = line.tokens();
        let passage = Passage {
            session,
            lines: Vec::new(),
        };
        if place.is_none() {
            cost += passage.heading_tokens() + 1;
        }
        if cost > self.left {
            self.is_cut = true;
            return false;
        }
        self.left -= cost;
        self.rows.insert(row);
        self.texts.insert(said);
        let key = (line.time.ms(), row);
        match place.and_then(|place| self.passages.get_mut(place)) {
            Some((_, lines)) => drop(lines.insert(key, line)),
            None => self.passages.push((passage, BTreeMap::from([(key, line)]))),
        }
        true
    }

    fn into_recollection(self) -> Recollection {
        let passages = self.passages.into_iter().map(|(passage, lines)| Passage {
            lines: lines.into_values().collect(),
            ..passage
        });
        Recollection {
            passages: passages.collect(),
            tokens: self.budget - self.left,
            is_cut: self.is_cut,
            is_partial: false,
        }
    }
}

/// Returns the text of a grain with its speaker and time.
fn line(grain: &Grain, score: Option<f64>) -> Line {
    let of_event = grain
        .text("content")
        .filter(|_| grain.type_() == Type::Event);
    let text = match of_event {
        Some(content) => content.to_owned(),
        None => grain.summary(),
    };
    let speaker = ["role", "observer_id", "tool_name"];
    let speaker = speaker.iter().find_map(|field| grain.text(field));
    Line {
        address: grain.address(),
        time: grain.event_time(),
        speaker: speaker.map(str::to_owned),
        text,
        score,
    }
}

/// The maximum number of hits of a recall.
const HITS: usize = 100;

/// Hot grains take at most this part of the budget, so that the question keeps room.
const HOT_SHARE: usize = 4;
