//! Consolidation: a program of the user's is given new turns with what is believed already, and what it answers
//! is stored as beliefs that are derived from the turns.
//!
//! | step | file |
//! | --- | --- |
//! | the lines that a program is given | `handed.rs` |
//! | the lines that it answers | `answer.rs` |
//! | which turns are done | `record.rs` |
//! | taking a run back | `undo.rs` |

mod answer;
mod handed;
mod record;
mod undo;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use crate::code::ErrorCode;
use crate::codec::{ContentAddress, Map, Value};
use crate::grain::{Draft, Type};
use crate::index::{RowSet, Snapshot};
use crate::interchange::{self, Place};
use crate::ledger::EntryId;
use crate::store::lineage::{self, Derived, store_together};
use crate::store::read::{
    grain_awaits_review, may_rely_on, now, read_recorder, row_of, version_at,
};
use crate::store::{Access, NewGrain, Owner, Version};

use super::condition::Condition;
use super::plan::{conditions_of, rows};
use super::visible::narrow;
use super::{Error, Filter};

use answer::{Answer, AnswerLine};
use handed::{Belief, Turn, Whose, request};
use record::{Outcome, done, done_rows, records, waiting};

pub use record::CONSOLIDATION_TAG;
pub(crate) use undo::undo_consolidation;

/// Which turns a program is given, and how what it answers is stored.
///
/// ```
/// use grainstore::query::Consolidation;
///
/// let short = Consolidation { budget: 2_000, ..Consolidation::by("facts") };
/// assert_eq!(short.per_call, 4_000);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Consolidation {
    /// The name of the program, which its beliefs have as the method of their provenance.
    pub program: String,
    /// The turns: events with a text.
    pub turns: Filter,
    /// The most [`tokens`](crate::render::tokens) that the program is given, in all calls together.
    pub budget: usize,
    /// The most of them in one call.
    pub per_call: usize,
    /// Whether beliefs wait for the review of a person, and replace others only then.
    pub awaits_review: bool,
}

impl Consolidation {
    /// Returns the consolidation of all turns by a program.
    pub fn by(program: impl Into<String>) -> Self {
        Self {
            program: program.into(),
            turns: Filter::new(),
            budget: 20_000,
            per_call: 4_000,
            awaits_review: false,
        }
    }
}

/// The outcome of a consolidation.
///
/// ```
/// use grainstore::query::Consolidated;
///
/// assert_eq!(Consolidated::default().turns, 0);
/// ```
#[derive(Debug, Default)]
pub struct Consolidated {
    /// The name of the run, under which it is taken back; `None` if the program was not called.
    pub run: Option<String>,
    /// How often the program was called.
    pub calls: u64,
    /// The turns that it was given.
    pub turns: u64,
    /// The turns that are left for the next run.
    pub left: u64,
    /// The new beliefs.
    pub stored: Vec<ContentAddress>,
    /// How many beliefs were replaced, by new ones or by those that a person has cleared.
    pub replaced: u64,
    /// Answers that were believed already.
    pub known: u64,
    /// Lines that are no answers, and beliefs that a rule refuses.
    pub refused: Vec<interchange::Error>,
}

/// The call of a program: the lines that it is given, and those that it answers.
type Ask<'a> = &'a mut dyn FnMut(&str) -> Result<String, Box<dyn std::error::Error + Send + Sync>>;

/// See [`Admin::consolidate`](crate::Admin::consolidate).
pub(crate) fn consolidate(
    owner: Owner<'_>,
    asked: &Consolidation,
    ask: Ask<'_>,
) -> Result<Consolidated, Error> {
    let store = owner.within().unwrap_or_else(|| owner.store());
    let mut run = Run {
        store,
        asked,
        spent: 0,
        waiting: 0,
        report: Consolidated::default(),
    };
    run.replace_cleared()?;
    let snapshot = store.snapshot();
    let Some(turns) = NewTurns::of(store, &snapshot, &asked.turns)? else {
        return Ok(run.report);
    };
    run.report.left = turns.rows.len();
    let mut open: BTreeMap<Whose, Vec<Turn>> = BTreeMap::new();
    for row in turns.rows.iter() {
        let Some(turn) = turns.read(row, asked.per_call.min(asked.budget) / TURNS_SHARE)? else {
            run.report.left -= 1;
            continue;
        };
        if run.is_full(&turn) {
            break;
        }
        let whose = Whose::of(&turn.grain);
        let batch = open.entry(whose.clone()).or_default();
        let tokens: usize = batch.iter().map(|turn| turn.tokens).sum();
        if !batch.is_empty() && tokens + turn.tokens > asked.per_call / TURNS_SHARE {
            run.hand_over(&whose, &std::mem::take(batch), ask)?;
        }
        run.waiting += turn.tokens;
        batch.push(turn);
    }
    for (whose, batch) in open {
        run.hand_over(&whose, &batch, ask)?;
    }
    Ok(run.report)
}

/// The turns that no consolidation has had.
struct NewTurns<'a> {
    store: &'a Access,
    snapshot: &'a Snapshot,
    rows: RowSet,
    conditions: Vec<Condition>,
}

impl<'a> NewTurns<'a> {
    /// Returns those that pass a filter; `None` where the handle sees nothing.
    fn of(
        store: &'a Access,
        snapshot: &'a Snapshot,
        filter: &Filter,
    ) -> Result<Option<Self>, Error> {
        let filter = filter.clone().of_type(Type::Event);
        let filter = match store.capability() {
            Some(capability) => narrow(capability, &filter),
            None => Some(filter),
        };
        let Some(filter) = filter else {
            return Ok(None);
        };
        let mut rows = Arc::unwrap_or_clone(rows(store, snapshot, &filter)?);
        rows.subtract(&done_rows(store, snapshot)?);
        Ok(Some(Self {
            store,
            snapshot,
            rows,
            conditions: conditions_of(store, snapshot, &filter)?,
        }))
    }

    /// Reads a turn; `None` of an event that is none, that the handle does not see, or that was erased
    /// meanwhile.
    fn read(&self, row: EntryId, tokens_max: usize) -> Result<Option<Turn>, Error> {
        let version = match version_at(self.store, self.snapshot, row) {
            Err(error) if error.code() == ErrorCode::Erased => return Ok(None),
            version => version?,
        };
        let is_meant = self.conditions.iter().all(|it| it.holds(&version))
            && self.store.sees(self.snapshot, &version.grain)?
            && may_rely_on(self.store, &version.grain)?;
        Ok(Some(version.grain)
            .filter(|_| is_meant)
            .and_then(|grain| Turn::of(grain, tokens_max)))
    }
}

/// A run of a program over new turns.
struct Run<'a> {
    store: &'a Access,
    asked: &'a Consolidation,
    /// The tokens that it was given.
    spent: usize,
    /// The tokens of the turns that it is to be given.
    waiting: usize,
    report: Consolidated,
}

/// The answers of a call, judged by themselves.
#[derive(Default)]
struct Judged {
    derived: Vec<Derived>,
    /// The line of each of them, and the belief that it replaces.
    sources: Vec<(u64, Option<ContentAddress>)>,
    refused: Vec<interchange::Error>,
    known: u64,
}

impl Run<'_> {
    /// Returns whether a turn is one too many: the turns have half of the budget, and what is believed the
    /// rest.
    fn is_full(&self, turn: &Turn) -> bool {
        let taken = self.report.turns == 0 && self.waiting == 0;
        !taken && self.spent + self.waiting + turn.tokens > self.asked.budget / TURNS_SHARE
    }

    /// Calls the program for turns of one person in one namespace, and stores what it answers.
    fn hand_over(&mut self, whose: &Whose, turns: &[Turn], ask: Ask<'_>) -> Result<(), Error> {
        let (store, asked) = (self.store, self.asked);
        let Some(first) = turns.first() else {
            return Ok(());
        };
        let run = self.report.run.get_or_insert_with(|| {
            let name = format!("{}\n{}\n{}", asked.program, now(store), first.address);
            ContentAddress::of(name.as_bytes()).to_string()
        });
        let run = run.clone();
        let tokens: usize = turns.iter().map(|turn| turn.tokens).sum();
        let left = asked.budget.saturating_sub(self.spent + self.waiting);
        let budget = left.min(asked.per_call.saturating_sub(tokens));
        let beliefs = whose.believed(store, turns, budget)?;
        let lines = request(whose, turns, &beliefs);
        self.spent += crate::render::tokens(&lines);
        self.waiting = self.waiting.saturating_sub(tokens);
        read_recorder(store, "consolidate").all(turns.iter().map(|turn| &turn.grain))?;
        let failed = |source: Box<dyn std::error::Error + Send + Sync>| Error::Program {
            program: asked.program.clone(),
            source,
        };
        self.report.calls += 1;
        let answer = ask(&lines).map_err(failed)?;
        let answers = answer::read(&answer, turns.len(), beliefs.len());
        let answers = answers.map_err(|reason| failed(reason.into()))?;
        let batch = Batch {
            run: &run,
            whose,
            turns,
            beliefs: &beliefs,
        };
        self.store_answers(&batch, answers)
    }

    /// Judges the answers by themselves: those that the store has already, and those that are refused.
    fn judge(&self, batch: &Batch<'_>, answers: Vec<AnswerLine>) -> Result<Judged, Error> {
        let (store, asked) = (self.store, self.asked);
        let mut judged = Judged::default();
        let (mut stated, mut replaced) = (HashSet::new(), HashSet::new());
        for (line, answer) in answers {
            let answer = answer.and_then(|answer| {
                let is_first = answer.replaces.is_none_or(|old| replaced.insert(old));
                is_first
                    .then_some(answer)
                    .ok_or_else(|| "supersedes what another line does".to_owned())
            });
            let answer = match answer {
                Ok(answer) => answer,
                Err(reason) => {
                    judged
                        .refused
                        .push(refusal(line, ErrorCode::Program, reason));
                    continue;
                }
            };
            let statement = answer.statement();
            if !stated.insert(statement.clone()) || batch.whose.known(store, &statement)? {
                judged.known += 1;
                continue;
            }
            let old = answer.replaces.and_then(|place| batch.beliefs.get(place));
            let old = old.map(|belief| belief.address);
            judged.derived.push(Derived {
                grain: batch.draft(asked, answer, old),
                replaces: old.filter(|_| !asked.awaits_review),
            });
            judged.sources.push((line, old));
        }
        Ok(judged)
    }

    fn store_answers(&mut self, batch: &Batch<'_>, answers: Vec<AnswerLine>) -> Result<(), Error> {
        let (store, asked) = (self.store, self.asked);
        let Judged {
            derived,
            sources,
            mut refused,
            known,
        } = self.judge(batch, answers)?;
        let record = |outcomes: &lineage::Outcomes| {
            // Another process may have handed them over meanwhile.
            let done = done(store, &store.snapshot())?;
            if batch.turns.iter().any(|turn| done.contains(&turn.address)) {
                return Ok(None);
            }
            let stored: Vec<_> = outcomes.iter().flatten().copied().collect();
            let waiting = outcomes
                .iter()
                .zip(&sources)
                .filter_map(|(outcome, (_, old))| {
                    Some((*outcome.as_ref().ok()?, (*old)?)).filter(|_| asked.awaits_review)
                });
            let outcome = Outcome {
                run: batch.run,
                program: &asked.program,
                whose: batch.whose,
                turns: batch.turns,
                stored: &stored,
                waiting: &waiting.collect::<Vec<_>>(),
            };
            Ok(Some(outcome.draft()))
        };
        let why = format!("consolidated by {}", asked.program);
        let outcomes = store_together(store, derived, &why, record)?;
        let handed = batch.turns.len() as u64;
        self.report.left = self.report.left.saturating_sub(handed);
        let Some(outcomes) = outcomes else {
            return Ok(());
        };
        self.report.turns += handed;
        self.report.known += known;
        self.report.refused.append(&mut refused);
        for (outcome, (line, old)) in outcomes.into_iter().zip(sources) {
            match outcome {
                Ok(address) => {
                    self.report.stored.push(address);
                    self.report.replaced += u64::from(old.is_some() && !asked.awaits_review);
                }
                Err(error) => {
                    let refusal = refusal(line, error.code(), error.to_string());
                    self.report.refused.push(refusal);
                }
            }
        }
        Ok(())
    }

    /// Puts beliefs that a person has cleared in the place of those that they replace.
    fn replace_cleared(&mut self) -> Result<(), Error> {
        let store = self.store;
        let snapshot = store.snapshot();
        let records = records(store, &snapshot)?;
        for (new, old) in records.iter().flat_map(waiting) {
            let version = |address| version_of(store, &snapshot, address);
            let (Some(new), Some(before)) = (version(&new)?, version(&old)?) else {
                continue;
            };
            let stands = new.status.is_current() && before.status.is_current();
            if !stands || grain_awaits_review(store, &new.grain)? {
                continue;
            }
            match lineage::supersede(store, &old, NewGrain::from(new.grain), Some(CLEARED)) {
                Ok(_) => self.report.replaced += 1,
                Err(error) => {
                    let refusal = refusal(0, error.code(), error.to_string());
                    self.report.refused.push(refusal);
                }
            }
        }
        Ok(())
    }
}

/// Returns a stored grain with its status.
fn version_of(
    store: &Access,
    snapshot: &Snapshot,
    address: &ContentAddress,
) -> Result<Option<Version>, Error> {
    let row = row_of(store, snapshot, address)?;
    row.map(|row| version_at(store, snapshot, row)).transpose()
}

/// The input of a program in one call.
struct Batch<'a> {
    run: &'a str,
    whose: &'a Whose,
    turns: &'a [Turn],
    beliefs: &'a [Belief],
}

impl Batch<'_> {
    /// Returns the belief that an answer states. It has the person and the namespace of its turns.
    fn draft(&self, asked: &Consolidation, answer: Answer, old: Option<ContentAddress>) -> Draft {
        let mut draft = Draft::belief(answer.subject, answer.relation, answer.object)
            .confidence(answer.confidence)
            .source("consolidated")
            .set("consolidation_level", 1);
        if let Some(time) = answer.valid_from {
            draft = draft.valid_from(time);
        }
        if let Some(time) = answer.valid_to {
            draft = draft.valid_to(time);
        }
        if asked.awaits_review {
            draft = draft.set("requires_human_review", true);
        }
        if let Some(old) = old {
            draft = draft.derived_from(old);
        }
        for source in answer.sources {
            let Some(turn) = self.turns.get(source) else {
                continue;
            };
            let link = Map::from_iter([
                ("source_hash", Value::from(turn.address)),
                ("method", Value::from(&*asked.program)),
            ]);
            draft = draft.derived_from(turn.address);
            draft = draft.push("provenance_chain", link);
        }
        self.whose.mark(draft)
    }
}

impl Answer {
    fn statement(&self) -> [String; 3] {
        [&self.subject, &self.relation, &self.object].map(Clone::clone)
    }
}

fn refusal(line: u64, code: ErrorCode, message: String) -> interchange::Error {
    let place = match line {
        0 => Place::File,
        line => Place::Line(line),
    };
    interchange::Error::Format {
        code,
        place,
        message,
    }
}

/// The justification of a supersession by a belief that waited for a person.
const CLEARED: &str = "consolidated, and cleared by a review";

/// The turns have one half of the budget and of a call, and what is believed the other.
const TURNS_SHARE: usize = 2;
