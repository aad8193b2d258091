use std::ops::Range;

use grainstore::Grain;
use grainstore::text::Snippet;

use super::printable::{cut, printable};
use super::style::{Style, Styling};
use super::terminal::width;
use crate::args::address::short;

/// Grains in lines with aligned columns: something before, the type, what it says, the address.
#[derive(Debug, Default)]
pub(crate) struct Table {
    indent: usize,
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    before: String,
    of: String,
    says: String,
    /// What in it was looked for, in bytes.
    marks: Vec<Range<usize>>,
    address: String,
    after: String,
}

impl Table {
    /// Starts a table that will be shown this many characters in from the left.
    pub(crate) fn indented(indent: usize) -> Self {
        Self {
            indent,
            ..Self::default()
        }
    }

    /// Adds a grain; `before` has the same width in every row, or is empty.
    pub(crate) fn add(&mut self, before: impl Into<String>, grain: &Grain, after: &str) {
        self.add_marked(before, grain, &readable(&grain.summary()), &[], after);
    }

    /// Adds a grain that was found by the values of some fields.
    pub(crate) fn add_matched(
        &mut self,
        before: impl Into<String>,
        grain: &Grain,
        fields: &[&str],
        after: &str,
    ) {
        let says = readable(&grain.summary());
        let mut marks: Vec<Range<usize>> = Vec::new();
        for value in fields.iter().filter_map(|field| grain.text(field)) {
            let value = readable(value);
            let from = marks.last().map_or(0, |mark| mark.end);
            let rest = says.get(from..).unwrap_or_default();
            if let Some(at) = rest.find(&value).filter(|_| !value.is_empty()) {
                marks.push(from + at..from + at + value.len());
            }
        }
        self.add_marked(before, grain, &says, &marks, after);
    }

    /// Adds a grain by the part of it that says what was looked for.
    pub(crate) fn add_found(
        &mut self,
        before: impl Into<String>,
        grain: &Grain,
        snippet: &Snippet,
        after: &str,
    ) {
        self.add_marked(before, grain, &snippet.text, &snippet.marks, after);
    }

    /// Adds a row; `marks` are in the order of the text.
    fn add_marked(
        &mut self,
        before: impl Into<String>,
        grain: &Grain,
        text: &str,
        marks: &[Range<usize>],
        after: &str,
    ) {
        let mut row = Row {
            before: before.into(),
            of: grain.type_().to_string(),
            says: String::new(),
            marks: Vec::new(),
            address: short(&grain.address()),
            after: after.to_owned(),
        };
        let mut at = 0;
        // Escaped before it is cut: an escape is longer than what it stands for.
        let part = |range: Range<usize>| printable(text.get(range).unwrap_or_default());
        for mark in marks {
            row.says.push_str(&part(at..mark.start));
            let start = row.says.len();
            row.says.push_str(&part(mark.clone()));
            row.marks.push(start..row.says.len());
            at = mark.end;
        }
        row.says.push_str(&part(at..text.len()));
        self.rows.push(row);
    }

    /// Returns the lines, each as long as the terminal is wide at most.
    pub(crate) fn lines(&self) -> impl Iterator<Item = String> {
        self.drawn(width(), Styling::of_stdout())
    }

    fn drawn(&self, width: usize, styling: Styling) -> impl Iterator<Item = String> {
        let widest = |part: fn(&Row) -> &String| {
            let widths = self.rows.iter().map(|row| part(row).chars().count());
            widths.max().unwrap_or_default()
        };
        let of_width = widest(|row| &row.of);
        let behind = widest(|row| &row.address) + widest(|row| &row.after);
        let others = self.indent + widest(|row| &row.before) + of_width + behind;
        let room = width.saturating_sub(others + GAPS).max(SAYS_MIN);
        let room = room.min(widest(|row| &row.says));
        self.rows.iter().map(move |row| {
            let says = cut(&row.says, room);
            let blanks = " ".repeat(room.saturating_sub(says.chars().count()));
            let of = styling.show(Style::Kind, &row.of);
            let of_blanks = " ".repeat(of_width.saturating_sub(row.of.chars().count()));
            let says = emphasised(&says, &row.marks, styling);
            let address = styling.show(Style::Faint, &row.address);
            let after = styling.show(Style::Notice, &row.after);
            let before = &row.before;
            let line = format!("{before}{of}{of_blanks}  {says}{blanks}  {address}  {after}");
            line.trim_end().to_owned()
        })
    }
}

/// Shows what was looked for.
fn emphasised(says: &str, marks: &[Range<usize>], styling: Styling) -> String {
    let mut text = String::new();
    let mut at = 0;
    for mark in marks {
        // What was cut off is not there.
        let (Some(before), Some(marked)) = (says.get(at..mark.start), says.get(mark.clone()))
        else {
            break;
        };
        text.push_str(before);
        text.push_str(&styling.show(Style::Strong, marked));
        at = mark.end;
    }
    text.push_str(says.get(at..).unwrap_or_default());
    text
}

/// Shortens identifiers and addresses, of which nobody reads more than the beginning.
fn readable(summary: &str) -> String {
    let words = summary.split(' ').map(|word| cut(word, WORD_WIDTH));
    words.collect::<Vec<_>>().join(" ")
}

/// Longer than any word that is one.
const WORD_WIDTH: usize = 24;

/// What is left of a summary on the narrowest terminal.
const SAYS_MIN: usize = 20;

/// Two blanks on both sides of what a grain says, and behind its address.
const GAPS: usize = 6;

#[cfg(test)]
mod tests {
    use grainstore::codec::Profile;
    use grainstore::{Draft, Time};

    use super::*;

    fn drawn(fields: &[&str], styling: Styling) -> String {
        let draft = Draft::belief("mira", "likes", "\u{1b}[31mtea").confidence(0.9);
        let draft = draft.created_at(Time::from_ms(0));
        let grain = draft.finish(Profile::Extended).unwrap();
        let mut table = Table::indented(0);
        table.add_matched("", &grain, fields, "superseded");
        let line = table.drawn(80, styling).next().unwrap();
        line.replace(&short(&grain.address()), "ADDRESS")
    }

    #[test]
    fn a_plain_line_has_no_escape_and_a_coloured_one_only_ours() {
        let plain = drawn(&["subject", "object"], Styling::Plain);
        assert_eq!(
            plain,
            "belief  mira likes \\u001b[31mtea  ADDRESS  superseded"
        );
        let coloured = drawn(&["subject", "object"], Styling::Coloured);
        assert_eq!(
            coloured,
            "\u{1b}[36mbelief\u{1b}[0m  \u{1b}[1mmira\u{1b}[0m likes \u{1b}[1m\\u001b[31mtea\u{1b}[0m  \
             \u{1b}[2mADDRESS\u{1b}[0m  \u{1b}[33msuperseded\u{1b}[0m"
        );
    }
}
