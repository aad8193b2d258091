//! The lines of a recall within its budget, and the order in which a prompt has them.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};

use crate::grain::{Grain, Time, Type};
use crate::ledger::EntryId;
use crate::render::{LeftOut, Line, Passage, Recollection, tokens};

use super::contradictions::Claim;

/// The result of adding a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    Added,
    /// It says nothing, or what another line says.
    Known,
    TooLong,
}

/// The lines collected within the budget.
pub(super) struct Collected {
    left: usize,
    budget: usize,
    pub(super) rows: BTreeSet<EntryId>,
    /// The rows for which there was no room, so far.
    too_long: HashSet<EntryId>,
    has_parts: bool,
    /// The rows that say what a line says.
    pub(super) repeated: HashSet<EntryId>,
    texts: HashSet<String>,
    facts: Vec<(Line, Claim)>,
    /// Conversations in the order of their first line, each with its turns by time and row.
    conversations: Vec<(Option<String>, Turns)>,
}

/// The turns of a conversation by time and row.
type Turns = BTreeMap<(i64, EntryId), Line>;

impl Collected {
    pub(super) fn new(budget: usize) -> Self {
        Self {
            left: budget,
            budget,
            rows: BTreeSet::new(),
            too_long: HashSet::new(),
            has_parts: false,
            repeated: HashSet::new(),
            texts: HashSet::new(),
            facts: Vec::new(),
            conversations: Vec::new(),
        }
    }

    /// Keeps a part of the budget from what is added next; returns it.
    pub(super) fn reserve(&mut self, share: usize) -> usize {
        let kept = share.min(self.left);
        self.left -= kept;
        kept
    }

    /// Gives a reserved part back.
    pub(super) const fn unreserve(&mut self, kept: usize) {
        self.left += kept;
    }

    pub(super) const fn budget(&self) -> usize {
        self.budget
    }

    pub(super) const fn left(&self) -> usize {
        self.left
    }

    /// Returns whether the budget had no room for all of what was to be added.
    pub(super) fn is_cut(&self) -> bool {
        self.has_parts || self.too_long.iter().any(|row| !self.has(*row))
    }

    /// Returns whether a row is a line, or says what a line says.
    pub(super) fn has(&self, row: EntryId) -> bool {
        self.rows.contains(&row) || self.repeated.contains(&row)
    }

    /// Returns whether so little of the budget is left that it is not worth to look for what still fits.
    pub(super) const fn is_full(&self) -> bool {
        self.left.saturating_mul(FULL_SHARE) < self.budget
    }

    /// Returns the tokens that are left for the sentence of a line.
    pub(super) fn room_for(&self, grain: &Grain, line: &Line) -> usize {
        let around = self
            .cost(grain, line)
            .saturating_sub(tokens(&line.sentence));
        // A token may end in the middle of a word on either side.
        self.left.saturating_sub(around + 1)
    }

    /// Adds a line, unless it is a duplicate or exceeds the budget.
    pub(super) fn add(&mut self, row: EntryId, grain: &Grain, mut line: Line) -> Fit {
        let mut said = folded(&line.sentence);
        if let Some(speaker) = &line.speaker {
            said.push('\n');
            said.push_str(speaker);
        }
        if line.sentence.is_empty() || self.texts.contains(&said) {
            self.repeated.insert(row);
            return Fit::Known;
        }
        let cost = self.cost(grain, &line);
        if cost > self.left {
            self.too_long.insert(row);
            return Fit::TooLong;
        }
        self.left -= cost;
        self.has_parts |= line.is_cut;
        self.rows.insert(row);
        self.texts.insert(said);
        line.text = text(grain);
        if is_turn(grain) {
            let session = grain.text("session_id");
            let key = (line.time.ms(), row);
            let place = self.conversations.iter_mut();
            match place
                .map(|(of, turns)| (of.as_deref(), turns))
                .find(|(of, _)| *of == session)
            {
                Some((_, turns)) => drop(turns.insert(key, line)),
                None => {
                    let turns = BTreeMap::from([(key, line)]);
                    self.conversations.push((session.map(str::to_owned), turns));
                }
            }
        } else {
            self.facts.push((line, Claim::of(grain)));
        }
        Fit::Added
    }

    fn cost(&self, grain: &Grain, line: &Line) -> usize {
        match is_turn(grain) {
            true => self.cost_of_turn(grain, line),
            false => self.cost_of_fact(line),
        }
    }

    fn cost_of_fact(&self, line: &Line) -> usize {
        let heading = match self.facts.is_empty() {
            true => Passage::default().heading_tokens(),
            false => 0,
        };
        line.tokens(false) + heading
    }

    fn cost_of_turn(&self, grain: &Grain, line: &Line) -> usize {
        let session = grain.text("session_id");
        let mut conversations = self.conversations.iter();
        let of_session = conversations.find(|(of, _)| of.as_deref() == session);
        line.tokens(true)
            + match of_session {
                None => Passage {
                    is_conversation: true,
                    session: None,
                    lines: vec![line.clone()],
                }
                .heading_tokens(),
                // Each day but the first is written once.
                Some((_, turns)) => {
                    let days: BTreeSet<i64> = turns.values().map(|turn| day(turn.time)).collect();
                    match days.contains(&day(line.time)) {
                        true => 0,
                        false => DAY_TOKENS,
                    }
                }
            }
    }

    /// Marks a contested pair of each line that contradicts another, brings the two together, and
    /// puts what is current before what is not.
    pub(super) fn into_recollection(mut self, left_out: Option<LeftOut>) -> Recollection {
        let is_cut = self.is_cut();
        let left_out = left_out.filter(|left_out| left_out.tokens() <= self.left);
        self.left -= left_out.map_or(0, |left_out| left_out.tokens());
        let facts = in_order(self.facts, &mut self.left);
        let mut passages = Vec::new();
        if !facts.is_empty() {
            passages.push(Passage {
                lines: facts,
                ..Passage::default()
            });
        }
        let conversations = self.conversations.into_iter();
        passages.extend(conversations.map(|(session, turns)| Passage {
            is_conversation: true,
            session,
            lines: turns.into_values().collect(),
        }));
        Recollection {
            passages,
            tokens: self.budget - self.left,
            is_cut,
            left_out,
            ..Recollection::default()
        }
    }
}

/// Returns the facts in the order of a prompt: current ones first, saved states last among them, and of those that contradict each
/// other the newer one first and the others right after it, as far as the budget has room to say so.
fn in_order(mut facts: Vec<(Line, Claim)>, left: &mut usize) -> Vec<Line> {
    facts.sort_by_key(|(line, claim)| (line.standing, claim.is_state));
    let mut ordered = Vec::with_capacity(facts.len());
    let mut facts = VecDeque::from(facts);
    while let Some(first) = facts.pop_front() {
        let is_against = |(_, claim): &(Line, Claim)| claim.contradicts(&first.1);
        let (against, rest): (Vec<_>, Vec<_>) = facts.into_iter().partition(is_against);
        facts = rest.into();
        let mut group = vec![first];
        group.extend(against);
        group.sort_by_key(|(line, _)| (line.standing, Reverse(line.time)));
        let mut group = group.into_iter().map(|(line, _)| line);
        let Some(newest) = group.next() else {
            continue;
        };
        let address = newest.address;
        ordered.push(newest);
        for mut line in group {
            let before = line.tokens(false);
            line.contradicts.push(address);
            let more = line.tokens(false).saturating_sub(before);
            match left.checked_sub(more) {
                Some(rest) => *left = rest,
                None => line.contradicts.clear(),
            }
            ordered.push(line);
        }
    }
    ordered
}

/// Returns whether a grain is a turn of a conversation, and no fact.
pub(super) fn is_turn(grain: &Grain) -> bool {
    let is_said = matches!(grain.type_(), Type::Event | Type::Action);
    is_said
        && ["session_id", "role"]
            .iter()
            .any(|name| grain.text(name).is_some())
}

/// Returns the text of a grain, with all that is searched.
fn text(grain: &Grain) -> String {
    let of_event = grain.message_text();
    of_event.map_or_else(|| grain.summary(), Cow::into_owned)
}

/// Returns a text without what makes no difference to a reader.
fn folded(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    if text.is_ascii() {
        let is_between = |c: char| !c.is_ascii_alphanumeric();
        for word in text.split(is_between).filter(|word| !word.is_empty()) {
            if !folded.is_empty() {
                folded.push(' ');
            }
            folded.push_str(word);
        }
        folded.make_ascii_lowercase();
        return folded;
    }
    let words = text.split(|c: char| !c.is_alphanumeric());
    for word in words.filter(|word| !word.is_empty()) {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.push_str(&word.to_lowercase());
    }
    folded
}

const fn day(time: Time) -> i64 {
    time.ms().div_euclid(86_400_000)
}

/// Returns the tokens that say what was left out, at most.
pub(super) fn left_out_tokens() -> usize {
    tokens("\nLeft out: 100 facts, 100 messages.\n")
}

/// With less than this part of the budget left, it is full.
const FULL_SHARE: usize = 20;

const DAY_TOKENS: usize = "2026-01-15 ".len().div_ceil(4);
