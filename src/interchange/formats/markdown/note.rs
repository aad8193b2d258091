//! One file: its frontmatter, and its body as items with the bytes between them.
//!
//! The parts of a note are its text, cut: joined again they are the file to the byte.

use super::dialect::{Dialect, Subjects};

/// A note, cut into its parts.
pub(super) struct Note<'a> {
    /// Everything before the body: a byte-order mark, and the frontmatter with its marks.
    pub(super) head: &'a str,
    /// The YAML between the marks.
    pub(super) front: Option<&'a str>,
    pub(super) parts: Vec<Part<'a>>,
}

/// A part of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part<'a> {
    /// Headings, marks of lists, blank lines.
    Gap(&'a str),
    Item(Item<'a>),
}

/// A part that says something: a list item, the prose of a section, an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Item<'a> {
    /// The text as it stands in the file.
    pub(super) text: &'a str,
    /// The heading it stands below, with its marks; empty before the first.
    pub(super) section: &'a str,
    /// Its first line in the file, counted from 1.
    pub(super) line: u64,
}

impl<'a> Note<'a> {
    /// Cuts a file into its parts.
    pub(super) fn of(text: &'a str, dialect: &Dialect) -> Self {
        let (head, front) = split_front(text);
        let body = text.get(head.len()..).unwrap_or_default();
        let mut cut = Cut {
            body,
            done: 0,
            first_line: count_lines(head),
            parts: Vec::new(),
        };
        match dialect.subjects {
            Subjects::Entries(_) => cut.entries(),
            _ => cut.sections(),
        }
        cut.gap_to(body.len());
        Self {
            head,
            front,
            parts: cut.parts,
        }
    }

    /// Takes a file as one item, whatever is in it.
    pub(super) fn whole(text: &'a str) -> Self {
        let item = Item {
            text,
            section: "",
            line: 1,
        };
        Self {
            head: "",
            front: None,
            parts: vec![Part::Item(item)],
        }
    }

    /// Returns the first heading of the first level.
    pub(super) fn heading(&self) -> Option<&'a str> {
        let gaps = self.parts.iter().filter_map(|part| match part {
            Part::Gap(gap) => Some(*gap),
            Part::Item(_) => None,
        });
        let mut lines = gaps.flat_map(str::lines);
        let heading = lines
            .find_map(|line| line.strip_prefix("# "))
            .map(str::trim);
        heading.filter(|heading| !heading.is_empty())
    }
}

/// Splits a file behind its frontmatter.
fn split_front(text: &str) -> (&str, Option<&str>) {
    let mark = text.strip_prefix('\u{feff}').unwrap_or(text);
    let start = text.len().saturating_sub(mark.len());
    let nothing = || (text.get(..start).unwrap_or_default(), None);
    let mut lines = mark.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| line.trim_end() == "---") else {
        return nothing();
    };
    let mut end = start.saturating_add(first.len());
    let begins = end;
    for line in lines {
        let after = end.saturating_add(line.len());
        if matches!(line.trim_end(), "---" | "...") {
            return (text.get(..after).unwrap_or_default(), text.get(begins..end));
        }
        end = after;
    }
    nothing()
}

fn count_lines(text: &str) -> u64 {
    u64::try_from(text.matches('\n').count()).unwrap_or(u64::MAX)
}

/// A body while it is cut.
struct Cut<'a> {
    body: &'a str,
    done: usize,
    /// The number of lines up to `done`.
    first_line: u64,
    parts: Vec<Part<'a>>,
}

/// A line of the body, and where it begins.
#[derive(Clone, Copy)]
struct Line<'a> {
    at: usize,
    text: &'a str,
}

impl Line<'_> {
    fn is_blank(self) -> bool {
        self.text.trim().is_empty()
    }

    /// Returns the length of the mark of a list item at the left edge.
    fn bullet(self) -> Option<usize> {
        ["- ", "* ", "+ "]
            .iter()
            .any(|it| self.text.starts_with(it))
            .then_some(2)
    }

    fn is_inside(self) -> bool {
        self.text.starts_with("  ") || self.text.starts_with('\t')
    }

    fn is_heading(self) -> bool {
        let marks = self
            .text
            .len()
            .saturating_sub(self.text.trim_start_matches('#').len());
        let after = self.text.get(marks..).unwrap_or_default();
        (1..=6).contains(&marks) && (after.starts_with(' ') || after.trim().is_empty())
    }

    fn is_fence(self) -> bool {
        let text = self.text.trim_start();
        text.starts_with("```") || text.starts_with("~~~")
    }
}

impl<'a> Cut<'a> {
    fn gap_to(&mut self, to: usize) {
        let gap = self.body.get(self.done..to).unwrap_or_default();
        if !gap.is_empty() {
            self.first_line = self.first_line.saturating_add(count_lines(gap));
            self.parts.push(Part::Gap(gap));
            self.done = to;
        }
    }

    /// Takes the text from one place to another as an item, without the space around it.
    fn item(&mut self, from: usize, to: usize, section: &'a str) {
        let whole = self.body.get(from..to).unwrap_or_default();
        let text = whole.trim_end();
        let inner = text.trim_start_matches(['\n', '\r']);
        let from = from.saturating_add(text.len().saturating_sub(inner.len()));
        if inner.trim().is_empty() {
            return;
        }
        self.gap_to(from);
        self.parts.push(Part::Item(Item {
            text: inner,
            section,
            line: self.first_line.saturating_add(1),
        }));
        self.first_line = self.first_line.saturating_add(count_lines(inner));
        self.done = from.saturating_add(inner.len());
    }

    fn entries(&mut self) {
        let mut at = 0_usize;
        for entry in self.body.split("\n§\n") {
            let end = at.saturating_add(entry.len());
            let start = end.saturating_sub(entry.trim_start().len());
            self.item(start, end, "");
            at = end.saturating_add("\n§\n".len());
        }
    }

    fn sections(&mut self) {
        let mut at = 0_usize;
        let mut section = "";
        let mut lines = Vec::new();
        let mut is_code = false;
        for text in self.body.split_inclusive('\n') {
            let line = Line { at, text };
            at = at.saturating_add(text.len());
            is_code ^= line.is_fence();
            if !is_code && line.is_heading() {
                self.section(&lines, section);
                lines.clear();
                section = text.trim();
            } else {
                lines.push(line);
            }
        }
        self.section(&lines, section);
    }

    /// Takes the items of a list, or the prose of a section as one.
    fn section(&mut self, lines: &[Line<'a>], section: &'a str) {
        let end = |line: &Line<'_>| line.at.saturating_add(line.text.len());
        let Some(last) = lines.last().map(end) else {
            return;
        };
        let first = lines.iter().find(|line| !line.is_blank());
        let is_list = first.is_some_and(|line| line.bullet().is_some())
            && lines
                .iter()
                .all(|line| line.is_blank() || line.bullet().is_some() || line.is_inside());
        if !is_list {
            let from = lines.first().map_or(last, |line| line.at);
            return self.item(from, last, section);
        }
        let mut from = None;
        for line in lines {
            if let Some(mark) = line.bullet() {
                if let Some(from) = from {
                    self.item(from, line.at, section);
                }
                from = Some(line.at.saturating_add(mark));
            }
        }
        if let Some(from) = from {
            self.item(from, last, section);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interchange::formats::markdown::dialect::DIALECTS;

    fn items<'a>(text: &'a str, dialect: &str) -> Vec<(&'a str, &'a str, u64)> {
        let dialect = Dialect::named(Some(dialect)).unwrap();
        let note = Note::of(text, dialect);
        let items = note.parts.iter().filter_map(|part| match part {
            Part::Item(item) => Some((item.text, item.section, item.line)),
            Part::Gap(_) => None,
        });
        items.collect()
    }

    #[test]
    fn a_note_is_its_list_items_and_the_prose_of_its_sections() {
        let text = "---\ntitle: Ana\n---\n# Ana\n\n- one\n  more\n* two\n\n## Why\n\nProse.\n\n- with a list\n";
        let expected = [
            ("one\n  more", "# Ana", 6),
            ("two", "# Ana", 8),
            ("Prose.\n\n- with a list", "## Why", 12),
        ];
        assert_eq!(items(text, "okf"), expected);
        let entries = [("one", "", 1), ("two\nlines", "", 3)];
        assert_eq!(items("one\n§\ntwo\nlines\n", "hermes"), entries);
        assert_eq!(items("```\n# no heading\n```\n", "okf").len(), 1);
    }

    #[test]
    fn the_parts_of_a_note_are_its_bytes() {
        let texts = [
            "",
            "\u{feff}",
            "---\n",
            "---\na: 1\n---",
            "\u{feff}---\r\na: 1\r\n---\r\n- x\r\n\r\n# y\r\nz",
            "- \n-  \n- a\n\t b\n",
            "#\n##x\n# \n",
            "§\n§\n\n§\n",
            "~~~\n- a",
        ];
        for (text, dialect) in texts
            .iter()
            .flat_map(|it| DIALECTS.iter().map(move |d| (it, d)))
        {
            let note = Note::of(text, dialect);
            let parts = note.parts.iter().map(|part| match part {
                Part::Gap(gap) => *gap,
                Part::Item(item) => item.text,
            });
            let joined: String = std::iter::once(note.head).chain(parts).collect();
            assert_eq!(joined, **text, "{}", dialect.name);
        }
    }
}
