//! The lines of a recall within its budget, and the order in which a prompt has them.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use crate::grain::{Grain, Time};
use crate::ledger::EntryId;
use crate::render::{LeftOut, Line, LineShape, Passage, Recollection, is_turn, tokens};

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
    /// The rows for which there was no room, so far; without the line of one that was not read.
    too_long: HashMap<EntryId, Option<Refused>>,
    has_parts: bool,
    /// The rows that say what a line says.
    pub(super) repeated: HashSet<EntryId>,
    /// The texts that the lines say, each with its hash, as the shapes of lines have it.
    said: Vec<(u8, String)>,
    facts: Vec<(Line, Claim)>,
    /// Conversations in the order of their first line, each with its turns by time and row.
    conversations: Vec<(Option<String>, Turns)>,
}

/// A line for which there was no room.
struct Refused {
    /// Its cost, at least.
    tokens: usize,
    hash: u8,
    said: String,
}

/// The turns of a conversation by time and row.
type Turns = BTreeMap<(i64, EntryId), Line>;

impl Collected {
    pub(super) fn new(budget: usize) -> Self {
        Self {
            left: budget,
            budget,
            rows: BTreeSet::new(),
            too_long: HashMap::with_capacity(LINES_ABOUT),
            has_parts: false,
            repeated: HashSet::new(),
            said: Vec::with_capacity(LINES_ABOUT),
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
        self.has_parts || self.too_long.keys().any(|row| !self.has(*row))
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
        let cost = line.tokens(is_turn(grain)) + self.cost_around(grain, line);
        let around = cost.saturating_sub(tokens(&line.sentence));
        // A token may end in the middle of a word on either side.
        self.left.saturating_sub(around + 1)
    }

    /// Returns whether there is no room for a row whose line has a shape: one that is no line, and
    /// says what none of them says.
    pub(super) fn refuses(&mut self, row: EntryId, shape: LineShape) -> bool {
        let may_be_said = self.said.iter().any(|(hash, _)| *hash == shape.said);
        if usize::from(shape.tokens) <= self.left || may_be_said || self.has(row) {
            return false;
        }
        self.too_long.entry(row).or_default();
        true
    }

    /// Returns the result of adding a row once more for which there was no room, if that is known
    /// without its line.
    pub(super) fn add_again(&mut self, row: EntryId) -> Option<Fit> {
        let refused = self.too_long.get(&row)?.as_ref()?;
        if self.has(row) {
            return Some(Fit::Known);
        }
        if self.says(refused.hash, &refused.said) {
            self.repeated.insert(row);
            return Some(Fit::Known);
        }
        (refused.tokens > self.left).then_some(Fit::TooLong)
    }

    /// Returns whether a line says what has a hash.
    fn says(&self, hash: u8, said: &str) -> bool {
        let mut lines = self.said.iter();
        lines.any(|(of_line, line)| *of_line == hash && line == said)
    }

    /// Adds a line, unless it is a duplicate or exceeds the budget.
    pub(super) fn add(&mut self, row: EntryId, grain: &Grain, mut line: Line) -> Fit {
        let said = line.said();
        let hash = LineShape::hash_of(&said);
        if line.sentence.is_empty() || self.says(hash, &said) {
            self.repeated.insert(row);
            return Fit::Known;
        }
        let tokens = line.tokens(is_turn(grain));
        let cost = tokens + self.cost_around(grain, &line);
        if cost > self.left {
            // Of a shortened one the whole was refused before.
            if !line.is_cut {
                let refused = Refused { tokens, hash, said };
                self.too_long.insert(row, Some(refused));
            }
            return Fit::TooLong;
        }
        self.left -= cost;
        self.has_parts |= line.is_cut;
        self.rows.insert(row);
        self.said.push((hash, said));
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

    /// Returns the tokens that a line costs beside its own: those of a heading, or of its day.
    fn cost_around(&self, grain: &Grain, line: &Line) -> usize {
        if !is_turn(grain) {
            return match self.facts.is_empty() {
                true => Passage::heading_tokens(false, None),
                false => 0,
            };
        }
        let session = grain.text("session_id");
        let mut conversations = self.conversations.iter();
        match conversations.find(|(of, _)| of.as_deref() == session) {
            None => Passage::heading_tokens(true, Some(line)),
            // Each day but the first is written once.
            Some((_, turns)) => {
                let is_same = |turn: &Line| day(turn.time) == day(line.time);
                match turns.values().any(is_same) {
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
        if !facts.iter().any(is_against) {
            ordered.push(first.0);
            continue;
        }
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

/// Returns the text of a grain, with all that is searched.
fn text(grain: &Grain) -> String {
    let of_event = grain.message_text();
    of_event.map_or_else(|| grain.summary(), Cow::into_owned)
}

const fn day(time: Time) -> i64 {
    time.ms().div_euclid(86_400_000)
}

/// Returns the tokens that say what was left out, at most.
pub(super) fn left_out_tokens() -> usize {
    tokens("\nLeft out: 100 facts, 100 messages.\n")
}

/// The lines of a recall, about.
pub(super) const LINES_ABOUT: usize = 56;

/// With less than this part of the budget left, it is full.
const FULL_SHARE: usize = 20;

const DAY_TOKENS: usize = "2026-01-15 ".len().div_ceil(4);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grain::Draft;

    fn row(number: u64) -> EntryId {
        EntryId::new(number)
    }

    fn fact(object: &str) -> Grain {
        let draft = Draft::belief("mira", "drinks", object).confidence(0.9);
        let draft = draft.created_at(Time::from_ms(1_768_471_200_000));
        draft.finish(Default::default()).unwrap()
    }

    #[test]
    fn what_has_no_room_is_refused_unread_unless_it_may_be_said_already() {
        let (tea, water) = (fact("green tea"), fact("water, and much of it, every day"));
        let mut collected = Collected::new(24);
        assert!(!collected.refuses(row(1), LineShape::of(&water)));
        assert_eq!(collected.add(row(0), &tea, Line::of(&tea)), Fit::Added);
        assert!(!collected.refuses(row(0), LineShape::of(&tea)));
        assert!(!collected.refuses(row(2), LineShape::of(&tea)));
        assert!(!collected.refuses(row(3), LineShape::default()));
        assert!(!collected.is_cut());
        assert!(collected.refuses(row(1), LineShape::of(&water)));
        assert!(collected.is_cut());
        assert_eq!(collected.add_again(row(1)), None);
        assert_eq!(
            collected.add(row(1), &water, Line::of(&water)),
            Fit::TooLong
        );
        assert_eq!(collected.add_again(row(1)), Some(Fit::TooLong));
        assert_eq!(collected.add(row(2), &tea, Line::of(&tea)), Fit::Known);
    }
}
