//! Grains as a table for people: one line each, in aligned columns as wide as the terminal.
//!
//! JSON output does not pass through here.

use std::ops::Range;

use grainstore::Grain;
use grainstore::text::Snippet;

use super::printable::{cut, printable};
use super::style::{Style, Styling};
use super::terminal::width;
use crate::args::address::short;

/// Grains in lines with aligned columns: a prefix, the type, the summary, the address, a note.
#[derive(Debug, Default)]
pub(crate) struct Table {
    indent: usize,
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    prefix: String,
    type_: String,
    summary: String,
    /// Byte ranges of the summary that matched.
    marks: Vec<Range<usize>>,
    address: String,
    note: String,
}

impl Table {
    /// Returns an empty table for lines that are indented by this many characters.
    pub(crate) fn indented(indent: usize) -> Self {
        Self {
            indent,
            ..Self::default()
        }
    }

    /// Adds a grain; `prefix` has the same width in every row, or is empty.
    pub(crate) fn add(&mut self, prefix: impl Into<String>, grain: &Grain, note: &str) {
        self.add_marked(prefix, grain, &shorten_words(&grain.summary()), &[], note);
    }

    /// Adds a grain that matched in some of its fields.
    pub(crate) fn add_matched(
        &mut self,
        prefix: impl Into<String>,
        grain: &Grain,
        fields: &[&str],
        note: &str,
    ) {
        let summary = shorten_words(&grain.summary());
        let mut marks: Vec<Range<usize>> = Vec::new();
        for value in fields.iter().filter_map(|field| grain.text(field)) {
            let value = shorten_words(value);
            let from = marks.last().map_or(0, |mark| mark.end);
            let rest = summary.get(from..).unwrap_or_default();
            if let Some(at) = rest.find(&value).filter(|_| !value.is_empty()) {
                marks.push(from + at..from + at + value.len());
            }
        }
        self.add_marked(prefix, grain, &summary, &marks, note);
    }

    /// Adds a grain with the part of its text that matched.
    pub(crate) fn add_found(
        &mut self,
        prefix: impl Into<String>,
        grain: &Grain,
        snippet: &Snippet,
        note: &str,
    ) {
        self.add_marked(prefix, grain, &snippet.text, &snippet.marks, note);
    }

    /// Adds a row; `marks` are in the order of the text.
    fn add_marked(
        &mut self,
        prefix: impl Into<String>,
        grain: &Grain,
        text: &str,
        marks: &[Range<usize>],
        note: &str,
    ) {
        let mut row = Row {
            prefix: prefix.into(),
            type_: grain.type_().to_string(),
            summary: String::new(),
            marks: Vec::new(),
            address: short(&grain.address()),
            note: note.to_owned(),
        };
        let mut at = 0;
        // Escaping comes before shortening: an escape is longer than the character it replaces.
        let part = |range: Range<usize>| printable(text.get(range).unwrap_or_default());
        for mark in marks {
            row.summary.push_str(&part(at..mark.start));
            let start = row.summary.len();
            row.summary.push_str(&part(mark.clone()));
            row.marks.push(start..row.summary.len());
            at = mark.end;
        }
        row.summary.push_str(&part(at..text.len()));
        self.rows.push(row);
    }

    /// Returns the lines, none wider than the terminal.
    pub(crate) fn lines(&self) -> impl Iterator<Item = String> {
        self.render(width(), Styling::of_stdout())
    }

    fn render(&self, width: usize, styling: Styling) -> impl Iterator<Item = String> {
        let widest = |part: fn(&Row) -> &String| {
            let widths = self.rows.iter().map(|row| part(row).chars().count());
            widths.max().unwrap_or_default()
        };
        let type_width = widest(|row| &row.type_);
        let trailing = widest(|row| &row.address) + widest(|row| &row.note);
        let others = self.indent + widest(|row| &row.prefix) + type_width + trailing;
        let room = width.saturating_sub(others + GAPS).max(SUMMARY_MIN);
        let room = room.min(widest(|row| &row.summary));
        self.rows.iter().map(move |row| {
            let summary = cut(&row.summary, room);
            let padding = " ".repeat(room.saturating_sub(summary.chars().count()));
            let type_ = styling.show(Style::Kind, &row.type_);
            let type_padding = " ".repeat(type_width.saturating_sub(row.type_.chars().count()));
            let summary = emphasise(&summary, &row.marks, styling);
            let address = styling.show(Style::Faint, &row.address);
            let note = styling.show(Style::Notice, &row.note);
            let prefix = &row.prefix;
            let line =
                format!("{prefix}{type_}{type_padding}  {summary}{padding}  {address}  {note}");
            line.trim_end().to_owned()
        })
    }
}

/// Emphasises the parts that matched.
fn emphasise(summary: &str, marks: &[Range<usize>], styling: Styling) -> String {
    let mut text = String::new();
    let mut at = 0;
    for mark in marks {
        // A mark in the part that was cut off has no text left.
        let (Some(plain), Some(marked)) = (summary.get(at..mark.start), summary.get(mark.clone()))
        else {
            break;
        };
        text.push_str(plain);
        text.push_str(&styling.show(Style::Strong, marked));
        at = mark.end;
    }
    text.push_str(summary.get(at..).unwrap_or_default());
    text
}

/// Shortens identifiers and addresses, whose first characters suffice to tell them apart.
fn shorten_words(summary: &str) -> String {
    let words = summary.split(' ').map(|word| cut(word, WORD_WIDTH));
    words.collect::<Vec<_>>().join(" ")
}

/// Longer than a word of natural language.
const WORD_WIDTH: usize = 24;

/// The width of a summary on the narrowest terminal.
const SUMMARY_MIN: usize = 20;

/// Two spaces on both sides of the summary, and after the address.
const GAPS: usize = 6;

#[cfg(test)]
mod tests {
    use grainstore::codec::Profile;
    use grainstore::{Draft, Time};

    use super::*;

    fn render(fields: &[&str], styling: Styling) -> String {
        let draft = Draft::belief("mira", "likes", "\u{1b}[31mtea").confidence(0.9);
        let draft = draft.created_at(Time::from_ms(0));
        let grain = draft.finish(Profile::Extended).unwrap();
        let mut table = Table::indented(0);
        table.add_matched("", &grain, fields, "superseded");
        let line = table.render(80, styling).next().unwrap();
        line.replace(&short(&grain.address()), "ADDRESS")
    }

    #[test]
    fn a_plain_line_has_no_escape_and_a_coloured_one_only_ours() {
        let plain = render(&["subject", "object"], Styling::Plain);
        assert_eq!(
            plain,
            "belief  mira likes \\u{001B}[31mtea  ADDRESS  superseded"
        );
        let coloured = render(&["subject", "object"], Styling::Coloured);
        assert_eq!(
            coloured,
            "\u{1b}[36mbelief\u{1b}[0m  \u{1b}[1mmira\u{1b}[0m likes \u{1b}[1m\\u{001B}[31mtea\u{1b}[0m  \
             \u{1b}[2mADDRESS\u{1b}[0m  \u{1b}[33msuperseded\u{1b}[0m"
        );
    }
}
