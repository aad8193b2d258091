//! A question as words of time: each word with what it is in the language of the question.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use crate::text::{self, Order};

use super::words::{LANGUAGES, MINE, Words};

/// The kind of a word or a phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Number(i64),
    Ordinal(i64),
    /// From Monday, 0.
    Weekday(i64),
    /// From January, 1.
    Month(i64),
    /// The month in which it begins.
    Season(i64),
    /// Days from today.
    Day(i64),
    /// A part of a day, from one hour to another.
    Part([i64; 2]),
    Units(Unit),
    Weekend,
    Session,
    Occasion(Feast),
    Last,
    /// The one before the last.
    BeforeLast(Unit),
    This,
    Next,
    Ago,
    Since,
    Before,
    After,
    Between,
    From,
    To,
    /// Before a unit: it happens again and again, and at no time.
    Every,
    On,
    In,
    /// An article, and what stands between the parts of a date.
    Of,
    Ordered(Order),
    Plain,
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Days,
    Weeks,
    Months,
    Years,
}

/// A day that comes every year and is another for each person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::query) enum Feast {
    Birthday,
    Anniversary,
}

/// A feast of one person, as a question names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::query) struct Occasion {
    pub(in crate::query) feast: Feast,
    /// One word of the name, folded; `None` of the one who asks.
    pub(in crate::query) whose: Option<String>,
    /// The words that name it.
    pub(super) place: Range<usize>,
}

/// A question, word by word; empty if none of them is a time.
#[derive(Default)]
pub(super) struct Question {
    pub(super) kinds: Vec<Kind>,
    /// The words of each of the kinds.
    words: Vec<Vec<String>>,
    /// Whether a weekday without a preposition is a name.
    pub(super) needs_preposition: bool,
}

/// The first words of what may be a time, in any language. Most questions have none of them, and are
/// read no further.
static TIMES: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let named = LANGUAGES.iter().flat_map(|language| language.named);
    let times = named.filter(|(_, kind)| kind.may_be_time());
    times
        .filter_map(|(phrase, _)| phrase.split(' ').next())
        .collect()
});

/// Returns whether a word may begin a time, or be a month or a year.
fn begins_time(word: &text::QuestionWord) -> bool {
    let is_number = word.folded.starts_with(|c: char| c.is_ascii_digit());
    is_number || TIMES.contains(&*word.folded) || word.month(false, true).is_some()
}

impl Kind {
    /// Returns whether it may be a time with what stands beside it.
    const fn may_be_time(self) -> bool {
        matches!(
            self,
            Self::Day(_)
                | Self::Units(_)
                | Self::Weekday(_)
                | Self::Weekend
                | Self::Season(_)
                | Self::Session
                | Self::Occasion(_)
                | Self::BeforeLast(_)
                | Self::Part(_)
                | Self::Ordered(_)
        )
    }
}

impl Question {
    pub(super) fn of(text: &str) -> Self {
        let words = text::question_words(text);
        if !words.iter().any(begins_time) {
            return Self::default();
        }
        let mut best: Option<(usize, Self)> = None;
        for language in LANGUAGES {
            let (read, known) = language.read(&words);
            if best.as_ref().is_none_or(|(most, _)| known > *most) {
                best = Some((known, read));
            }
        }
        best.map_or_else(Self::default, |(_, read)| read)
    }

    /// Returns the words of one kind.
    pub(super) fn words_at(&self, at: usize) -> Vec<String> {
        self.words.get(at).cloned().unwrap_or_default()
    }

    /// Returns the words for "last" in the words that name a time: as words of a text they are those of
    /// `LastPass` too.
    pub(super) fn last_of(&self, times: &[Range<usize>]) -> Vec<String> {
        let places = times.iter().flat_map(Clone::clone);
        let last = places.filter(|at| self.kinds.get(*at) == Some(&Kind::Last));
        last.flat_map(|at| self.words_at(at)).collect()
    }

    /// Returns the first day of someone that it names: "my birthday", "the birthday of Ana".
    pub(super) fn occasion(&self) -> Option<Occasion> {
        let mut kinds = (0..).zip(&self.kinds);
        let (at, feast) = kinds.find_map(|(at, kind)| match kind {
            Kind::Occasion(feast) => Some((at, *feast)),
            _ => None,
        })?;
        let kind = |at: usize| self.kinds.get(at).copied();
        let word = |at: usize| self.words.get(at)?.first();
        let behind = matches!(kind(at + 1), Some(Kind::Of | Kind::From));
        if behind && kind(at + 2) == Some(Kind::Other) {
            return Some(Occasion {
                feast,
                whose: word(at + 2).cloned(),
                place: at..at + 3,
            });
        }
        let before = at.checked_sub(1)?;
        let whose = word(before)?;
        let is_mine = MINE.contains(&whose.as_str());
        (is_mine || kind(before) == Some(Kind::Other)).then(|| Occasion {
            feast,
            whose: (!is_mine).then(|| whose.clone()),
            place: before..at + 1,
        })
    }

    /// Returns the hours of the part of a day that it names.
    pub(super) fn part(&self) -> Option<[i64; 2]> {
        self.kinds.iter().find_map(|kind| match kind {
            Kind::Part(hours) => Some(*hours),
            _ => None,
        })
    }

    /// Returns the order that it asks for, and where it says so: not in words that name a time.
    pub(super) fn order(&self, times: &[Range<usize>]) -> Option<(usize, Order)> {
        let mut kinds = (0..).zip(&self.kinds);
        let named = kinds.find_map(|(at, kind)| match kind {
            Kind::Ordered(order) => Some((at, *order)),
            _ => None,
        });
        named.or_else(|| {
            let order = self.order_of_deed()?;
            let is_time = times.iter().any(|place| place.contains(&order.0));
            (!is_time).then_some(order)
        })
    }

    /// Reads "when did Mira last visit": a word of order behind who did it. "The last bus" and "my first
    /// bike" are things.
    fn order_of_deed(&self) -> Option<(usize, Order)> {
        let word = |at: usize| self.words.get(at)?.first().map(String::as_str);
        let start = (0..2).find(|at| word(*at) == Some(WHEN))?;
        word(start + 1).filter(|word| PAST.contains(word))?;
        let pairs = (start + 3..).zip(self.kinds.get(start + 2..)?.windows(2));
        pairs.into_iter().find_map(|(at, pair)| match pair {
            [Kind::Of, _] => None,
            _ if word(at - 1).is_some_and(|word| OWN.contains(&word)) => None,
            [_, Kind::Last] => Some((at, Order::Last)),
            [_, Kind::Ordinal(1)] => Some((at, Order::First)),
            _ => None,
        })
    }
}

const WHEN: &str = "when";

const OWN: [&str; 7] = ["my", "your", "his", "her", "its", "our", "their"];

/// The time of a deed is asked for in the past.
const PAST: [&str; 6] = ["did", "was", "were", "have", "has", "had"];

impl Words {
    /// Returns what words are, those of a phrase once, and how well the language knows them: words of
    /// time tell more.
    fn read(&self, words: &[text::QuestionWord]) -> (Question, usize) {
        let mut kinds = Vec::with_capacity(words.len());
        let mut of_kinds = Vec::with_capacity(words.len());
        let mut known = 0;
        let mut rest = words;
        while let Some((first, others)) = rest.split_first() {
            let (len, kind) = self.named(rest).unwrap_or_else(|| {
                let is_dated = is_number(others.first()) || is_number_kind(kinds.last());
                (1, self.alone(first, kinds.is_empty(), is_dated))
            });
            known += match kind {
                Kind::Other => 0,
                Kind::Plain => 1,
                _ => 2 * len,
            };
            kinds.push(kind);
            let (these, after) = rest.split_at_checked(len).unwrap_or((&[], others));
            of_kinds.push(these.iter().map(|word| word.folded.clone()).collect());
            rest = after;
        }
        let read = Question {
            kinds,
            words: of_kinds,
            needs_preposition: self.needs_preposition,
        };
        (read, known)
    }

    /// Returns the longest phrase that words begin with.
    fn named(&self, words: &[text::QuestionWord]) -> Option<(usize, Kind)> {
        let begins = |phrase: &str| {
            let mut len = 0;
            phrase.split(' ').all(|word| {
                let is = words.get(len).is_some_and(|it| it.folded == word);
                len += 1;
                is
            })
        };
        let named = self.named.iter().filter(|(phrase, _)| begins(phrase));
        let longest = named.max_by_key(|(phrase, _)| phrase.split(' ').count())?;
        Some((longest.0.split(' ').count(), longest.1))
    }

    fn alone(&self, word: &text::QuestionWord, is_first: bool, is_dated: bool) -> Kind {
        let digits = word
            .folded
            .trim_end_matches(|c: char| c.is_ascii_lowercase());
        let has_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if let Some(number) = digits
            .parse()
            .ok()
            .filter(|_| has_digits && digits.len() <= 4)
        {
            let ending = word.folded.get(digits.len()..).unwrap_or_default();
            return match ending {
                "" => Kind::Number(number),
                "st" | "nd" | "rd" | "th" => Kind::Ordinal(number),
                _ => Kind::Other,
            };
        }
        if let Some(month) = word.month(is_first, is_dated) {
            return Kind::Month(month);
        }
        match self.plain.split(' ').any(|plain| plain == word.folded) {
            true => Kind::Plain,
            false => Kind::Other,
        }
    }
}

fn is_number(word: Option<&text::QuestionWord>) -> bool {
    word.is_some_and(|word| word.folded.starts_with(|c: char| c.is_ascii_digit()))
}

const fn is_number_kind(kind: Option<&Kind>) -> bool {
    matches!(kind, Some(Kind::Number(_) | Kind::Ordinal(_)))
}
