//! Tables of rounds, ratios to what is compared with, and whether targets are met.

use std::fmt::Write as _;

/// A bound that is promised.
#[derive(Debug, Clone, Copy)]
pub enum Bound {
    /// As much or more.
    AtLeast(f64),
    /// As much or less.
    AtMost(f64),
}

impl Bound {
    fn holds(self, value: f64) -> bool {
        match self {
            Self::AtLeast(bound) => value >= bound,
            Self::AtMost(bound) => value <= bound,
        }
    }

    fn text(self) -> String {
        match self {
            Self::AtLeast(bound) => format!("≥ {bound}"),
            Self::AtMost(bound) => format!("≤ {bound}"),
        }
    }
}

/// One table: its first row is what is measured, the others what it is compared with.
#[derive(Debug)]
pub struct Table {
    title: String,
    unit: String,
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    name: String,
    rounds: Vec<f64>,
    /// Of the first row the bound is of its value, of the others of the ratio to them.
    bound: Option<Bound>,
}

impl Table {
    /// Starts a table.
    pub fn new(title: impl Into<String>, unit: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            unit: unit.into(),
            rows: Vec::new(),
        }
    }

    /// Adds a row: a value for each round, in order.
    pub fn row(&mut self, name: impl Into<String>, rounds: Vec<f64>, bound: Option<Bound>) {
        self.rows.push(Row {
            name: name.into(),
            rounds,
            bound,
        });
    }
}

/// The printed lines, for the summary.
#[derive(Debug, Default)]
pub struct Report {
    verdicts: Vec<Verdict>,
}

#[derive(Debug)]
struct Verdict {
    what: String,
    target: String,
    measured: String,
    met: bool,
}

impl Report {
    /// Prints a heading.
    pub fn heading(&self, text: &str) {
        println!("\n## {text}");
    }

    /// Prints a remark.
    pub fn say(&self, text: &str) {
        println!("\n{text}");
    }

    /// Prints a table and remembers its targets.
    pub fn table(&mut self, table: &Table) {
        let mut text = format!(
            "\n### {}\n\n| {} | min | median | max | store / this | target | |\n\
             | --- | ---: | ---: | ---: | ---: | ---: | --- |\n",
            table.title, table.unit
        );
        let subject: &[f64] = table.rows.first().map_or(&[], |row| &row.rounds);
        for (place, row) in table.rows.iter().enumerate() {
            let [min, median, max] = spread(&row.rounds);
            let ratios = (place > 0).then(|| ratios(subject, &row.rounds));
            let ratio = ratios.map(|ratios| spread(&ratios));
            let shown = ratio.map_or_else(String::new, |[min, median, max]| {
                format!("{} ({}–{})", number(median), number(min), number(max))
            });
            let judged = ratio.map_or(median, |[_, median, _]| median);
            let (target, verdict) = match row.bound {
                None => (String::new(), ""),
                Some(bound) if bound.holds(judged) => (bound.text(), "met"),
                Some(bound) => (bound.text(), "MISSED"),
            };
            if let Some(bound) = row.bound {
                let against = if place > 0 { &*row.name } else { "" };
                let against = if against.is_empty() {
                    String::new()
                } else {
                    format!(", against {against}")
                };
                self.verdicts.push(Verdict {
                    what: format!("{}{against}", table.title),
                    target: target.clone(),
                    measured: number(judged),
                    met: bound.holds(judged),
                });
            }
            let (min, median, max) = (number(min), number(median), number(max));
            let name = &row.name;
            // Writing to a text cannot fail.
            let _ = writeln!(
                text,
                "| {name} | {min} | {median} | {max} | {shown} | {target} | {verdict} |"
            );
        }
        print!("{text}");
    }

    /// Prints every target and whether it is met.
    pub fn summary(&self) {
        println!("\n## Targets\n\n| | target | measured | |\n| --- | ---: | ---: | --- |");
        for verdict in &self.verdicts {
            let Verdict {
                what,
                target,
                measured,
                met,
            } = verdict;
            let met = if *met { "met" } else { "MISSED" };
            println!("| {what} | {target} | {measured} | {met} |");
        }
    }
}

/// Returns the quotients round by round: a slow moment of the machine falls on both.
fn ratios(subject: &[f64], other: &[f64]) -> Vec<f64> {
    let pairs = subject.iter().zip(other);
    pairs.map(|(subject, other)| subject / other).collect()
}

/// Returns the least, the middle and the largest.
fn spread(values: &[f64]) -> [f64; 3] {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let at = |place: usize| sorted.get(place).copied().unwrap_or(f64::NAN);
    let last = sorted.len().saturating_sub(1);
    let middle = if sorted.len() % 2 == 1 {
        at(last / 2)
    } else {
        f64::midpoint(at(last / 2), at(last / 2 + 1))
    };
    [at(0), middle, at(last)]
}

/// Writes a number with three digits that count, and groups of thousands.
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    match value.abs() {
        ..0.995 => format!("{value:.3}"),
        ..9.995 => format!("{value:.2}"),
        ..99.95 => format!("{value:.1}"),
        _ => {
            let digits = format!("{:.0}", value.abs());
            let mut text = String::from(if value < 0.0 { "-" } else { "" });
            for (place, digit) in digits.chars().enumerate() {
                if place > 0 && (digits.len() - place).is_multiple_of(3) {
                    text.push(' ');
                }
                text.push(digit);
            }
            text
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_an_even_number_of_rounds_lies_between_two() {
        assert_eq!(spread(&[4.0, 1.0, 2.0]), [1.0, 2.0, 4.0]);
        assert_eq!(spread(&[4.0, 1.0, 2.0, 3.0]), [1.0, 2.5, 4.0]);
    }

    #[test]
    fn numbers_have_three_digits_that_count() {
        let shown = [0.1234, 1.0, 12.34, 123.4, 1_234_567.0].map(number);
        assert_eq!(shown, ["0.123", "1.00", "12.3", "123", "1 234 567"]);
    }
}
