use std::collections::{BTreeMap, HashSet};

use crate::codec::nfc;
use crate::grain::{Grain, Type};
use crate::render::{Line, Passage, Recollection};
use crate::store::{Access, ReadRecorder, Store};
use crate::text::{self, Ranking};

use super::{Error, Filter};

/// How much is recalled.
///
/// ```
/// use grainstore::query::Recall;
///
/// let short = Recall { budget: 500, ..Recall::default() };
/// assert_eq!(short.reach, 1);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recall {
    /// What all of it may cost, by [`tokens`](crate::render::tokens), as Markdown.
    pub budget: usize,
    /// How many turns before and after one that fits are recalled with it.
    pub reach: usize,
    /// What ranks.
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
    /// Returns what is known of a question: the grains that fit it best, of those that pass a
    /// filter, with what was said around them, as much as the budget holds.
    ///
    /// The question is read as words, whatever signs are in it. What two grains say alike is said
    /// once. What fits best comes first; turns of one session stand together, in their order.
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
    /// `ERR_FILTER`; storage errors; `ERR_TEXT`, also for a store opened without its text view.
    pub fn recall(
        &self,
        question: &str,
        filter: &Filter,
        recall: &Recall,
    ) -> Result<Recollection, Error> {
        let read_recorder = self.read_recorder("recall");
        recollect(self, read_recorder, question, (filter, recall), &|_| {
            Ok(true)
        })
    }
}

impl Access {
    /// Returns what is known of a question, of what it sees; see [`Store::recall`].
    ///
    /// # Errors
    /// As [`Store::recall`].
    pub fn recall(
        &self,
        question: &str,
        filter: &Filter,
        recall: &Recall,
    ) -> Result<Recollection, Error> {
        let Some(filter) = self.narrow(filter) else {
            return Ok(Recollection::default());
        };
        let snapshot = self.store().snapshot();
        let sees = |grain: &Grain| Ok(self.sees(&snapshot, grain)? && self.may_rely_on(grain)?);
        let read_recorder = self.read_recorder("recall");
        recollect(
            self.store(),
            read_recorder,
            question,
            (&filter, recall),
            &sees,
        )
    }
}

fn recollect(
    store: &Store,
    mut read_recorder: ReadRecorder<'_>,
    question: &str,
    (filter, recall): (&Filter, &Recall),
    sees: &dyn Fn(&Grain) -> Result<bool, Error>,
) -> Result<Recollection, Error> {
    let snapshot = store.snapshot();
    let rows = store.rows(&snapshot, filter)?;
    let accept = |row: u64| rows.contains(row);
    let query = text::Query::words(&nfc(question));
    let text = store.text_view()?;
    let passages = text.recall(&query, &recall.ranking, HITS, recall.reach, &accept)?;
    let mut collected = Collected::new(recall.budget);
    for passage in &passages {
        // The best row first: what stands beside it only takes what room is left.
        let best = std::iter::once(&passage.hit.row);
        let beside = passage.turns.iter().filter(|row| **row != passage.hit.row);
        for row in best.chain(beside) {
            if collected.rows.contains(row) {
                continue;
            }
            let version = store.version_at(&snapshot, *row)?;
            if !sees(&version.grain)? {
                continue;
            }
            let score = (*row == passage.hit.row).then(|| passage.hit.relevance());
            if collected.add(*row, &version.grain, score) {
                read_recorder.add(&version.grain);
            }
        }
        if collected.is_cut {
            break;
        }
    }
    read_recorder.record()?;
    store.retrieved(collected.rows.iter().copied());
    Ok(collected.into_recollection())
}

/// Lines that fit a budget.
struct Collected {
    left: usize,
    budget: usize,
    is_cut: bool,
    rows: HashSet<u64>,
    texts: HashSet<String>,
    /// Passages in the order in which they were begun, each with its lines.
    passages: Vec<(Passage, Sorted)>,
}

/// Lines by time and row.
type Sorted = BTreeMap<(i64, u64), Line>;

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

    /// Adds what a grain says, unless it is said already or there is no room; returns whether it did.
    fn add(&mut self, row: u64, grain: &Grain, score: Option<f64>) -> bool {
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
        }
    }
}

/// Returns what a grain says, by whom and when.
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
        time: grain.created_at(),
        speaker: speaker.map(str::to_owned),
        text,
        score,
    }
}

/// How many of the best are recalled at most.
const HITS: usize = 100;
