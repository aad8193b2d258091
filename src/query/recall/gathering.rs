//! The reading of a recall: which grains become lines, in which order, and as what.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::codec::{ContentAddress, Value};
use crate::grain::{Namespace, Time, Type, Verification};
use crate::index::{RowSet, Snapshot};
use crate::ledger::EntryId;
use crate::render::{Format, LeftOut, Line, Recollection, Standing, is_turn, tokens};
use crate::store::read::{may_rely_on, read_recorder, retrieved, version_at};
use crate::store::{self, Access, Version, read};
use crate::text::{Highlighter, Hit, KnownLine, Language, ShapedHit};

use super::super::{Error, Filter};
use super::collected::{Collected, Fit, LINES_ABOUT, left_out_tokens};
use super::contradictions::contradicted_by;
use super::hot_rows;
use super::names::Names;

/// A recall while it reads.
pub(super) struct Gathering<'a> {
    store: &'a Access,
    snapshot: &'a Snapshot,
    rows: &'a RowSet,
    /// The hits, best first.
    hits: &'a [ShapedHit],
    now: Time,
    names: Names<'a>,
    read: HashMap<EntryId, Version>,
    collected: Collected,
    kinds: Kinds,
    /// The tokens kept for the sentence about the rest.
    for_rest: usize,
    /// The times of the hits that are counted.
    told: Vec<Time>,
    sees: Sees,
}

/// The hits that the handle is known to see before they are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sees {
    All,
    /// Those that every handle sees in its namespace and of its person.
    Open,
    None,
}

impl Sees {
    /// Returns what a handle is known to see of the rows that pass a filter, which has its namespace and
    /// its person, as far as it can.
    fn of(store: &Access, filter: &Filter) -> Self {
        let Some(capability) = store.capability() else {
            return Self::All;
        };
        let is_one = |namespaces: &[Namespace]| namespaces.len() == 1;
        let is_filtered = capability.namespaces().is_none_or(is_one);
        let is_reviewed = capability.reviews() || !filter.shows_unreviewed();
        match is_filtered && is_reviewed && !store.asks_delegations() {
            true => Self::Open,
            false => Self::None,
        }
    }
}

/// Makes the highlighter of the question, for a recall that cuts a text.
pub(super) type MakeHighlighter<'a> = dyn Fn() -> Result<Highlighter, Error> + 'a;

/// Returns the rows of a hit, by its number, and of the turns around it, with what is known of their
/// lines.
pub(super) type TurnsAround<'a> = dyn FnMut(usize) -> Result<Vec<(EntryId, KnownLine)>, Error> + 'a;

/// The hits of some types, as the index has them: what they are is known without reading them.
struct Kinds {
    /// Events and actions: turns, if they are of a conversation or have a role.
    said: RowSet,
    states: RowSet,
}

impl Kinds {
    fn of(snapshot: &Snapshot, hits: &[ShapedHit]) -> Result<Self, Error> {
        let hits: RowSet = hits.iter().map(|it| it.hit.row).collect();
        let mut said = snapshot.of_type(Type::Event).among(&hits)?;
        said.unite(&snapshot.of_type(Type::Action).among(&hits)?);
        let states = snapshot.of_type(Type::State).among(&hits)?;
        Ok(Self { said, states })
    }
}

impl<'a> Gathering<'a> {
    pub(super) fn new(
        store: &'a Access,
        snapshot: &'a Snapshot,
        (rows, filter): (&'a RowSet, &Filter),
        hits: &'a [ShapedHit],
        budget: usize,
    ) -> Result<Self, Error> {
        let mut collected = Collected::new(budget);
        let for_rest = match budget < BUDGET_SMALL {
            true => 0,
            false => collected.reserve(left_out_tokens()),
        };
        Ok(Self {
            store,
            snapshot,
            rows,
            hits,
            now: read::now(store),
            names: Names::new(store, snapshot, rows),
            read: HashMap::with_capacity(hits.len().min(LINES_ABOUT)),
            collected,
            kinds: Kinds::of(snapshot, hits)?,
            for_rest,
            told: Vec::new(),
            sees: Sees::of(store, filter),
        })
    }

    /// Counts rows, if they are several and the budget has room to say so.
    pub(super) fn count(&mut self, rows: &[EntryId]) -> Result<(), Error> {
        let mut times = Vec::new();
        for row in rows {
            times.extend(self.line(*row, None)?.map(|line| line.time));
        }
        if times.len() < 2 || self.collected.budget() < BUDGET_SMALL {
            return Ok(());
        }
        times.sort_unstable();
        let told = Recollection {
            told: times,
            ..Recollection::default()
        };
        self.collected
            .reserve(tokens(&told.render(Format::Markdown)));
        self.told = told.told;
        Ok(())
    }

    /// Collects what the budget holds: hot grains, facts, the hits, and what stands around them.
    pub(super) fn fill(
        &mut self,
        highlighter: &MakeHighlighter<'_>,
        around: &mut TurnsAround<'_>,
    ) -> Result<(), Error> {
        self.hot()?;
        self.facts()?;
        self.hits(highlighter)?;
        self.neighbours(around)
    }

    /// Records the grains of the lines as read, and counts them as retrieved (OMS 22.10).
    pub(super) fn record_reads(&self, operation: &'static str) -> Result<(), Error> {
        let mut recorder = read_recorder(self.store, operation);
        let rows = self.collected.rows.iter();
        rows.filter_map(|row| self.read.get(row))
            .for_each(|version| recorder.add(&version.grain));
        recorder.record()?;
        retrieved(self.store, self.collected.rows.iter().copied());
        Ok(())
    }

    /// Returns the lines in the order of a prompt.
    pub(super) fn into_recollection(mut self) -> Result<Recollection, Error> {
        let left_out = self.left_out()?;
        self.collected.unreserve(self.for_rest);
        Ok(Recollection {
            told: self.told,
            ..self.collected.into_recollection(left_out)
        })
    }

    /// Adds the hot grains, in up to a share of the budget: first those that fit the question.
    fn hot(&mut self) -> Result<(), Error> {
        let newest = hot_rows(self.store, self.snapshot, self.rows)?;
        if newest.is_empty() {
            return Ok(());
        }
        let budget = self.collected.budget();
        let kept = self.collected.reserve(budget - budget / HOT_SHARE);
        for hit in self.hits {
            if newest.contains(&hit.hit.row) {
                self.add_hit(hit)?;
            }
        }
        for row in newest {
            self.add(row, None)?;
        }
        self.collected.unreserve(kept);
        Ok(())
    }

    /// Adds the facts among the best hits, in up to a share of the budget, so that a long talk does
    /// not take the place of what was learned from it.
    fn facts(&mut self) -> Result<(), Error> {
        let hits = self.hits;
        let budget = self.collected.budget();
        let kept = self.collected.reserve(budget - budget / FACTS_SHARE);
        let best = hits.first().map_or(0.0, |it| it.hit.relevance());
        for hit in hits {
            if hit.hit.relevance() < best * FACTS_FIT {
                break;
            }
            if self.is_fact(hit)? {
                self.add_hit(hit)?;
            }
        }
        self.collected.unreserve(kept);
        Ok(())
    }

    /// Returns whether a hit is no turn and no state. Few are read for it.
    fn is_fact(&mut self, hit: &ShapedHit) -> Result<bool, Error> {
        let row = hit.hit.row;
        Ok(if self.kinds.said.contains(row) {
            !hit.has_thread && !is_turn(&self.version(row)?.grain)
        } else {
            !self.kinds.states.contains(row)
        })
    }

    /// Adds the hits, best first. One that does not fit is passed over; the best of those are shortened
    /// into a part of the budget that is kept for them.
    fn hits(&mut self, highlighter: &MakeHighlighter<'_>) -> Result<(), Error> {
        let hits = self.hits;
        let share = self.collected.budget() / CUT_SHARE;
        let kept = self.collected.reserve(share.min(PART_TOKENS * 2));
        let mut long = Vec::new();
        let seen = self.add_whole(hits, &mut long)?;
        self.collected.unreserve(kept);
        self.add_parts(&long, highlighter)?;
        long.clear();
        self.add_whole(hits.get(seen..).unwrap_or_default(), &mut long)?;
        self.add_parts(&long, highlighter)
    }

    /// Adds hits until the budget is full, and notes those that do not fit; returns how many it saw.
    fn add_whole(&mut self, hits: &[ShapedHit], long: &mut Vec<Hit>) -> Result<usize, Error> {
        for (seen, hit) in hits.iter().enumerate() {
            if self.add_hit(hit)? == Fit::TooLong {
                if self.collected.is_full() {
                    return Ok(seen);
                }
                long.push(hit.hit);
            }
        }
        Ok(hits.len())
    }

    /// Adds the passages of hits around the words of the question.
    fn add_parts(&mut self, hits: &[Hit], highlighter: &MakeHighlighter<'_>) -> Result<(), Error> {
        if hits.is_empty() {
            return Ok(());
        }
        let highlighter = highlighter()?;
        for (done, hit) in hits.iter().enumerate() {
            if self.collected.is_full() {
                break;
            }
            let share = self.collected.left() / (hits.len() - done);
            self.add_part(hit, &highlighter, share.max(PART_TOKENS))?;
        }
        Ok(())
    }

    /// Adds a hit, or its passage around the words of the question, in up to `share` tokens.
    fn add_part(
        &mut self,
        hit: &Hit,
        highlighter: &Highlighter,
        share: usize,
    ) -> Result<(), Error> {
        let Some(mut line) = self.line(hit.row, score_of(hit))? else {
            return Ok(());
        };
        let Some(version) = self.read.get(&hit.row) else {
            return Ok(());
        };
        let grain = &version.grain;
        let room = self.collected.room_for(grain, &line).min(share);
        if tokens(&line.sentence) > room {
            if room < PART_TOKENS_MIN {
                return Ok(());
            }
            line.sentence = passage(highlighter, &line.sentence, store::language(grain), room);
            line.is_cut = true;
        }
        self.collected.add(hit.row, grain, line);
        Ok(())
    }

    /// Adds the turns around the hits, those of the best first.
    fn neighbours(&mut self, around: &mut TurnsAround<'_>) -> Result<(), Error> {
        for hit in 0..self.hits.len() {
            for (row, line) in around(hit)? {
                let fit = match self.refuses(row, line) {
                    true => Fit::TooLong,
                    false => self.add(row, None)?,
                };
                if fit == Fit::TooLong && self.collected.is_full() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Adds a hit to the lines.
    fn add_hit(&mut self, shaped: &ShapedHit) -> Result<Fit, Error> {
        let hit = &shaped.hit;
        match self.refuses(hit.row, shaped.line) {
            true => Ok(Fit::TooLong),
            false => self.add(hit.row, score_of(hit)),
        }
    }

    /// Returns whether a row has no room, without reading it: not of one that the handle may not see,
    /// which must not learn that there is one.
    fn refuses(&mut self, row: EntryId, line: KnownLine) -> bool {
        let is_seen = match self.sees {
            Sees::All => true,
            Sees::Open => line.is_open,
            Sees::None => false,
        };
        is_seen && self.collected.refuses(row, line.shape)
    }

    /// Adds a grain to the lines, and with a fact those that it says it contradicts.
    fn add(&mut self, row: EntryId, score: Option<f64>) -> Result<Fit, Error> {
        let (fit, contradicted) = self.add_line(row, score)?;
        for address in contradicted {
            for other in self.snapshot.candidates(&address)?.iter() {
                if self.rows.contains(other) {
                    self.add_line(other, None)?;
                }
            }
        }
        Ok(fit)
    }

    /// Adds a grain to the lines; returns the grains that it says it contradicts.
    fn add_line(
        &mut self,
        row: EntryId,
        score: Option<f64>,
    ) -> Result<(Fit, Vec<ContentAddress>), Error> {
        if let Some(fit) = self.collected.add_again(row) {
            return Ok((fit, Vec::new()));
        }
        let Some(line) = self.line(row, score)? else {
            return Ok((Fit::Known, Vec::new()));
        };
        let Some(version) = self.read.get(&row) else {
            return Ok((Fit::Known, Vec::new()));
        };
        let fit = self.collected.add(row, &version.grain, line);
        Ok(match fit {
            Fit::Added => (fit, contradicted_by(&version.grain)),
            _ => (fit, Vec::new()),
        })
    }

    /// Returns a grain as a line, unless it is one already, or the handle does not see it or may not
    /// rely on it.
    fn line(&mut self, row: EntryId, score: Option<f64>) -> Result<Option<Line>, Error> {
        if self.collected.has(row) {
            return Ok(None);
        }
        self.version(row)?;
        let Some(version) = self.read.get(&row) else {
            return Ok(None);
        };
        let grain = &version.grain;
        if !self.store.sees(self.snapshot, grain)? || !may_rely_on(self.store, grain)? {
            return Ok(None);
        }
        Ok(Some(line(version, score, self.now, &mut self.names)?))
    }

    fn version(&mut self, row: EntryId) -> Result<&Version, Error> {
        match self.read.entry(row) {
            Entry::Occupied(read) => Ok(read.into_mut()),
            Entry::Vacant(unread) => Ok(unread.insert(version_at(self.store, self.snapshot, row)?)),
        }
    }

    /// Returns how many hits are not among the lines. A narrowed handle is not told, since grains
    /// that it does not see may be among them.
    fn left_out(&self) -> Result<Option<LeftOut>, Error> {
        if !self.collected.is_cut() || self.store.capability().is_some() {
            return Ok(None);
        }
        let is_left = |row: &EntryId| !self.collected.has(*row);
        let hits = self.hits.iter().map(|it| it.hit.row);
        let left: RowSet = hits.filter(is_left).collect();
        let mut turns = left.clone();
        turns.intersect(&self.kinds.said);
        let [all, messages] = [left.len(), turns.len()].map(usize::try_from);
        let (all, messages) = (all.unwrap_or(usize::MAX), messages.unwrap_or(usize::MAX));
        let facts = all - messages;
        Ok((all > 0).then_some(LeftOut { facts, messages }))
    }
}

/// Returns how well a hit fits; none of one that was asked for by its time.
fn score_of(hit: &Hit) -> Option<f64> {
    (hit.score > 0.0).then(|| hit.relevance())
}

/// Returns the passage of a text around the words of the question, in up to `room` tokens.
fn passage(
    highlighter: &Highlighter,
    text: &str,
    language: Option<Language>,
    room: usize,
) -> String {
    let (chars, of_text) = (text.chars().count(), tokens(text).max(1));
    let mut len_max = chars.saturating_mul(room) / of_text;
    let marked = highlighter.marked(text, language);
    loop {
        let passage = marked.passage(len_max);
        if tokens(&passage) <= room || len_max == 0 {
            return passage;
        }
        len_max -= len_max.div_ceil(8);
    }
}

/// Returns the content of a grain with its speaker, time and standing, with names for identifiers.
fn line(
    version: &Version,
    score: Option<f64>,
    now: Time,
    names: &mut Names<'_>,
) -> Result<Line, Error> {
    let line = Line::of(&version.grain);
    let speaker = line.speaker.map(|speaker| names.applied(speaker));
    Ok(Line {
        speaker: speaker.transpose()?,
        sentence: names.applied(line.sentence)?,
        standing: standing(version, now),
        score,
        ..line
    })
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

/// Hot grains take at most this part of the budget, so that the question keeps room.
const HOT_SHARE: usize = 4;

/// With hot grains, the facts among the best hits take at most this part.
const FACTS_SHARE: usize = 2;

/// Facts come first if they fit at least this well, beside the best hit.
const FACTS_FIT: f64 = 0.5;

/// The budget below which lines need all of it.
const BUDGET_SMALL: usize = 100;

/// Hits that do not fit are shortened into this part of the budget, and at most into two passages.
const CUT_SHARE: usize = 4;

/// The tokens of the passage of a hit that does not fit, unless there is room for more.
const PART_TOKENS: usize = 128;

/// A shorter passage says nothing.
const PART_TOKENS_MIN: usize = 16;
