//! Recalled passages as plain lines and as Markdown.

use std::borrow::Cow;

use crate::codec::ContentAddress;

use super::{LeftOut, Line, Passage, Recollection};

/// How the text of a grain is shown: as escapes, or as it is.
pub(super) type Shown = fn(&str) -> Cow<'_, str>;

/// Returns the facts and the conversations, each as a list under a heading, and what was left out.
pub(super) fn markdown(recollection: &Recollection, shown: Shown) -> String {
    let mut text = String::new();
    for passage in &recollection.passages {
        if !text.is_empty() {
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
                "## Conversation {} ({})\n\n",
                date(first),
                short(first.address)
            )
        }
        _ if passage.is_conversation => format!("## Conversation {:18}()\n\n", ""),
        _ => "## Facts\n\n".to_owned(),
    }
}

/// Returns a fact of the list, with its line break: what it says, its tags, its address and date,
/// and whether it may be relied on.
pub(super) fn fact(line: &Line, shown: Shown) -> String {
    let notes = notes(line).map(|note| format!(", {note}"));
    format!(
        "- {} ({} {}{})\n",
        said(line, shown),
        short(line.address),
        date(line),
        notes.collect::<String>()
    )
}

/// Returns a turn of the list, with its line break; with a day if it is another than before.
pub(super) fn turn(line: &Line, day: Option<&str>, shown: Shown) -> String {
    let day = day.map_or(String::new(), |day| format!("{day} "));
    let notes = notes(line).map(|note| format!(" ({note})"));
    let notes = notes.collect::<String>();
    format!("- {day}{}{notes}\n", said(line, shown))
}

/// Returns the sentence about what was left out, after an empty line.
pub(super) fn left_out(left_out: &LeftOut) -> String {
    format!("\n{left_out}\n")
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
        format!("[{minute}] {} ({address}{notes})\n", said(line, shown))
    });
    written.collect()
}

/// Returns who and what, and the tags.
fn said(line: &Line, shown: Shown) -> String {
    let speaker = line.speaker.as_deref();
    let speaker = speaker.map(|speaker| format!("{}: ", one_line(speaker, shown)));
    let tags = line
        .tags
        .iter()
        .map(|tag| format!(" #{}", one_line(tag, shown)));
    let tags = tags.collect::<String>();
    format!(
        "{}{}{tags}",
        speaker.unwrap_or_default(),
        one_line(&line.sentence, shown)
    )
}

/// Returns the reasons not to rely on a line.
fn notes(line: &Line) -> impl Iterator<Item = String> {
    let standing = line.standing.name().map(str::to_owned);
    let contradicts = line.contradicts.iter();
    let contradicts = contradicts.map(|address| format!("contradicts {}", short(*address)));
    standing.into_iter().chain(contradicts)
}

fn date(line: &Line) -> String {
    let time = line.time.to_string();
    match time.split_once('T') {
        Some((date, _)) => date.to_owned(),
        None => time,
    }
}

/// Returns the first digits of an address: as many as name one grain in a store of millions, and
/// as the command and the tools take.
fn short(address: ContentAddress) -> String {
    let mut digits = address.to_string();
    digits.truncate(ADDRESS_LEN);
    digits
}

/// Returns a text without line breaks, so that stored text cannot imitate a line of its own.
fn one_line(text: &str, shown: Shown) -> String {
    let words: Vec<&str> = text
        .split(|c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}'))
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect();
    let line = words.join(" ");
    if let Cow::Owned(escaped) = shown(&line) {
        return escaped;
    }
    line
}

const ADDRESS_LEN: usize = 8;
