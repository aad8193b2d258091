use std::ops::Range;

use grainstore::Grain;
use grainstore::text::Snippet;

use crate::address::short;
use crate::output::{is_styled, width};
use crate::printable::{cut, printable};

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
        self.rows.push(Row {
            before: before.into(),
            of: grain.type_().to_string(),
            // Escaped before it is cut: an escape is longer than what it stands for.
            says: printable(&readable(&grain.summary())),
            marks: Vec::new(),
            after: format!("{}  {after}", short(&grain.address())),
        });
    }

    /// Adds a grain by the part of it that says what was looked for.
    pub(crate) fn add_found(
        &mut self,
        before: impl Into<String>,
        grain: &Grain,
        snippet: &Snippet,
        after: &str,
    ) {
        self.add(before, grain, after);
        if let Some(row) = self.rows.last_mut() {
            row.says.clear();
            let mut at = 0;
            let part = |range: Range<usize>| printable(snippet.text.get(range).unwrap_or_default());
            for mark in &snippet.marks {
                row.says.push_str(&part(at..mark.start));
                let start = row.says.len();
                row.says.push_str(&part(mark.clone()));
                row.marks.push(start..row.says.len());
                at = mark.end;
            }
            row.says.push_str(&part(at..snippet.text.len()));
        }
    }

    /// Returns the lines, each as long as the terminal is wide at most.
    pub(crate) fn lines(&self) -> impl Iterator<Item = String> {
        let widest = |part: fn(&Row) -> &String| {
            let widths = self.rows.iter().map(|row| part(row).chars().count());
            widths.max().unwrap_or_default()
        };
        let of_width = widest(|row| &row.of);
        let others = self.indent + widest(|row| &row.before) + of_width + widest(|row| &row.after);
        let room = width().saturating_sub(others + GAPS).max(SAYS_MIN);
        let room = room.min(widest(|row| &row.says));
        self.rows.iter().map(move |row| {
            let Row {
                before, of, after, ..
            } = row;
            let says = cut(&row.says, room);
            let blanks = " ".repeat(room.saturating_sub(says.chars().count()));
            let says = emphasised(&says, &row.marks);
            let line = format!("{before}{of:of_width$}  {says}{blanks}  {after}");
            line.trim_end().to_owned()
        })
    }
}

/// Shows what was looked for in bold, where the terminal takes it and the reader wants it.
fn emphasised(says: &str, marks: &[Range<usize>]) -> String {
    if !is_styled() {
        return says.to_owned();
    }
    let mut text = String::new();
    let mut at = 0;
    for mark in marks {
        // What was cut off is not there.
        let (Some(before), Some(marked)) = (says.get(at..mark.start), says.get(mark.clone()))
        else {
            break;
        };
        text.push_str(&format!("{before}\u{1b}[1m{marked}\u{1b}[0m"));
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

/// Two blanks on both sides of what a grain says.
const GAPS: usize = 4;
