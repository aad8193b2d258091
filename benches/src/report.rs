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
    /// Whether the summary has the first row without a bound.
    is_told: bool,
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
            is_told: false,
        }
    }

    /// Adds a row that has no bound and stands in the summary all the same.
    pub fn value(&mut self, name: impl Into<String>, rounds: Vec<f64>) {
        self.row(name, rounds, None);
        self.is_told = true;
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

/// The comparisons of a run, for its summary.
#[derive(Debug, Default)]
pub struct Report {
    results: Vec<Measured>,
}

/// A value that has a bound or that is compared with another.
#[derive(Debug)]
struct Measured {
    what: String,
    unit: String,
    value: f64,
    /// The name of the other, its value, and the ratio to it.
    compared: Option<(String, f64, f64)>,
    bound: Option<Bound>,
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
        let [_, value, _] = spread(subject);
        for (place, row) in table.rows.iter().enumerate() {
            let [min, median, max] = spread(&row.rounds);
            let ratio = (place > 0).then(|| spread(&ratios(subject, &row.rounds)));
            let shown = ratio.map_or_else(String::new, |[min, median, max]| {
                format!("{} ({}–{})", number(median), number(min), number(max))
            });
            let one = Measured {
                what: table.title.clone(),
                unit: table.unit.clone(),
                value,
                compared: ratio.map(|[_, ratio, _]| (row.name.clone(), median, ratio)),
                bound: row.bound,
            };
            let (target, verdict) = (one.target(), one.verdict());
            if table.is_told || one.bound.is_some() || one.compared.is_some() {
                self.results.push(one);
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

    /// Returns the place after the last result: what follows is of another group.
    pub const fn mark(&self) -> usize {
        self.results.len()
    }

    /// Returns the results since a mark as a table: values are medians, ratios those of the rounds.
    /// A result that is compared with several stands in the first of its rows alone.
    pub fn summary(&self, mark: usize) -> String {
        let mut text = String::from(
            "| | measured | compared with | ratio | target | |\n\
             | --- | ---: | --- | ---: | ---: | --- |\n",
        );
        let mut above = String::new();
        for one in self.results.iter().skip(mark) {
            let measured = format!("{} | {} {}", one.what, number(one.value), one.unit);
            let shown = if measured == above {
                "|"
            } else {
                measured.as_str()
            };
            let (other, ratio) = match &one.compared {
                Some((name, value, ratio)) => {
                    (format!("{name}: {}", number(*value)), number(*ratio))
                }
                None => Default::default(),
            };
            let (target, verdict) = (one.target(), one.verdict());
            // Writing to a text cannot fail.
            let _ = writeln!(
                text,
                "| {shown} | {other} | {ratio} | {target} | {verdict} |"
            );
            above = measured;
        }
        text
    }
}

impl Measured {
    fn target(&self) -> String {
        self.bound.map_or_else(String::new, Bound::text)
    }

    fn verdict(&self) -> &'static str {
        let judged = self
            .compared
            .as_ref()
            .map_or(self.value, |(_, _, ratio)| *ratio);
        match self.bound {
            None => "",
            Some(bound) if bound.holds(judged) => "met",
            Some(_) => "MISSED",
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
