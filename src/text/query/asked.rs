//! `Asked`: the persons, the dates and the kind of answer that a question names.
//!
//! It is read off the text of a query, whatever its clauses are, and only ranks: no text is found
//! or missed because of it.

use std::ops::Range;

use crate::grain::Time;
use crate::text::analysis::chunk;
use crate::text::analysis::cues;
use crate::text::analysis::fold;
use crate::text::analysis::language::Language;
use crate::text::document::hash_of_name;

/// The persons, dates and kinds of answer that a question names.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::text) struct Asked {
    /// The hashes of its words: a speaker is named by one of them.
    names: Vec<u32>,
    /// [`cues::NUMBER`] and [`cues::TIME`].
    pub(in crate::text) cues: u8,
    dates: Vec<When>,
}

/// A date of a question.
#[derive(Debug, Clone, PartialEq)]
enum When {
    /// Milliseconds since 1970.
    Within(Range<i64>),
    /// A month of any year.
    Month(i8),
}

impl Asked {
    pub(in crate::text) fn of(text: &str) -> Self {
        let mut written: Vec<String> = Vec::new();
        'words: for chunk in chunk::chunks(text) {
            for part in chunk.parts.iter().filter(|part| !part.is_letter()) {
                if written.len() == WORDS_MAX {
                    break 'words;
                }
                written.push(part.written.as_ref().to_owned());
            }
        }
        let fold = |word: &String| fold::plain(&fold::lower(word, Language::OTHER));
        let words: Vec<String> = written.iter().map(fold).collect();
        Self {
            names: words.iter().map(|word| hash_of_name(word)).collect(),
            cues: cues::asked_cues(&words),
            dates: dates(&written, &words),
        }
    }

    /// Returns whether it names a speaker.
    pub(in crate::text) fn names(&self, speaker: u32) -> bool {
        self.names.contains(&speaker)
    }

    /// Returns whether it names a date and a time is within one that it names.
    pub(in crate::text) fn is_dated(&self, time_ms: i64) -> bool {
        self.dates.iter().any(|when| match when {
            When::Within(range) => range.contains(&time_ms),
            When::Month(month) => month_of(time_ms) == i64::from(*month),
        })
    }
}

/// Returns the dates among words: `7 May 2023`, `May 7, 2023`, `2023-05-07`, `May 2023`, `2023`.
fn dates(written: &[String], words: &[String]) -> Vec<When> {
    let number = |at: Option<usize>| -> Option<i16> {
        let word = words.get(at?)?;
        let digits = word.trim_end_matches(|c: char| c.is_ascii_lowercase());
        digits.parse().ok()
    };
    let year = |at: Option<usize>| number(at).filter(|year| (1900..2100).contains(year));
    let day = |at: Option<usize>| {
        let day = number(at).and_then(|day| i8::try_from(day).ok());
        day.filter(|day| (1..=31).contains(day))
    };
    let mut dates = Vec::new();
    let mut used = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let (before, after) = (at.checked_sub(1), Some(at + 1));
        if let Some(month) = cues::month(word) {
            let day_at = [before, after].into_iter().find(|at| day(*at).is_some());
            let behind = if day_at == Some(after) {
                Some(at + 2)
            } else {
                after
            };
            let year_at = [behind, after].into_iter().find(|at| year(*at).is_some());
            let is_capital = written
                .get(at)
                .is_some_and(|word| word.starts_with(char::is_uppercase));
            let is_plain = !cues::is_ambiguous_month(word) || (is_capital && at > 0);
            if !is_plain && day_at.is_none() && year_at.is_none() {
                continue;
            }
            used.extend(year_at.flatten());
            dates.extend(match (year_at.and_then(year), day_at.and_then(day)) {
                (Some(year), day) => within(year, Some(month), day),
                (None, _) => Some(When::Month(month)),
            });
        } else if let Some(year) = year(Some(at)).filter(|_| !used.contains(&at)) {
            let month = number(after).and_then(|month| i8::try_from(month).ok());
            let month = month.filter(|month| (1..=12).contains(month));
            let day = day(Some(at + 2)).filter(|_| month.is_some());
            dates.extend(match (month, day) {
                (Some(_), Some(_)) => within(year, month, day),
                _ => within(year, None, None),
            });
        }
    }
    dates
}

/// Returns a year, a month or the week from a day on: what happened on a day is told within days.
fn within(year: i16, month: Option<i8>, day: Option<i8>) -> Option<When> {
    let start = ms_of(year, month.unwrap_or(1), day.unwrap_or(1))?;
    let end = match (month, day) {
        (_, Some(_)) => start + DAYS_AFTER * DAY_MS,
        (Some(month @ 1..12), None) => ms_of(year, month + 1, 1)?,
        (_, None) => ms_of(year + 1, 1, 1)?,
    };
    Some(When::Within(start..end))
}

/// Returns when a day begins; `None` if the calendar does not have it.
fn ms_of(year: i16, month: i8, day: i8) -> Option<i64> {
    let time = Time::parse(&format!("{year:04}-{month:02}-{day:02}T00:00:00Z"));
    time.ok().map(Time::ms)
}

/// Returns the month of a time: the part of a Gregorian year that begins in March, in which the
/// lengths of months repeat every five.
const fn month_of(time_ms: i64) -> i64 {
    // Days since 0000-03-01.
    let days = time_ms.div_euclid(DAY_MS) + 719_468;
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    (from_march + 2) % 12 + 1
}

/// A longer text is not a question.
const WORDS_MAX: usize = 64;

/// The days from a named day on within which it is spoken of.
const DAYS_AFTER: i64 = 7;

const DAY_MS: i64 = 86_400_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(date: &str) -> i64 {
        Time::parse(&format!("{date}T12:00:00Z")).unwrap().ms()
    }

    #[test]
    fn a_question_names_dates_in_many_ways() {
        for (text, within, outside) in [
            ("on 7 May 2023", "2023-05-08", "2023-05-06"),
            ("on May 7th, 2023?", "2023-05-07", "2023-06-07"),
            ("am 7. Mai 2023", "2023-05-07", "2022-05-07"),
            ("2023-05-07", "2023-05-07", "2023-04-07"),
            ("in May 2023", "2023-05-31", "2023-06-01"),
            ("in May", "2021-05-31", "2021-06-01"),
            ("during 2022", "2022-12-31", "2023-01-01"),
            ("en agosto", "2022-08-31", "2023-01-01"),
        ] {
            let asked = Asked::of(text);
            assert!(asked.is_dated(ms(within)), "{text}");
            assert!(!asked.is_dated(ms(outside)), "{text}");
        }
        for (date, month) in [("1969-12-31", 12), ("2024-02-29", 2), ("2023-03-01", 3)] {
            assert_eq!(month_of(ms(date)), month, "{date}");
        }
        for text in ["may I march", "May I?", "99 of 31", "", "i64 9999999999"] {
            assert_eq!(Asked::of(text).dates, [], "{text}");
        }
    }
}
