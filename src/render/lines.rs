//! Recalled passages as plain lines and as Markdown.

use std::borrow::Cow;

use super::{Line, Passage, Recollection};

/// How the text of a grain is shown: as escapes, or as it is.
pub(super) type Shown = fn(&str) -> Cow<'_, str>;

/// Returns a list under a heading for each conversation.
pub(super) fn markdown(recollection: &Recollection, shown: Shown) -> String {
    let mut text = String::new();
    for passage in &recollection.passages {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&heading(passage, shown));
        for line in &passage.lines {
            text.push_str(&item(line, shown));
        }
    }
    text
}

/// Returns the heading of a passage, with its line break; nothing of a line by itself.
pub(super) fn heading(passage: &Passage, shown: Shown) -> String {
    match &passage.session {
        Some(session) => format!("## {}\n\n", one_line(session, shown)),
        None => String::new(),
    }
}

/// Returns a line of the list, with its line break.
pub(super) fn item(line: &Line, shown: Shown) -> String {
    format!("- {}\n", said(line, shown))
}

/// Returns a line for each grain.
pub(super) fn plain(recollection: &Recollection, shown: Shown) -> String {
    let lines = recollection
        .passages
        .iter()
        .flat_map(|passage| &passage.lines);
    lines.map(|line| said(line, shown) + "\n").collect()
}

/// Returns when, who and what, and the beginning of the address: as much of it as the command takes.
fn said(line: &Line, shown: Shown) -> String {
    let time = line.time.to_string();
    let minute = time
        .get(..16)
        .filter(|_| time.ends_with('Z'))
        .unwrap_or(&time);
    let minute = minute.replace('T', " ");
    let speaker = line.speaker.as_deref();
    let speaker = speaker.map(|speaker| one_line(speaker, shown));
    let speaker = speaker.map_or(String::new(), |speaker| format!(" {speaker}:"));
    let address = line.address.to_string();
    let address = address.get(..ADDRESS_LEN).unwrap_or(&address);
    format!(
        "[{minute}]{speaker} {} ({address})",
        one_line(&line.text, shown)
    )
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

const ADDRESS_LEN: usize = 12;
