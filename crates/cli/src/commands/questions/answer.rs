use std::io::{self, Write};

use grainstore::Envelope;

use crate::output::{Output, Table};

/// Whether an answer has scores that mean anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scores {
    Shown,
    Hidden,
}

/// Writes an answer: the envelope, or a line for each grain.
pub(super) fn show(envelope: &Envelope, scores: Scores, out: &mut Output) -> io::Result<()> {
    if out.is_json() {
        return writeln!(out.bytes(), "{}", envelope.to_json());
    }
    show_lines(envelope, &table(envelope, scores, 0), out)
}

/// Writes the lines of an answer, and how much of it they are.
pub(super) fn show_lines(envelope: &Envelope, lines: &Table, out: &mut Output) -> io::Result<()> {
    for line in lines.lines() {
        out.styled_line(&line)?;
    }
    out.flush()?;
    let least = if envelope.total_is_lower_bound {
        "at least "
    } else {
        ""
    };
    let (shown, total) = (envelope.results.len(), envelope.total);
    let next = envelope
        .next_cursor
        .map(|cursor| format!("; more: --cursor {cursor}"));
    out.note(match total {
        0 => "nothing found".to_owned(),
        _ => format!("{shown} of {least}{total}{}", next.unwrap_or_default()),
    });
    Ok(())
}

/// Returns the lines of an answer.
pub(crate) fn table(envelope: &Envelope, scores: Scores, indent: usize) -> Table {
    let mut table = Table::indented(indent);
    for found in &envelope.results {
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
