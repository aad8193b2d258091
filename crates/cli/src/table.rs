use grainstore::Grain;

use crate::address::short;
use crate::output::width;
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
            after: format!("{}  {after}", short(&grain.address())),
        });
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
            let line = format!("{before}{of:of_width$}  {says:room$}  {after}");
            line.trim_end().to_owned()
        })
    }
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
