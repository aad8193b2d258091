//! Recalled passages as plain lines, as Markdown and as SML: a line for each grain.

use std::borrow::Cow;

use crate::codec::ContentAddress;
use crate::grain::{Time, is_printable};

use super::{LeftOut, Line, Recollection};

/// How the text of a grain is shown: as escapes, or as it is.
pub(super) type Shown = fn(&str) -> Cow<'_, str>;

/// Takes what is written of a line: a text, or the count of its tokens.
pub(super) trait Sink {
    fn push_str(&mut self, text: &str);

    /// Takes the first digits of an address.
    fn push_short(&mut self, address: ContentAddress) {
        self.push_str(&short(address));
    }

    /// Takes the day of a time.
    fn push_day(&mut self, time: Time) {
        self.push_str(&day(time));
    }
}

impl Sink for String {
    fn push_str(&mut self, text: &str) {
        self.push_str(text);
    }
}

/// Counts the tokens of what is written, as [`tokens`](super::tokens) counts those of a text: dozens
/// of lines are counted for each that there is room for.
#[cfg(any(feature = "text", test))]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TokenCount {
    ascii: usize,
    others: usize,
}

#[cfg(any(feature = "text", test))]
impl TokenCount {
    pub(super) const fn tokens(self) -> usize {
        self.ascii.div_ceil(4).saturating_add(self.others)
    }
}

#[cfg(any(feature = "text", test))]
impl Sink for TokenCount {
    fn push_str(&mut self, text: &str) {
        let ascii = match text.is_ascii() {
            true => text.len(),
            false => text.bytes().filter(u8::is_ascii).count(),
        };
        self.ascii += ascii;
        if ascii < text.len() {
            self.others += text.chars().count() - ascii;
        }
    }

    fn push_short(&mut self, _: ContentAddress) {
        self.ascii += SHORT_LEN;
    }

    fn push_day(&mut self, time: Time) {
        match (0..DAYS_OF_TEN_DIGITS_END_MS).contains(&time.ms()) {
            true => self.ascii += DAY_LEN,
            false => self.push_str(&day(time)),
        }
    }
}

/// Returns the facts and the conversations, each as a list under a heading, and what was left out.
pub(super) fn markdown(recollection: &Recollection, shown: Shown) -> String {
    let mut text = told(&recollection.told);
    for (number, passage) in recollection.passages.iter().enumerate() {
        if number > 0 {
            text.push('\n');
        }
        text.push_str(&heading(passage.is_conversation, passage.lines.first()));
        let mut day = passage.lines.first().map(date);
        for line in &passage.lines {
            if passage.is_conversation {
                let other = Some(date(line)).filter(|date| Some(date) != day.as_ref());
                turn(&mut text, line, other.as_deref(), shown);
                day = other.or(day);
            } else {
                fact(&mut text, line, shown);
            }
        }
    }
    if let Some(left) = recollection.left_out {
        text.push_str(&left_out(&left));
    }
    text
}

/// Returns the heading of a passage, given its first line, with its line breaks. A conversation has
/// the day and the address of its first turn.
pub(super) fn heading(is_conversation: bool, first: Option<&Line>) -> String {
    match first {
        Some(first) if is_conversation => {
            format!(
                "## Conversation {} ({})\n",
                date(first),
                short(first.address)
            )
        }
        _ if is_conversation => format!("## Conversation {:18}()\n", ""),
        _ => "## Facts\n".to_owned(),
    }
}

/// Writes a fact of the list, with its line break: what it says, its tags, its address and date,
/// and whether it may be relied on.
pub(super) fn fact(out: &mut impl Sink, line: &Line, shown: Shown) {
    out.push_str("- ");
    said(out, line, shown);
    out.push_str(" (");
    out.push_short(line.address);
    out.push_str(" ");
    out.push_day(line.time);
    for note in notes(line) {
        out.push_str(", ");
        out.push_str(&note);
    }
    out.push_str(")\n");
}

/// Writes a turn of the list, with its line break; with a day if it is another than before.
pub(super) fn turn(out: &mut impl Sink, line: &Line, day: Option<&str>, shown: Shown) {
    out.push_str("- ");
    if let Some(day) = day {
        out.push_str(day);
        out.push_str(" ");
    }
    said(out, line, shown);
    for note in notes(line) {
        out.push_str(" (");
        out.push_str(&note);
        out.push_str(")");
    }
    out.push_str("\n");
}

/// Returns the sentence about what was left out, after an empty line.
pub(super) fn left_out(left_out: &LeftOut) -> String {
    format!("\n{left_out}\n")
}

/// Returns the sentence about how often it was told, before an empty line.
fn told(times: &[Time]) -> String {
    match times {
        [first, .., last] => {
            let (count, first, last) = (times.len(), day(*first), day(*last));
            format!("Told {count} times, from {first} to {last}.\n\n")
        }
        _ => String::new(),
    }
}

/// Returns a line for each grain, with its time and its address.
pub(super) fn plain(recollection: &Recollection, shown: Shown) -> String {
    let lines = recollection
        .passages
        .iter()
        .flat_map(|passage| &passage.lines);
    let written = lines.map(|line| {
        let time = line.time.to_string();
        let minute = time
            .get(..16)
            .filter(|_| time.ends_with('Z'))
            .unwrap_or(&time);
        let minute = minute.replace('T', " ");
        let notes = notes(line).map(|note| format!(", {note}"));
        let notes = notes.collect::<String>();
        let address = short(line.address);
        let mut text = format!("[{minute}] ");
        said(&mut text, line, shown);
        text.push_str(&format!(" ({address}{notes})\n"));
        text
    });
    written.collect()
}

/// Returns an element for each grain in one envelope, a group for each passage, without addresses and
/// full times (SML 1.0, rule 3).
pub(super) fn sml(recollection: &Recollection, shown: Shown) -> String {
    let mut text = "<context>\n".to_owned();
    for passage in &recollection.passages {
        text.push('\n');
        for line in &passage.lines {
            text.push_str(&element(line, shown));
        }
    }
    text.push_str("\n</context>\n");
    text
}

fn element(line: &Line, shown: Shown) -> String {
    // SML names the types of OMS; what is opaque has no element of its own.
    let tag = line.of.name().unwrap_or("event");
    let mut attributes = String::new();
    let mut add = |name: &str, value: &str| {
        let value = without_tags(&one_line(value, shown)).replace('"', "&quot;");
        attributes.push_str(&format!(" {name}=\"{value}\""));
    };
    if let Some(speaker) = &line.speaker {
        let name = match tag {
            "action" => "tool",
            "observation" => "observer",
            _ => "role",
        };
        add(name, speaker);
    }
    if tag == "event" {
        add("time", &date(line));
    }
    if !line.tags.is_empty() {
        add("tags", &line.tags.join(","));
    }
    if let Some(standing) = line.standing.name() {
        add("verification", standing);
    }
    let said = without_tags(&one_line(&line.sentence, shown));
    format!("  <{tag}{attributes}>{said}</{tag}>\n")
}

/// Escapes a text, so that it opens and closes no element.
fn without_tags(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;")
}

/// Writes who and what, and the tags.
fn said(out: &mut impl Sink, line: &Line, shown: Shown) {
    if let Some(speaker) = line
        .speaker
        .as_deref()
        .filter(|it| !names(&line.sentence, it))
    {
        out.push_str(&one_line(speaker, shown));
        out.push_str(": ");
    }
    out.push_str(&one_line(&line.sentence, shown));
    for tag in &line.tags {
        out.push_str(" #");
        out.push_str(&one_line(tag, shown));
    }
}

/// Returns whether a sentence begins with its speaker, as a transcript does.
fn names(sentence: &str, speaker: &str) -> bool {
    let rest = sentence.strip_prefix(speaker);
    rest.is_some_and(|rest| rest.starts_with(": "))
}

/// Returns the reasons not to rely on a line.
fn notes(line: &Line) -> impl Iterator<Item = Cow<'static, str>> {
    let standing = line.standing.name().map(Cow::Borrowed);
    let contradicts = line.contradicts.iter();
    let contradicts = contradicts.map(|address| format!("contradicts {}", short(*address)).into());
    standing.into_iter().chain(contradicts)
}

fn date(line: &Line) -> String {
    day(line.time)
}

/// Returns the day of a time.
fn day(time: Time) -> String {
    let time = time.to_string();
    match time.split_once('T') {
        Some((date, _)) => date.to_owned(),
        None => time,
    }
}

/// Returns the first digits of an address: as many as name one grain in a store of millions, and
/// as the command and the tools take.
fn short(address: ContentAddress) -> String {
    let [a, b, c, d, ..] = *address.as_bytes();
    format!("{:08x}", u32::from_be_bytes([a, b, c, d]))
}

/// Returns a text without line breaks, so that stored text cannot imitate a line of its own.
fn one_line(text: &str, shown: Shown) -> Cow<'_, str> {
    // Most text is printable ASCII: it is one line, and nothing of it is shown as an escape.
    if is_printable(text) {
        return text.trim_matches(' ').into();
    }
    let words: Vec<&str> = text
        .split(|c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}'))
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect();
    let line = words.join(" ");
    if let Cow::Owned(escaped) = shown(&line) {
        return escaped.into();
    }
    line.into()
}

/// The digits of an address that name a grain.
#[cfg(any(feature = "text", test))]
const SHORT_LEN: usize = 8;

/// The length of a day in the years 1970 to 9999.
#[cfg(any(feature = "text", test))]
const DAY_LEN: usize = "2026-01-15".len();

/// The first moment of the year 10000.
#[cfg(any(feature = "text", test))]
const DAYS_OF_TEN_DIGITS_END_MS: i64 = 253_402_300_800_000;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::grain::Type;
    use crate::render::{Standing, escaped, tokens};

    proptest! {
        #[test]
        fn a_line_that_is_counted_has_the_tokens_of_one_that_is_written(
            sentence in "[ -~é緑\u{e0041}\n]{0,40}",
            speaker in prop::option::of("[a-zé]{1,4}"),
            tags in prop::collection::vec("[a-zü]{1,4}", 0..3),
            ms in prop_oneof![
                any::<i64>(),
                0..DAYS_OF_TEN_DIGITS_END_MS,
                -9..9_i64,
                DAYS_OF_TEN_DIGITS_END_MS - 9..DAYS_OF_TEN_DIGITS_END_MS + 9,
            ],
            standing in prop::sample::select(vec![Standing::Current, Standing::Ended]),
            is_turn in any::<bool>(),
        ) {
            let address = ContentAddress::of(sentence.as_bytes());
            let line = Line {
                address,
                of: Type::Event,
                time: Time::from_ms(ms),
                speaker,
                text: String::new(),
                sentence,
                is_cut: false,
                tags,
                standing,
                contradicts: vec![address],
                score: None,
            };
            let (mut written, mut counted) = (String::new(), TokenCount::default());
            if is_turn {
                turn(&mut written, &line, None, escaped);
                turn(&mut counted, &line, None, escaped);
            } else {
                fact(&mut written, &line, escaped);
                fact(&mut counted, &line, escaped);
            }
            prop_assert_eq!(counted.tokens(), tokens(&written));
        }
    }
}
