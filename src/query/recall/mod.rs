//! `Store::recall`: the best grains for a question, with their context, within a token budget.
//!
//! Ranking is in `text`; the output formats are in `render`.

mod collected;
mod contradictions;
mod names;

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::codec::{ContentAddress, Value};
use crate::grain::{Grain, Time, Type, Verification};
use crate::index::{RowSet, Snapshot};
use crate::ledger::EntryId;
use crate::render::{LeftOut, Line, Recollection, Standing};
use crate::store::{Store, Version};
use crate::text::{self, Ranking, RecalledHit};

use super::hybrid::QuestionVector;
use super::search::if_few;
use super::visible::narrow;
use super::{Error, Filter, Sort, SortBy};
use collected::{Collected, is_turn, left_out_tokens};
use contradictions::contradicted_by;
use names::Names;

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
        let mut recorder = self.read_recorder("recall");
        let snapshot = self.snapshot();
        let rows = self.rows_to_rank(&snapshot, filter)?;
        let accept = |row: EntryId| rows.contains(row);
        let text = self.text_view()?;
        let is_over = self.search_deadline();
        let search = |meaning: Option<&text::Meaning<'_>>| {
            let found = text.find(&text::Search {
                query: &query,
                ranking: &recall.ranking,
                limit: HITS,
                accept: &accept,
                accepted: if_few(&rows, &snapshot),
                own: self.own_rows(&rows, &recall.ranking),
                is_over: &is_over,
                meaning,
                reach: Some(recall.reach),
                tells_fields: false,
            });
            Ok(found?)
        };
        let (found, _) = self.with_meaning(&snapshot, &rows, vector, HITS, search)?;
        let is_partial = found.hits.is_partial;
        let passages = found.into_recalled();
        let mut gathering = Gathering {
            store: self,
            snapshot: &snapshot,
            rows: &rows,
            now: self.now(),
            names: Names::new(self, &snapshot, &rows),
            read: HashMap::new(),
            collected: Collected::new(recall.budget),
            kinds: Kinds::of(&snapshot, &passages)?,
        };
        let for_rest = match recall.budget < BUDGET_SMALL {
            true => 0,
            false => gathering.collected.reserve(left_out_tokens()),
        };
        gathering.hot(&passages)?;
        gathering.facts(&passages)?;
        gathering.all(&passages)?;
        let left_out = gathering.left_out(&passages)?;
        let Gathering {
            collected, read, ..
        } = gathering;
        for row in &collected.rows {
            if let Some(version) = read.get(row) {
                recorder.add(&version.grain);
            }
        }
        recorder.record()?;
        self.retrieved(collected.rows.iter().copied());
        let mut collected = collected;
        collected.unreserve(for_rest);
        Ok(Recollection {
            is_partial,
            ..collected.into_recollection(left_out)
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

/// A recall while it reads.
struct Gathering<'a> {
    store: &'a Store,
    snapshot: &'a Snapshot,
    rows: &'a RowSet,
    now: Time,
    names: Names<'a>,
    read: HashMap<EntryId, Version>,
    collected: Collected,
    kinds: Kinds,
}

/// The hits of some types, as the index has them: what they are is known without reading them.
struct Kinds {
    /// Events and actions: turns, if they are of a conversation or have a role.
    said: RowSet,
    states: RowSet,
}

impl Kinds {
    fn of(snapshot: &Snapshot, passages: &[RecalledHit]) -> Result<Self, Error> {
        let hits: RowSet = passages.iter().map(|passage| passage.hit.row).collect();
        let mut said = snapshot.of_type(Type::Event).among(&hits)?;
        said.unite(&snapshot.of_type(Type::Action).among(&hits)?);
        let states = snapshot.of_type(Type::State).among(&hits)?;
        Ok(Self { said, states })
    }
}

impl Gathering<'_> {
    /// Adds the hot grains, in up to a share of the budget: first those that fit the question.
    fn hot(&mut self, passages: &[RecalledHit]) -> Result<(), Error> {
        let newest = self.store.hot_rows(self.snapshot, self.rows.clone())?;
        if newest.is_empty() {
            return Ok(());
        }
        let budget = self.collected.budget();
        let kept = self.collected.reserve(budget - budget / HOT_SHARE);
        for hit in passages.iter().map(|passage| passage.hit) {
            if newest.contains(&hit.row) {
                self.add(hit.row, Some(hit.relevance()))?;
            }
        }
        for row in newest {
            self.add(row, None)?;
        }
        let is_cut = self.collected.release(kept);
        self.collected.is_cut = is_cut;
        Ok(())
    }

    /// Adds the facts among the best hits, in up to a share of the budget, so that a long talk does
    /// not take the place of what was learned from it.
    fn facts(&mut self, passages: &[RecalledHit]) -> Result<(), Error> {
        let was_cut = self.collected.is_cut;
        let budget = self.collected.budget();
        let kept = self.collected.reserve(budget - budget / FACTS_SHARE);
        let best = passages.first().map_or(0.0, |it| it.hit.relevance());
        for passage in passages {
            let hit = passage.hit;
            if hit.relevance() < best * FACTS_FIT {
                break;
            }
            if self.is_fact(passage)? {
                self.add(hit.row, Some(hit.relevance()))?;
            }
        }
        self.collected.release(kept);
        // The rest comes again among all.
        self.collected.is_cut = was_cut;
        Ok(())
    }

    /// Returns whether a hit is no turn and no state. Few are read for it.
    fn is_fact(&mut self, passage: &RecalledHit) -> Result<bool, Error> {
        let row = passage.hit.row;
        Ok(if self.kinds.said.contains(row) {
            !passage.has_thread && !is_turn(&self.version(row)?.grain)
        } else {
            !self.kinds.states.contains(row)
        })
    }

    /// Adds the hits, each with the turns around it, until one does not fit.
    fn all(&mut self, passages: &[RecalledHit]) -> Result<(), Error> {
        let was_cut = std::mem::take(&mut self.collected.is_cut);
        for passage in passages {
            // The hit comes first; its context only takes the remaining room.
            let hit = passage.hit;
            self.add(hit.row, Some(hit.relevance()))?;
            for row in passage.turns.iter().filter(|row| **row != hit.row) {
                self.add(*row, None)?;
            }
            if self.collected.is_cut {
                break;
            }
        }
        self.collected.is_cut |= was_cut;
        Ok(())
    }

    /// Adds a grain to the lines, and with a fact those that it says it contradicts.
    fn add(&mut self, row: EntryId, score: Option<f64>) -> Result<(), Error> {
        for address in self.add_line(row, score)? {
            for other in self.snapshot.candidates(&address)?.iter() {
                if self.rows.contains(other) {
                    self.add_line(other, None)?;
                }
            }
        }
        Ok(())
    }

    /// Adds a grain to the lines, if the handle sees it and may rely on it; returns the grains that
    /// it says it contradicts.
    fn add_line(&mut self, row: EntryId, score: Option<f64>) -> Result<Vec<ContentAddress>, Error> {
        if self.collected.rows.contains(&row) {
            return Ok(Vec::new());
        }
        self.version(row)?;
        let Some(version) = self.read.get(&row) else {
            return Ok(Vec::new());
        };
        let grain = &version.grain;
        if !self.store.sees(self.snapshot, grain)? || !self.store.may_rely_on(grain)? {
            return Ok(Vec::new());
        }
        let line = line(version, score, self.now, &mut self.names)?;
        Ok(match self.collected.add(row, grain, line) {
            true => contradicted_by(grain),
            false => Vec::new(),
        })
    }

    fn version(&mut self, row: EntryId) -> Result<&Version, Error> {
        match self.read.entry(row) {
            Entry::Occupied(read) => Ok(read.into_mut()),
            Entry::Vacant(unread) => Ok(unread.insert(self.store.version_at(self.snapshot, row)?)),
        }
    }

    /// Returns how many hits are not among the lines. A narrowed handle is not told, since grains
    /// that it does not see may be among them.
    fn left_out(&self, passages: &[RecalledHit]) -> Result<Option<LeftOut>, Error> {
        if !self.collected.is_cut || self.store.capability().is_some() {
            return Ok(None);
        }
        let is_left = |row: &EntryId| {
            !self.collected.rows.contains(row) && !self.collected.repeated.contains(row)
        };
        let hits = passages.iter().map(|passage| passage.hit.row);
        let left: RowSet = hits.filter(is_left).collect();
        let mut turns = left.clone();
        turns.intersect(&self.kinds.said);
        let [all, messages] = [left.len(), turns.len()].map(usize::try_from);
        let (all, messages) = (all.unwrap_or(usize::MAX), messages.unwrap_or(usize::MAX));
        let facts = all - messages;
        Ok((all > 0).then_some(LeftOut { facts, messages }))
    }
}

/// Returns the content of a grain with its speaker, time and standing; without the text that is
/// searched, which a line gets once there is room for it.
fn line(
    version: &Version,
    score: Option<f64>,
    now: Time,
    names: &mut Names<'_>,
) -> Result<Line, Error> {
    let grain = &version.grain;
    let speaker = speaker(grain).map(|speaker| names.applied(speaker.to_owned()));
    let tags = grain.field("structural_tags");
    let tags = tags.into_iter().flat_map(Value::texts);
    Ok(Line {
        address: grain.address(),
        time: grain.event_time(),
        speaker: speaker.transpose()?,
        text: String::new(),
        sentence: names.applied(grain.sentence())?,
        tags: tags.map(str::to_owned).collect(),
        standing: standing(version, now),
        contradicts: Vec::new(),
        score,
    })
}

/// Returns who said a grain: a person by name, where one is known, else the role or the tool.
fn speaker(grain: &Grain) -> Option<&str> {
    let role = grain.text("role");
    let observer = grain.text("observer_id");
    let is_name = |text: &&str| !text.contains(|c: char| c.is_ascii_digit());
    match role {
        None | Some("user") => observer.filter(is_name).or(role).or(observer),
        Some(_) => role,
    }
    .or_else(|| grain.text("tool_name"))
}

fn standing(version: &Version, now: Time) -> Standing {
    let status = &version.status;
    let has_ended = |end: i64| end <= now.ms();
    let valid_to = version.grain.field("valid_to").and_then(Value::as_i64);
    if status.contradicted {
        Standing::Contradicted
    } else if !status.is_current() {
        Standing::Superseded
    } else if valid_to.is_some_and(has_ended) {
        Standing::Ended
    } else if status.verification == Verification::Contested {
        Standing::Contested
    } else {
        Standing::Current
    }
}

/// The maximum number of hits of a recall.
const HITS: usize = 100;

/// Hot grains take at most this part of the budget, so that the question keeps room.
const HOT_SHARE: usize = 4;

/// With hot grains, the facts among the best hits take at most this part.
const FACTS_SHARE: usize = 2;

/// Facts come first if they fit at least this well, beside the best hit.
const FACTS_FIT: f64 = 0.5;

/// The budget below which lines need all of it.
const BUDGET_SMALL: usize = 100;
