//! The time that a question names: days of a calendar, sessions by number, first, last and how often.
//!
//! A question is read in the one of eight languages of which it has the most words. Nothing here reads
//! a store or a clock: what lies within a window is for `recall` and `search`.

mod calendar;
mod parse;
mod period;
mod spans;
mod words;

use std::ops::Range;

use crate::grain::Time;
use crate::query::day::DAY_MS;
use crate::text::{Calendar, Order};

pub(super) use parse::{Feast, Occasion};
pub use period::period;

/// The time that a question names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct When {
    /// The milliseconds since 1970 that it may mean, the likeliest first: a month without a year may be
    /// of any.
    pub(super) windows: Vec<Range<i64>>,
    /// The part of the one day that it names.
    pub(super) part: Option<Range<i64>>,
    /// The first and the last of the sessions that it counts: from 1, or from the end by numbers below 0.
    pub(super) sessions: Option<[i64; 2]>,
    /// Whether it asks for the last, the first or the number of something.
    pub(super) order: Option<Order>,
    /// The words that ask for the last or the first, and "last" of "last week", folded: a text that has
    /// them says nothing of what is asked for.
    pub(super) used: Vec<String>,
    /// Whether it asks for nothing but what was said or done then.
    pub(super) is_bare: bool,
}

impl When {
    /// Reads a question, at a moment. `date_of` returns the date of an occasion as it is written.
    ///
    /// # Errors
    /// Those of `date_of`.
    pub(super) fn of<E>(
        question: &str,
        now: Time,
        calendar: &Calendar,
        date_of: impl FnOnce(&Occasion) -> Result<Option<String>, E>,
    ) -> Result<Self, E> {
        let read = parse::Question::of(question);
        let today = calendar::day_of(calendar, now);
        let occasion = match read.occasion() {
            Some(occasion) => date_of(&occasion)?.map(|date| (occasion.place, date)),
            None => None,
        };
        let occasion = occasion.and_then(|(place, date)| {
            let date = spans::of(&parse::Question::of(&date), today, calendar, None);
            let day = date.days.first()?.start;
            Some((place, day.month_and_day()))
        });
        let spans = spans::of(&read, today, calendar, occasion);
        let order = read.order(&spans.places);
        let mut used = read.last_of(&spans.places);
        if let Some((at, Order::Last | Order::First)) = order {
            used.extend(read.words_at(at));
        }
        let times = |days| calendar::times(calendar, days);
        let windows: Vec<Range<i64>> = spans.days.iter().map(times).collect();
        let part = match windows.as_slice() {
            [day] if day.end.saturating_sub(day.start) == DAY_MS => read.part().map(|hours| {
                let [from, to] = hours.map(|hour| day.start.saturating_add(hour * HOUR_MS));
                from..to
            }),
            _ => None,
        };
        Ok(Self {
            windows,
            part,
            sessions: spans.sessions,
            order: order.map(|(_, order)| order),
            used,
            is_bare: spans.is_bare,
        })
    }

    /// Returns the times at which a text may report it: an event is reported within days.
    pub(super) fn told(&self) -> Vec<Range<i64>> {
        let windows = self.windows.iter();
        let until = |window: &Range<i64>| window.end.max(window.start.saturating_add(TOLD_MS));
        windows.map(|window| window.start..until(window)).collect()
    }
}

const HOUR_MS: i64 = 3_600_000;

/// Within a week.
const TOLD_MS: i64 = 7 * DAY_MS;

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::path::Path;

    use serde_json::Value;

    use super::*;

    fn ms(date: &Value) -> i64 {
        let text = format!("{}T00:00:00Z", date.as_str().unwrap());
        Time::parse(&text).unwrap().ms()
    }

    /// Reads a question where no date of anyone is known.
    fn read_at(question: &str, now: Time) -> When {
        let unknown = |_: &Occasion| Ok::<_, Infallible>(None);
        When::of(question, now, &Calendar::default(), unknown).unwrap()
    }

    /// A window, sessions, an order, and whether nothing else is asked for.
    type Meant = (Option<Range<i64>>, Option<[i64; 2]>, Option<Order>, bool);

    /// Returns what a question of the file should say, and what it says.
    fn read(question: &Value) -> [Meant; 2] {
        let noon = Time::from_ms(ms(&question["now"]) + 12 * 3_600_000);
        let text = question["question"].as_str().unwrap();
        let when = read_at(text, noon);
        let window =
            (!question["from"].is_null()).then(|| ms(&question["from"])..ms(&question["to"]));
        let sessions = question["sessions"].as_array();
        let sessions = sessions.map(|of| [of[0].as_i64().unwrap(), of[1].as_i64().unwrap()]);
        let order = question["order"].as_str().map(|order| match order {
            "last" => Order::Last,
            "first" => Order::First,
            _ => Order::Count,
        });
        let is_bare = question["bare"].as_bool().unwrap_or(false);
        let found = when.windows.first().cloned();
        [
            (window, sessions, order, is_bare),
            (found, when.sessions, when.order, when.is_bare),
        ]
    }

    #[test]
    fn a_part_of_a_day_is_read_by_its_hours_and_of_other_spans_none() {
        let now = Time::parse("2026-11-26T12:00:00Z").unwrap();
        for (question, part) in [
            (
                "what did we do yesterday morning",
                Some(["2026-11-25T04", "2026-11-25T12"]),
            ),
            (
                "what did we talk about last night",
                Some(["2026-11-25T20", "2026-11-26T06"]),
            ),
            (
                "was haben wir gestern abend besprochen",
                Some(["2026-11-25T17", "2026-11-26T00"]),
            ),
            ("what did we do yesterday", None),
            ("do I take sugar in the morning", None),
            ("what happened last week, in the evening", None),
        ] {
            let at = |hour: &str| Time::parse(&format!("{hour}:00:00Z")).unwrap().ms();
            let when = read_at(question, now);
            assert_eq!(
                when.part,
                part.map(|[from, to]| at(from)..at(to)),
                "{question}"
            );
        }
    }

    #[test]
    fn questions_of_time_are_read_as_they_are_meant_and_near_misses_name_no_time() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("test-vectors/search/time.json");
        let questions: Vec<Value> =
            serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        assert!(questions.len() >= 400);
        let (mut missed, mut hidden) = (Vec::new(), Vec::new());
        for question in &questions {
            let [expected, found] = read(question);
            if expected != found {
                missed.push(format!("{question}\n   {found:?}"));
            }
            // A window hides what is outside it, where nothing else is asked for.
            if found.3 && (!expected.3 || expected.0 != found.0) {
                hidden.push(question.to_string());
            }
        }
        let share = 100 * (questions.len() - missed.len()) / questions.len();
        assert!(
            share >= 97,
            "{share} of 100; missed:\n{}",
            missed.join("\n")
        );
        assert!(hidden.is_empty(), "{}", hidden.join("\n"));
    }

    #[test]
    fn days_of_someone_are_read_where_a_belief_has_their_date() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("test-vectors/search/occasions.json");
        let file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let beliefs = file["beliefs"].as_array().unwrap();
        let text = |of: &Value, name: &str| of[name].as_str().unwrap_or_default().to_owned();
        let date_of = |occasion: &Occasion| {
            let is_it = |belief: &&Value| {
                let whose = occasion.whose.clone().unwrap_or_else(|| "user".into());
                let subject = text(belief, "subject").to_lowercase();
                let is_birthday = !text(belief, "relation").contains("anniversary");
                let is_of = whose == subject || whose.trim_end_matches('s') == subject;
                is_of && is_birthday == (occasion.feast == Feast::Birthday)
            };
            let belief = beliefs.iter().find(is_it);
            Ok::<_, Infallible>(belief.map(|belief| text(belief, "object")))
        };
        let mut missed = Vec::new();
        for question in file["questions"].as_array().unwrap() {
            let noon = Time::from_ms(ms(&question["now"]) + 12 * 3_600_000);
            let asked = text(question, "question");
            let when = When::of(&asked, noon, &Calendar::default(), date_of).unwrap();
            let window =
                (!question["from"].is_null()).then(|| ms(&question["from"])..ms(&question["to"]));
            let is_bare = question["bare"].as_bool().unwrap_or(false);
            if (when.windows.first(), when.is_bare) != (window.as_ref(), is_bare) {
                missed.push(format!("{question}\n   {when:?}"));
            }
        }
        assert!(missed.is_empty(), "\n{}", missed.join("\n"));
    }
}
