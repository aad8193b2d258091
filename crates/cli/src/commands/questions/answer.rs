//! Results of a query or a search: the envelope as JSON, or a table and a count.
//!
//! Shared by `query`, `search`, `similar` and the demo.

use std::io::{self, Write};

use grainstore::Page;
use grainstore::query::Found;

use crate::commands::grains::{GRAIN_FIELDS, found_record};
use crate::output::{Output, Rows, Table, printable};

/// The mark of an answer that ended at `Options::search_deadline`.
pub(super) const PARTIAL: &str = "partial: deadline";

/// Whether scores are shown: a query without ranking has none that mean anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scores {
    Shown,
    Hidden,
}

/// Writes the results: the envelope as JSON, or one line per grain.
pub(super) fn show(envelope: &Page, scores: Scores, out: &mut Output) -> io::Result<()> {
    if out.is_json() {
        return writeln!(out.bytes(), "{}", envelope.to_json());
    }
    show_lines(envelope, &table(envelope, scores, 0), out)
}

/// The fields of results that name none.
pub(super) fn fields(scores: Scores) -> Vec<&'static str> {
    let score = matches!(scores, Scores::Shown).then_some("score");
    score.into_iter().chain(GRAIN_FIELDS).collect()
}

/// Writes the results as records.
pub(super) fn show_rows(envelope: &Page, mut rows: Rows<'_>) -> anyhow::Result<()> {
    let document = serde_json::to_value(envelope)?;
    for (number, found) in envelope.results.iter().enumerate() {
        rows.add(&found_record(found)?, || {
            document["results"][number].clone()
        })?;
    }
    let out = rows.end()?;
    Ok(note_total(envelope, out)?)
}

/// Returns the sum and the factors of a score, as `words 4.10 + session 2.00, date ×1.30`.
fn explained(explanation: &[(&str, f64)]) -> String {
    let parts = explanation.iter();
    let (added, factors): (Vec<_>, Vec<_>) = parts.partition(|(name, _)| ADDED.contains(name));
    let added = added
        .iter()
        .map(|(name, value)| format!("{name} {value:.2}"));
    let mut text = added.collect::<Vec<_>>().join(" + ");
    for (name, factor) in factors {
        text.push_str(&format!(", {name} ×{factor:.2}"));
    }
    text
}

/// The parts of an explanation that are added; the others are factors.
const ADDED: &[&str] = &[
    "words",
    "meaning",
    "within",
    "neighbours",
    "answer",
    "session",
];

/// Writes the lines of the results, each with the explanation of its score below it if there is one,
/// and a message with their number and the total.
pub(super) fn show_lines(envelope: &Page, lines: &Table, out: &mut Output) -> io::Result<()> {
    for (number, line) in lines.lines().enumerate() {
        out.styled_line(&line)?;
        let found = envelope.results.get(number);
        if let Some(found) = found.filter(|found| !found.explanation.is_empty()) {
            out.line(format!("      {}", explained(&found.explanation)))?;
        }
    }
    out.flush()?;
    note_total(envelope, out)
}

/// Writes a message with the number of results, the total, and the cursor of the next page.
fn note_total(envelope: &Page, out: &Output) -> io::Result<()> {
    let least = if envelope.total_is_lower_bound {
        "at least "
    } else {
        ""
    };
    let (shown, total) = (envelope.results.len(), envelope.total);
    let next = envelope
        .next_cursor
        .map(|cursor| format!("; more results: --cursor {cursor}"));
    out.note(match total {
        0 => "nothing found".to_owned(),
        _ => format!("{shown} of {least}{total}{}", next.unwrap_or_default()),
    });
    if envelope.is_partial {
        out.note(PARTIAL);
    }
    Ok(())
}

/// Writes the results grouped by observer: as JSON the envelope, and the
/// addresses of each group.
pub(super) fn show_by_observer(
    envelope: &Page,
    scores: Scores,
    out: &mut Output,
) -> io::Result<()> {
    let groups = envelope.by_observer();
    if out.is_json() {
        let mut json = serde_json::to_value(envelope)?;
        let groups = groups.iter().map(|([of, id], found)| {
            let addresses = found.iter().map(|found| found.address.to_string());
            let addresses: Vec<_> = addresses.collect();
            serde_json::json!({
                "observer_type": of, "observer_id": id, "content_addresses": addresses,
            })
        });
        json["by_observer"] = groups.collect();
        return out.json(&json);
    }
    for ([of, id], found) in groups {
        let names: Vec<_> = [of, id].into_iter().flatten().map(printable).collect();
        out.line(match names.is_empty() {
            true => "no observer".to_owned(),
            false => names.join(" "),
        })?;
        for line in rows(found, scores, 2).lines() {
            out.styled_line(&line)?;
        }
    }
    show_lines(envelope, &Table::indented(0), out)
}

/// Returns the results as a table.
pub(crate) fn table(envelope: &Page, scores: Scores, indent: usize) -> Table {
    rows(&envelope.results, scores, indent)
}

fn rows<'a>(results: impl IntoIterator<Item = &'a Found>, scores: Scores, indent: usize) -> Table {
    let mut table = Table::indented(indent);
    for found in results {
        let before = match scores {
            Scores::Shown => format!("{:.2}  ", found.score),
            Scores::Hidden => String::new(),
        };
        let is_current = found.status.is_current();
        table.add_matched(
            before,
            &found.grain,
            &found.matched_fields,
            if is_current { "" } else { "superseded" },
        );
    }
    table
}
