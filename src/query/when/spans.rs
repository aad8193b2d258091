//! The days and sessions that the words of a question name.

use std::ops::Range;

use crate::query::day::{self, Day, Days};
use crate::text::Calendar;

use super::calendar;
use super::parse::{Kind, Question, Unit};

/// The days and sessions of a question.
#[derive(Debug, Default)]
pub(super) struct Spans {
    /// The likeliest first.
    pub(super) days: Vec<Days>,
    pub(super) sessions: Option<[i64; 2]>,
    /// The places of the words that name them.
    pub(super) places: Vec<Range<usize>>,
    /// Whether nothing but these is asked for.
    pub(super) is_bare: bool,
}

/// The number of some words, and the times that they name.
type Found<T> = Option<(usize, T)>;

/// Returns the days and sessions of a question that is asked on a day. An occasion is given with its
/// month and day.
pub(super) fn of(
    question: &Question,
    today: Day,
    calendar: &Calendar,
    occasion: Option<(Range<usize>, (i64, i64))>,
) -> Spans {
    let reader = Reader {
        kinds: &question.kinds,
        needs_preposition: question.needs_preposition,
        today,
        calendar,
        occasion,
    };
    let mut spans = Spans::default();
    let (mut at, mut count, mut is_plain) = (0, 0, true);
    while let Some(kind) = reader.kind(at) {
        if let Some((len, sessions)) = reader.sessions(at) {
            spans.sessions = spans.sessions.or(Some(sessions));
            spans.places.push(at..at + len);
            count += 1;
            at += len;
        } else if let Some((len, days)) = reader.days(at) {
            // "Before DATE" is no day.
            is_plain &= !days.is_empty();
            spans.days.extend(days);
            spans.places.push(at..at + len);
            count += 1;
            at += len;
        } else {
            is_plain &= says_nothing(kind);
            at += 1;
        }
    }
    spans.is_bare = count == 1 && is_plain;
    spans
}

const fn says_nothing(kind: Kind) -> bool {
    use Kind::{From, In, Number, Of, On, Part, Plain, This, To};
    matches!(
        kind,
        Plain | On | In | Of | From | To | This | Part(_) | Number(1)
    )
}

struct Reader<'a> {
    kinds: &'a [Kind],
    needs_preposition: bool,
    today: Day,
    calendar: &'a Calendar,
    occasion: Option<(Range<usize>, (i64, i64))>,
}

impl Reader<'_> {
    fn kind(&self, at: usize) -> Option<Kind> {
        self.kinds.get(at).copied()
    }

    /// Reads "the third session", "session 5", "the last two sessions", "20 sessions ago".
    fn sessions(&self, at: usize) -> Found<[i64; 2]> {
        use Kind::{Ago, Last, Number, Ordinal, Session, To};
        let kind = |ahead: usize| self.kind(at + ahead);
        Some(match (kind(0)?, kind(1)?) {
            (Number(back), Session) if kind(2) == Some(Ago) => (3, [-back - 1; 2]),
            (Ordinal(one), Session) => (2, [one; 2]),
            (Session, Number(one)) => match (kind(2), kind(3)) {
                (Some(To), Some(Number(other))) if other >= one => (4, [one, other]),
                _ => (2, [one; 2]),
            },
            (Last, Number(some)) if kind(2) == Some(Session) => (3, [-some, -1]),
            (Last, Session) | (Session, Last) => (2, [-1; 2]),
            (Ago, Number(back)) if kind(2) == Some(Session) => (3, [-back - 1; 2]),
            _ => return None,
        })
    }

    /// Reads a span of days with what relates to it; of "before DATE" no day.
    fn days(&self, at: usize) -> Found<Vec<Days>> {
        use Kind::{After, Before, Between, Every, From, Since};
        if at > 0 && self.kind(at - 1) == Some(Every) {
            return None;
        }
        let tomorrow = self.today.plus(1);
        let relation = self.kind(at)?;
        if !matches!(relation, Since | Before | After | Between | From) {
            return self.span(at);
        }
        let (len, days) = self.span(at + 1)?;
        let first = days.first()?;
        Some(match relation {
            Since => (len + 1, vec![first.start..tomorrow]),
            After => (len + 1, vec![first.end..tomorrow.max(first.end)]),
            Before => (len + 1, Vec::new()),
            _ => {
                let to = at + 1 + len;
                let (more, others) = self
                    .span(to + 1)
                    .filter(|_| self.kind(to) == Some(Kind::To))?;
                let last = others.first()?;
                // The year may be said once.
                let first = days.iter().find(|days| days.start <= last.start)?;
                (len + more + 2, vec![first.start..last.end])
            }
        })
    }

    /// Returns the number of prepositions and articles here.
    fn glue(&self, at: usize) -> usize {
        let ahead = self.kinds.get(at..).unwrap_or_default().iter();
        let is_glue = |kind: &&Kind| matches!(kind, Kind::On | Kind::In | Kind::Of);
        ahead.take_while(is_glue).count()
    }

    /// Reads a span of days with the prepositions and articles before it.
    fn span(&self, at: usize) -> Found<Vec<Days>> {
        use Kind::{In, On};
        let glue = self.glue(at);
        let is_led = self
            .kinds
            .get(at..at + glue)?
            .iter()
            .any(|kind| matches!(kind, On | In))
            || at.checked_sub(1).is_some_and(|before| {
                use Kind::{After, Before, Between, From, Since, To};
                matches!(
                    self.kind(before),
                    Some(Since | Before | After | Between | From | To)
                )
            });
        let (len, days) = self.core(at + glue, is_led)?;
        let part = self.kind(at + glue + len);
        let part = usize::from(matches!(part, Some(Kind::Part(_))));
        Some((glue + len + part, days))
    }

    fn core(&self, at: usize, is_led: bool) -> Found<Vec<Days>> {
        let kind = |ahead: usize| self.kind(at + ahead);
        let one = |len: usize, days: Days| Some((len, vec![days]));
        if let Some(found) = self.beside(at).or_else(|| self.at_occasion(at, is_led)) {
            return Some(found);
        }
        match kind(0)? {
            Kind::Day(days) => one(1, self.today.plus(days).alone()),
            Kind::BeforeLast(unit) => one(1, self.unit(unit, -2)),
            Kind::Number(number) => self.at_number(at, number, is_led),
            Kind::Ordinal(number) => self.at_ordinal(at, number),
            Kind::Month(month) => self.at_month(at, month, is_led),
            Kind::Last => self.at_last(at),
            Kind::This => match kind(1)? {
                Kind::Units(unit) => one(2, self.unit(unit, 0)),
                Kind::Weekday(weekday) => {
                    let monday = self.today.plus(-self.today.weekday());
                    one(2, monday.plus(weekday).alone())
                }
                Kind::Weekend => one(2, self.weekend(0)),
                Kind::Part(_) => one(2, self.today.alone()),
                _ => self.core(at + 1, true).map(|(len, days)| (len + 1, days)),
            },
            Kind::Units(unit) if kind(1) == Some(Kind::Last) && unit != Unit::Days => {
                one(2, self.unit(unit, -1))
            }
            Kind::Ago => match (kind(1)?, kind(2)?) {
                (Kind::Number(count), Kind::Units(unit)) => one(3, self.unit(unit, -count)),
                _ => None,
            },
            Kind::Weekday(weekday) => {
                let has_last = kind(1) == Some(Kind::Last);
                let is_day = has_last || self.may_be_time(at, 1, is_led);
                let days = self.today.last(weekday).alone();
                is_day.then(|| (1 + usize::from(has_last), vec![days]))
            }
            Kind::Weekend
                if is_led && !(self.needs_preposition && kind(1) == Some(Kind::Other)) =>
            {
                let is_weekend = self.today.weekday() >= 5;
                one(1, self.weekend(if is_weekend { 0 } else { -1 }))
            }
            Kind::Season(month) => self.at_season(at, month, is_led),
            _ => None,
        }
    }

    /// Reads "the day before DATE", "the week after DATE" and "two weeks before DATE", which is a day.
    fn beside(&self, at: usize) -> Found<Vec<Days>> {
        let (count, len) = match self.kind(at)? {
            Kind::Number(count) => (Some(count), 2),
            _ => (None, 1),
        };
        let Kind::Units(unit) = self.kind(at + len - 1)? else {
            return None;
        };
        let is_before = match self.kind(at + len)? {
            Kind::Before => true,
            // "Vor" is both: "two weeks ago on Friday" is another time.
            Kind::Ago if !matches!(self.kind(at + len + 1), Some(Kind::On | Kind::In)) => true,
            Kind::After => false,
            _ => return None,
        };
        let length = match unit {
            Unit::Days => 1,
            Unit::Weeks => 7,
            Unit::Months | Unit::Years => return None,
        };
        let from = at + len + 1;
        let from = from + self.glue(from);
        let (of_date, days) = self.core(from, true).filter(|(_, days)| !days.is_empty())?;
        let days = days.iter().map(|days| match (count, is_before) {
            (None, true) => days.start.plus(-length)..days.start,
            (None, false) => days.end..days.end.plus(length),
            (Some(count), true) => days.start.plus(count.saturating_mul(-length)).alone(),
            (Some(count), false) => {
                let last = days.end.plus(-1);
                last.plus(count.saturating_mul(length)).alone()
            }
        });
        Some((from + of_date - at, days.collect()))
    }

    /// Reads an occasion whose date is known, behind a preposition: "when is my birthday" asks for it.
    fn at_occasion(&self, at: usize, is_led: bool) -> Found<Vec<Days>> {
        let (place, (month, day)) = self.occasion.as_ref()?;
        let is_day = self.kind(at) == Some(Kind::Units(Unit::Days));
        let start = if is_day { self.past_of(at + 1) } else { at };
        let days = self.day_in(None, *month, *day);
        let is_here = place.start == start && (is_led || is_day) && !days.is_empty();
        is_here.then(|| (place.end - at, days))
    }

    /// Returns whether a word that may be a name is a time: behind a preposition or at the end, or in
    /// a language that uses none.
    fn may_be_time(&self, at: usize, len: usize, is_led: bool) -> bool {
        let before = at.checked_sub(1).and_then(|before| self.kind(before));
        let is_free = before.is_some_and(|kind| kind != Kind::Other) && !self.needs_preposition;
        is_led || is_free || self.kind(at + len).is_none()
    }

    fn at_number(&self, at: usize, number: i64, is_led: bool) -> Found<Vec<Days>> {
        let kind = |ahead: usize| self.kind(at + ahead);
        if let (Some(Kind::Number(second)), Some(Kind::Number(third))) = (kind(1), kind(2)) {
            let day = match is_year(number) {
                true => Day::of(number, second, third),
                false => Day::of(third, second, number).filter(|_| is_year(third)),
            };
            return day.map(|day| (3, vec![day.alone()]));
        }
        match (kind(1), kind(2)) {
            (Some(Kind::Units(unit)), Some(Kind::Ago)) => {
                return Some((3, vec![self.unit(unit, -number)]));
            }
            (Some(Kind::Last), Some(Kind::Units(unit))) => {
                return Some((3, vec![self.rolling(number, unit)]));
            }
            _ => {}
        }
        if let Some(found) = self.day_of_month(at, number) {
            return Some(found);
        }
        let before = at.checked_sub(1).and_then(|before| self.kind(before));
        let is_time =
            is_led || !self.needs_preposition || before.is_none_or(|kind| kind == Kind::Plain);
        let has_unit = kind(1) == Some(Kind::Units(Unit::Years));
        let is_time = is_year(number) && is_time;
        is_time.then(|| (1 + usize::from(has_unit), vec![day::year(number)]))
    }

    /// Reads "7 May 2025" and "7 de mayo de 2025".
    fn day_of_month(&self, at: usize, day: i64) -> Found<Vec<Days>> {
        let month_at = self.past_of(at + 1);
        let Kind::Month(month) = self.kind(month_at)? else {
            return None;
        };
        let year = self.year_at(month_at + 1);
        let len = year.map_or(month_at + 1, |(end, _)| end) - at;
        let days = self.day_in(year.map(|(_, year)| year), month, day);
        (!days.is_empty()).then_some((len, days))
    }

    fn at_ordinal(&self, at: usize, number: i64) -> Found<Vec<Days>> {
        if self.kind(at + 1) == Some(Kind::Units(Unit::Weeks)) {
            let month_at = self.past_of(at + 2);
            let Kind::Month(month) = self.kind(month_at)? else {
                return None;
            };
            let (end, months) = self.month_and_year(month_at, month);
            let week = |days: &Days| {
                let start = days.start.plus(7 * (number - 1));
                start..start.plus(7)
            };
            return Some((end - at, months.iter().map(week).collect()));
        }
        self.day_of_month(at, number)
    }

    /// Reads "May 7, 2025", "May 2025", "May" and "juin dernier".
    fn at_month(&self, at: usize, month: i64, is_led: bool) -> Found<Vec<Days>> {
        if let Some(Kind::Number(day) | Kind::Ordinal(day)) = self.kind(at + 1)
            && (1..=31).contains(&day)
        {
            let year = self.year_at(at + 2);
            let days = self.day_in(year.map(|(_, year)| year), month, day);
            let len = year.map_or(2, |(end, _)| end - at);
            return (!days.is_empty()).then_some((len, days));
        }
        let (end, mut months) = self.month_and_year(at, month);
        let has_last = self.kind(end) == Some(Kind::Last);
        if has_last {
            months.truncate(1);
        }
        // June may be a friend.
        if end == at + 1 && !has_last && !is_led && self.needs_preposition {
            return None;
        }
        Some((end + usize::from(has_last) - at, months))
    }

    /// Returns where a month with its year ends, and its days.
    fn month_and_year(&self, at: usize, month: i64) -> (usize, Vec<Days>) {
        match self.year_at(at + 1) {
            Some((end, year)) => (end, vec![day::month(year, month)]),
            None => (at + 1, self.of_any_year(month)),
        }
    }

    /// Returns where a year ends that begins here, and the year.
    fn year_at(&self, at: usize) -> Option<(usize, i64)> {
        let year_at = self.past_of(at);
        match self.kind(year_at)? {
            Kind::Number(year) if is_year(year) => Some((year_at + 1, year)),
            _ => None,
        }
    }

    fn past_of(&self, at: usize) -> usize {
        at + usize::from(self.kind(at) == Some(Kind::Of))
    }

    fn at_last(&self, at: usize) -> Found<Vec<Days>> {
        let one = |len: usize, days: Days| Some((len, vec![days]));
        match (self.kind(at + 1)?, self.kind(at + 2)) {
            (Kind::Number(count), Some(Kind::Units(unit))) => one(3, self.rolling(count, unit)),
            (Kind::Units(unit), _) if unit != Unit::Days => one(2, self.unit(unit, -1)),
            (Kind::Weekday(weekday), _) => one(2, self.today.last(weekday).alone()),
            (Kind::Weekend, _) => one(2, self.weekend(-1)),
            (Kind::Part(_), _) => one(2, self.today.plus(-1).alone()),
            (Kind::Month(month), _) => one(2, self.of_any_year(month).into_iter().next()?),
            (Kind::Season(month), _) => one(2, self.last_season(month)),
            _ => None,
        }
    }

    fn at_season(&self, at: usize, month: i64, is_led: bool) -> Found<Vec<Days>> {
        if let Some((end, year)) = self.year_at(at + 1) {
            let start = day::month(year, month).start;
            return Some((end - at, vec![start..day::month(year, month + 2).end]));
        }
        let has_last = self.kind(at + 1) == Some(Kind::Last);
        let is_time = has_last || is_led;
        is_time.then(|| (1 + usize::from(has_last), vec![self.last_season(month)]))
    }

    /// Returns the last season that is over, or that is now in its last month.
    fn last_season(&self, month: i64) -> Days {
        let (year, this_month) = self.today.year_and_month();
        let is_over = this_month > month + 2;
        let year = if is_over { year } else { year - 1 };
        day::month(year, month).start..day::month(year, month + 2).end
    }

    /// Returns a day of a month of a year, or of the years before today.
    fn day_in(&self, year: Option<i64>, month: i64, day: i64) -> Vec<Days> {
        let (this_year, _) = self.today.year_and_month();
        let years = match year {
            Some(year) => vec![year],
            None => (0..YEARS_BACK).map(|back| this_year - back).collect(),
        };
        let days = years.iter().filter_map(|year| Day::of(*year, month, day));
        let days = days.filter(|day| year.is_some() || *day <= self.today);
        days.map(Day::alone).collect()
    }

    /// Returns months of the years before today, the last first.
    fn of_any_year(&self, month: i64) -> Vec<Days> {
        let (year, this_month) = self.today.year_and_month();
        let latest = if month <= this_month { year } else { year - 1 };
        let years = (0..YEARS_BACK).map(|back| latest - back);
        years.map(|year| day::month(year, month)).collect()
    }

    /// Returns the unit of the calendar so many from today's; of days the day.
    fn unit(&self, unit: Unit, from_today: i64) -> Days {
        let (year, month) = self.today.year_and_month();
        match unit {
            Unit::Days => self.today.plus(from_today).alone(),
            Unit::Weeks => {
                calendar::week(self.calendar, self.today.plus(from_today.saturating_mul(7)))
            }
            Unit::Months => day::month(year, month.saturating_add(from_today)),
            Unit::Years => day::year(year.saturating_add(from_today)),
        }
    }

    /// Returns the days up to today, from so many units before.
    fn rolling(&self, count: i64, unit: Unit) -> Days {
        let days = match unit {
            Unit::Days => 1,
            Unit::Weeks => 7,
            Unit::Months => 30,
            Unit::Years => 365,
        };
        self.today.plus(count.saturating_mul(-days))..self.today.plus(1)
    }

    fn weekend(&self, weeks: i64) -> Days {
        let monday = self.today.plus(-self.today.weekday());
        let saturday = monday.plus(5 + 7 * weeks);
        saturday..saturday.plus(2)
    }
}

const fn is_year(number: i64) -> bool {
    matches!(number, 1900..=2100)
}

/// How many years a date without a year may be old.
const YEARS_BACK: i64 = 30;
