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
            "\n### {}\n\n| {} | min | median | max | store / this | target |\n\
             | --- | ---: | ---: | ---: | ---: | --- |\n",
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
            let target = one.target().unwrap_or_default();
            if table.is_told || one.bound.is_some() || one.compared.is_some() {
                self.results.push(one);
            }
            let (min, median, max) = (number(min), number(median), number(max));
            let name = &row.name;
            // Writing to a text cannot fail.
            let _ = writeln!(
                text,
                "| {name} | {min} | {median} | {max} | {shown} | {target} |"
            );
        }
        print!("{text}");
    }

    /// Returns the place after the last result: what follows is of another group.
    pub const fn mark(&self) -> usize {
        self.results.len()
    }

    /// Returns the results since a mark as a table of one row a measurement: values are medians, and
    /// ratios, in brackets, those of the rounds.
    ///
    /// A name that several measurements are compared with has a column; others share one.
    pub fn summary(&self, mark: usize) -> String {
        let results = self.results.get(mark..).unwrap_or_default();
        let rows: Vec<&[Measured]> = results.chunk_by(Measured::is_of_one_row).collect();
        let peers = peers(&rows);
        let is_peer = |one: &&Measured| one.name().is_some_and(|name| peers.contains(&name));
        let others = |row: &[Measured]| {
            let others = row.iter().filter(|one| !is_peer(one));
            let told = others.filter_map(|one| Some(format!("{} {}", one.name()?, one.ratio()?)));
            told.collect::<Vec<_>>().join("; ")
        };
        let has_others = rows.iter().any(|row| !others(row).is_empty());
        let mut heads = vec!["", "measured"];
        heads.extend(&peers);
        heads.extend(has_others.then_some("compared with"));
        heads.push("target");
        let mut text = line(&heads);
        let aligned = heads.iter().map(|head| match *head {
            "" | "compared with" | "target" => "---",
            _ => "---:",
        });
        text += &line(&aligned.collect::<Vec<_>>());
        for row in rows {
            let [first, ..] = row else { continue };
            let value = format!("{} {}", number(first.value), first.unit);
            let mut cells = vec![first.what.clone(), value];
            cells.extend(peers.iter().map(|peer| {
                let one = row.iter().find(|one| one.name() == Some(peer));
                one.and_then(Measured::ratio).unwrap_or_default()
            }));
            cells.extend(has_others.then(|| others(row)));
            cells.push(
                row.iter()
                    .filter_map(Measured::target)
                    .collect::<Vec<_>>()
                    .join(", "),
            );
            text += &line(&cells);
        }
        text
    }
}

impl Measured {
    fn is_of_one_row(&self, other: &Self) -> bool {
        let shown = |one: &Self| (one.what.clone(), number(one.value), one.unit.clone());
        shown(self) == shown(other)
    }

    /// Returns the name of what it is compared with.
    fn name(&self) -> Option<&str> {
        self.compared.as_ref().map(|(name, ..)| name.as_str())
    }

    /// Returns the other value, with the ratio in brackets.
    fn ratio(&self) -> Option<String> {
        let (_, value, ratio) = self.compared.as_ref()?;
        Some(format!("{} ({})", number(*value), number(*ratio)))
    }

    /// Returns the bound, whose it is, and whether it is met.
    fn target(&self) -> Option<String> {
        let bound = self.bound?;
        let judged = self
            .compared
            .as_ref()
            .map_or(self.value, |(_, _, ratio)| *ratio);
        let whose = self
            .name()
            .map_or_else(String::new, |name| format!("{name} "));
        let verdict = if bound.holds(judged) { "met" } else { "MISSED" };
        Some(format!("{whose}{} {verdict}", bound.text()))
    }
}

/// Returns the names that more than one row is compared with, in their order.
fn peers<'a>(rows: &[&'a [Measured]]) -> Vec<&'a str> {
    let names = |row: &'a [Measured]| row.iter().filter_map(Measured::name);
    let mut peers: Vec<&str> = Vec::new();
    for name in rows.iter().flat_map(|row| names(row)) {
        let count = rows
            .iter()
            .filter(|row| names(row).any(|other| other == name))
            .count();
        if count > 1 && !peers.contains(&name) {
            peers.push(name);
        }
    }
    peers
}

/// Writes a line of a table.
fn line(cells: &[impl AsRef<str>]) -> String {
    let cells = cells.iter().map(|cell| format!(" {} |", cell.as_ref()));
    format!("|{}\n", cells.collect::<String>())
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
    fn a_summary_has_a_row_for_each_measurement_and_a_column_for_each_peer() {
        let mut report = Report::default();
        for (title, times) in [("Put", 2.0), ("Get", 1.0)] {
            let mut table = Table::new(title, "per s");
            table.row("store", vec![8.0 * times], Some(Bound::AtLeast(9.0)));
            table.row("SQLite", vec![4.0], Some(Bound::AtLeast(3.0)));
            if title == "Get" {
                table.row("a read", vec![16.0], None);
            }
            report.table(&table);
        }
        let mut alone = Table::new("Disk", "MB");
        alone.value("store", vec![1.0]);
        report.table(&alone);
        assert_eq!(
            report.summary(0),
            "|  | measured | SQLite | compared with | target |\n\
             | --- | ---: | ---: | --- | --- |\n\
             | Put | 16.0 per s | 4.00 (4.00) |  | ≥ 9 met, SQLite ≥ 3 met |\n\
             | Get | 8.00 per s | 4.00 (2.00) | a read 16.0 (0.500) | ≥ 9 MISSED, SQLite ≥ 3 MISSED |\n\
             | Disk | 1.00 MB |  |  |  |\n"
        );
    }

    #[test]
    fn numbers_have_three_digits_that_count() {
        let shown = [0.1234, 1.0, 12.34, 123.4, 1_234_567.0].map(number);
        assert_eq!(shown, ["0.123", "1.00", "12.3", "123", "1 234 567"]);
    }
}
