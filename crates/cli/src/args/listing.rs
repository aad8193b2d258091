//! The form of a list: its format, and the fields of each result.

use clap::Args;

use crate::output::{Format, Output, Rows};

/// The form in which a command lists its results.
#[derive(Debug, Default, Args)]
pub(crate) struct Listing {
    /// Format of the results [default: table, or json with --json]
    #[arg(long, value_enum, value_name = "FORMAT", conflicts_with = "json")]
    format: Option<Format>,
    /// Fields of each result, separated by commas: of grains address, type, time, summary, status,
    /// score, and every field of a grain
    #[arg(long, value_name = "FIELD,…", value_delimiter = ',')]
    fields: Vec<String>,
}

impl Listing {
    /// Makes JSON one result a line, for a list that may have no end.
    pub(crate) fn by_line(&mut self, out: &Output) {
        if self.format == Some(Format::Json) || (self.format.is_none() && out.is_json()) {
            self.format = Some(Format::Jsonl);
        }
    }

    /// Returns whether the results are the table of the command itself.
    pub(crate) fn is_table(&self, out: &Output) -> bool {
        self.form(out) == Format::Table && self.fields.is_empty()
    }

    fn form(&self, out: &Output) -> Format {
        self.format.unwrap_or(match out.is_json() {
            true => Format::Json,
            false => Format::Table,
        })
    }

    /// Returns the writer of rows in the form that was asked for; `None` where the command writes its
    /// own table or document. `fields` are the columns of a format that needs some.
    pub(crate) fn rows<'a>(&self, out: &'a mut Output, fields: &[&str]) -> Option<Rows<'a>> {
        if matches!(self.format, Some(Format::Json | Format::Jsonl)) {
            out.become_json();
        }
        let format = self.form(out);
        let is_own = matches!(format, Format::Table | Format::Json) && self.fields.is_empty();
        if is_own {
            return None;
        }
        let is_whole = self.fields.is_empty();
        let named = || fields.iter().map(|name| (*name).to_owned()).collect();
        let columns = match is_whole {
            true => named(),
            false => self.fields.clone(),
        };
        Some(Rows::new(out, format, columns, is_whole))
    }
}
