//! A question as words of time: each word with what it is in the language of the question.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::text;

use super::words::{LANGUAGES, Words};

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

/// The one of many that a question asks for, or their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::query) enum Order {
    Last,
    First,
    Count,
}

/// A question, word by word; empty if none of them is a time.
#[derive(Default)]
pub(super) struct Question {
    pub(super) kinds: Vec<Kind>,
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
        let mut best: Option<(usize, &Words, Vec<Kind>)> = None;
        for language in LANGUAGES {
            let (kinds, known) = language.kinds(&words);
            if best.as_ref().is_none_or(|(most, ..)| known > *most) {
                best = Some((known, language, kinds));
            }
        }
        let (needs_preposition, kinds) = best.map_or((true, Vec::new()), |(_, of, kinds)| {
            (of.needs_preposition, kinds)
        });
        Self {
            kinds,
            needs_preposition,
        }
    }

    /// Returns the hours of the part of a day that it names.
    pub(super) fn part(&self) -> Option<[i64; 2]> {
        self.kinds.iter().find_map(|kind| match kind {
            Kind::Part(hours) => Some(*hours),
            _ => None,
        })
    }

    pub(super) fn order(&self) -> Option<Order> {
        self.kinds.iter().find_map(|kind| match kind {
            Kind::Ordered(order) => Some(*order),
            _ => None,
        })
    }
}

impl Words {
    /// Returns what words are, those of a phrase once, and how well the language knows them: words of
    /// time tell more.
    fn kinds(&self, words: &[text::QuestionWord]) -> (Vec<Kind>, usize) {
        let mut kinds = Vec::with_capacity(words.len());
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
            rest = rest.get(len..).unwrap_or(others);
        }
        (kinds, known)
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
