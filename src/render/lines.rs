//! Recalled passages as plain lines, as Markdown and as SML: a line for each grain.

use std::borrow::Cow;

use crate::codec::ContentAddress;
use crate::grain::Time;

use super::{LeftOut, Line, Passage, Recollection};

/// How the text of a grain is shown: as escapes, or as it is.
pub(super) type Shown = fn(&str) -> Cow<'_, str>;

/// Returns the facts and the conversations, each as a list under a heading, and what was left out.
pub(super) fn markdown(recollection: &Recollection, shown: Shown) -> String {
    let mut text = told(&recollection.told);
    for (number, passage) in recollection.passages.iter().enumerate() {
        if number > 0 {
            text.push('\n');
        }
        text.push_str(&heading(passage));
        let mut day = passage.lines.first().map(date);
        for line in &passage.lines {
            if passage.is_conversation {
                let other = Some(date(line)).filter(|date| Some(date) != day.as_ref());
                text.push_str(&turn(line, other.as_deref(), shown));
                day = other.or(day);
            } else {
                text.push_str(&fact(line, shown));
            }
        }
    }
    if let Some(left) = recollection.left_out {
        text.push_str(&left_out(&left));
    }
    text
}

/// Returns the heading of a passage, with its line breaks. A conversation has the day and the
/// address of its first turn.
pub(super) fn heading(passage: &Passage) -> String {
    match passage.lines.first() {
        Some(first) if passage.is_conversation => {
            format!(
                "## Conversation {} ({})\n",
                date(first),
                short(first.address)
            )
        }
        _ if passage.is_conversation => format!("## Conversation {:18}()\n", ""),
        _ => "## Facts\n".to_owned(),
    }
}

/// Returns a fact of the list, with its line break: what it says, its tags, its address and date,
/// and whether it may be relied on.
pub(super) fn fact(line: &Line, shown: Shown) -> String {
    let mut text = said(line, "- ", shown);
    text.push_str(" (");
    text.push_str(&short(line.address));
    text.push(' ');
    text.push_str(&date(line));
    for note in notes(line) {
        text.push_str(", ");
        text.push_str(&note);
    }
    text.push_str(")\n");
    text
}

/// Returns a turn of the list, with its line break; with a day if it is another than before.
pub(super) fn turn(line: &Line, day: Option<&str>, shown: Shown) -> String {
    let mut text = match day {
        Some(day) => said(line, &format!("- {day} "), shown),
        None => said(line, "- ", shown),
    };
    for note in notes(line) {
        text.push_str(&format!(" ({note})"));
    }
    text.push('\n');
    text
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
        let said = said(line, &format!("[{minute}] "), shown);
        format!("{said} ({address}{notes})\n")
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

/// Returns who and what, and the tags, after a beginning; with room for what comes after it.
fn said(line: &Line, beginning: &str, shown: Shown) -> String {
    let mut text = String::with_capacity(line.sentence.len().saturating_add(SAID_AROUND));
    text.push_str(beginning);
    if let Some(speaker) = line
        .speaker
        .as_deref()
        .filter(|it| !names(&line.sentence, it))
    {
        text.push_str(&one_line(speaker, shown));
        text.push_str(": ");
    }
    text.push_str(&one_line(&line.sentence, shown));
    for tag in &line.tags {
        text.push_str(" #");
        text.push_str(&one_line(tag, shown));
    }
    text
}

/// Returns whether a sentence begins with its speaker, as a transcript does.
fn names(sentence: &str, speaker: &str) -> bool {
    let rest = sentence.strip_prefix(speaker);
    rest.is_some_and(|rest| rest.starts_with(": "))
}

/// Returns the reasons not to rely on a line.
fn notes(line: &Line) -> impl Iterator<Item = String> {
    let standing = line.standing.name().map(str::to_owned);
    let contradicts = line.contradicts.iter();
    let contradicts = contradicts.map(|address| format!("contradicts {}", short(*address)));
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
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
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

/// The bytes of a line beside its sentence, mostly.
const SAID_AROUND: usize = 96;
