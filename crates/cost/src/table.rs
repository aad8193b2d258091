//! The committed table: the costs of operations that were last accepted.

use std::fmt::Write as _;

use crate::Result;
use crate::operation::{OPERATIONS, Operation};

/// The costs of operations, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// The compiler and the tool that it was measured with.
    pub tools: String,
    /// The names of operations with the instructions of one.
    pub rows: Vec<(String, u64)>,
}

/// The difference between a table's row and a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Within what is allowed.
    Same,
    /// More than that.
    Dearer,
    /// Less than that.
    Cheaper,
}

impl Change {
    /// Compares a measurement with the table's row.
    pub fn between(committed: u64, measured: u64) -> Self {
        match measured as f64 / committed as f64 - 1.0 {
            share if share > ALLOWED => Self::Dearer,
            share if share < -ALLOWED => Self::Cheaper,
            _ => Self::Same,
        }
    }
}

impl Table {
    /// Reads a table.
    ///
    /// # Errors
    /// A line that is none of a table.
    pub fn parse(text: &str) -> Result<Self> {
        let mut lines = text.lines();
        let tools = lines.next().and_then(|line| line.strip_prefix("# "));
        let tools = tools.ok_or("the first line does not say with what it was measured")?;
        let mut rows = Vec::new();
        for line in lines {
            let mut cells = line.split('\t');
            let (Some(name), Some(count)) = (cells.next(), cells.next()) else {
                return Err(format!("not a row: {line}").into());
            };
            rows.push((name.to_owned(), count.parse()?));
        }
        Ok(Self {
            tools: tools.to_owned(),
            rows,
        })
    }

    /// Returns whether the rows are those of the operations, in their order.
    pub fn is_complete(&self) -> bool {
        let names = self.rows.iter().map(|(name, _)| &**name);
        names.eq(OPERATIONS.iter().map(|operation| operation.name))
    }

    /// Returns the row of an operation.
    pub fn row(&self, name: &str) -> Option<u64> {
        let row = self.rows.iter().find(|(row, _)| row == name);
        row.map(|(_, count)| *count)
    }

    /// Returns the table with what was measured now. A row that differs by less than measurements
    /// do stays, so that a change of the table says what changed.
    ///
    /// # Errors
    /// An operation that was neither measured now nor has a row.
    pub fn updated(&self, measured: &Self) -> Result<Self> {
        let row = |operation: &Operation| {
            let name = operation.name;
            let count = match (self.row(name), measured.row(name)) {
                (Some(old), Some(new)) if old.abs_diff(new) * NOISE_OF > old => new,
                (Some(old), _) => old,
                (None, Some(new)) => new,
                (None, None) => return Err(format!("{name} has no row and was not measured")),
            };
            Ok((name.to_owned(), count))
        };
        let rows = OPERATIONS
            .iter()
            .map(row)
            .collect::<std::result::Result<_, _>>()?;
        Ok(Self {
            tools: measured.tools.clone(),
            rows,
        })
    }

    /// Returns the table as it is committed.
    pub fn to_tsv(&self) -> String {
        let mut text = format!("# {}\n", self.tools);
        for ((name, count), operation) in self.rows.iter().zip(&OPERATIONS) {
            let _ = writeln!(text, "{name}\t{count}\t{}", operation.what);
        }
        text
    }

    /// Returns the table as the documentation shows it.
    pub fn to_markdown(&self) -> String {
        let mut text =
            String::from("| operation | one of it | instructions |\n| --- | --- | ---: |\n");
        for ((name, count), operation) in self.rows.iter().zip(&OPERATIONS) {
            let _ = writeln!(
                text,
                "| {name} | {} | {} |",
                operation.what,
                grouped(*count)
            );
        }
        let _ = write!(text, "\nMeasured with {}.\n", self.tools);
        text
    }
}

/// Returns a document with its section of costs written anew, between the two marks.
///
/// # Errors
/// A document without the marks.
pub fn in_document(document: &str, table: &Table) -> Result<String> {
    let (before, rest) = document
        .split_once(BEGIN)
        .ok_or("the document has no section")?;
    let (_, after) = rest.split_once(END).ok_or("the section has no end")?;
    Ok(format!(
        "{before}{BEGIN}\n\n{}\n{END}{after}",
        table.to_markdown()
    ))
}

/// Returns a number with a comma before every third digit.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The share by which the cost of an operation may grow before it must be accepted anew.
pub const ALLOWED: f64 = 0.03;
/// Measurements of the same code differ by less than one part in this many.
const NOISE_OF: u64 = 100;
const BEGIN: &str = "<!-- written by `just cost --write` -->";
const END: &str = "<!-- end -->";
