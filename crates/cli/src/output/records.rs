//! Results as records: JSON, JSON lines, CSV, Markdown or plain columns, with the fields that were
//! asked for.
//!
//! A record is a JSON object with one member a field. The tables of commands are in `table`.

use std::io::{self, Write};

use clap::ValueEnum;
use serde_json::{Map, Value};

use super::printable::printable;
use super::stream::Output;
use super::terminal::is_screen;

/// The format of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Table,
    Json,
    Jsonl,
    // With a heading (RFC 4180).
    Csv,
    Markdown,
}

/// Writes records in one format, as they come.
#[derive(Debug)]
pub(crate) struct Rows<'a> {
    out: &'a mut Output,
    format: Format,
    columns: Vec<String>,
    /// Whether JSON lines have whole results, as no fields were asked for.
    is_whole: bool,
    /// Columns that no record has had so far.
    unseen: Vec<String>,
    count: usize,
    /// The rows of a table whose widths are not known yet.
    page: Vec<Vec<String>>,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(
        out: &'a mut Output,
        format: Format,
        columns: Vec<String>,
        is_whole: bool,
    ) -> Self {
        Self {
            out,
            format,
            unseen: match is_whole {
                true => Vec::new(),
                false => columns.clone(),
            },
            columns,
            is_whole,
            count: 0,
            page: Vec::new(),
        }
    }

    /// Writes a record; `whole` is the result as the JSON document of the command has it.
    pub(crate) fn add(
        &mut self,
        record: &Map<String, Value>,
        whole: impl FnOnce() -> Value,
    ) -> io::Result<()> {
        self.unseen.retain(|name| !record.contains_key(name));
        let values = self.columns.iter();
        let values = values.map(|name| record.get(name).unwrap_or(&Value::Null));
        match self.format {
            Format::Json | Format::Jsonl => {
                let named = self.columns.iter().cloned().zip(values.cloned());
                let object = match self.is_whole {
                    true => whole(),
                    false => Value::Object(named.collect()),
                };
                let text = object.to_string();
                self.object(&text)?;
            }
            Format::Csv => {
                let cells: Vec<_> = values.map(shown).collect();
                self.heading()?;
                self.csv(&cells)?;
            }
            Format::Markdown => {
                let cells: Vec<_> = values.map(markdown).collect();
                self.heading()?;
                self.out
                    .styled_line(&format!("| {} |", cells.join(" | ")))?;
            }
            Format::Table => {
                let cells = values.map(|value| printable(&text(value)));
                self.page.push(cells.collect());
                if self.page.len() == PAGE_LEN {
                    self.table()?;
                }
            }
        }
        self.count += 1;
        Ok(())
    }

    /// Writes the rows so far, for a reader of a list that goes on later.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        if self.format == Format::Table {
            self.table()?;
        }
        self.out.flush()
    }

    /// Writes the end, names the fields that no record has, and returns the output.
    pub(crate) fn end(mut self) -> io::Result<&'a mut Output> {
        match self.format {
            Format::Json if self.count == 0 => self.out.styled_line("[]")?,
            Format::Json => self.out.styled_line("]")?,
            Format::Table => self.table()?,
            Format::Csv | Format::Markdown => self.heading()?,
            Format::Jsonl => {}
        }
        self.out.flush()?;
        if self.count > 0 && !self.unseen.is_empty() {
            let names = self.unseen.join(", ");
            self.out.note(format!("note: no result has {names}"));
        }
        Ok(self.out)
    }

    fn object(&mut self, text: &str) -> io::Result<()> {
        if self.format == Format::Json {
            let before = if self.count == 0 { "[" } else { "," };
            write!(self.out.bytes(), "{before}")?;
        }
        self.out.styled_line(text)
    }

    /// Writes the names of the columns before the first record.
    fn heading(&mut self) -> io::Result<()> {
        if self.count > 0 {
            return Ok(());
        }
        let names = std::mem::take(&mut self.columns);
        if self.format == Format::Markdown {
            let cells: Vec<_> = names.iter().map(|name| escaped(name)).collect();
            self.out
                .styled_line(&format!("| {} |", cells.join(" | ")))?;
            let rule = vec!["---"; names.len()].join(" | ");
            self.out.styled_line(&format!("| {rule} |"))?;
        } else {
            self.csv(&names)?;
        }
        self.columns = names;
        Ok(())
    }

    fn csv(&mut self, cells: &[String]) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(self.out.bytes());
        writer.write_record(cells)?;
        writer.flush()
    }

    /// Writes the rows that were gathered, in aligned columns.
    fn table(&mut self) -> io::Result<()> {
        let page = std::mem::take(&mut self.page);
        let width = |column: usize| {
            let cells = page.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<_> = (0..self.columns.len()).map(width).collect();
        for row in &page {
            let cells = row.iter().zip(&widths);
            let cells = cells.map(|(cell, width)| format!("{cell:<width$}"));
            let line = cells.collect::<Vec<_>>().join("  ");
            self.out.styled_line(line.trim_end())?;
        }
        Ok(())
    }
}

/// Returns a value as text: the words of a list, and nothing for a field that is not there.
fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) if items.iter().all(Value::is_string) => {
            let words = items.iter().filter_map(Value::as_str);
            words.collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

/// Returns a value for CSV: as it is stored in a pipe, escaped on a terminal.
fn shown(value: &Value) -> String {
    let text = text(value);
    match is_screen() {
        true => printable(&text),
        false => text,
    }
}

fn markdown(value: &Value) -> String {
    escaped(&text(value))
}

/// Escapes what would end a cell, a row or a terminal line, and what Markdown would read as markup.
fn escaped(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(printable).collect();
    let mut cell = String::new();
    for letter in lines.join(" ").chars() {
        if "\\`*_{}[]<>#|!&~".contains(letter) {
            cell.push('\\');
        }
        cell.push(letter);
    }
    cell
}

/// Rows of a table whose columns are aligned together.
const PAGE_LEN: usize = 1024;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn no_text_breaks_out_of_a_cell() {
        assert_eq!(escaped("a|b\n<c> `d`"), "a\\|b \\<c\\> \\`d\\`");
        assert_eq!(escaped("\u{1b}[2J"), "\\\\u\\{001B\\}\\[2J");
        assert_eq!(markdown(&json!(["a", "b"])), "a, b");
        assert_eq!(text(&json!({ "a": 1 })), "{\"a\":1}");
        assert_eq!(text(&Value::Null), "");
    }
}
