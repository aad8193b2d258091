//! What an import, or the judging of a file, came to.

use std::path::Path;

use grainstore::interchange::{self, Format, Loss, Reading};
use grainstore::store::Summary;
use serde_json::{Value, json};

use super::format::ExportFormat;
use crate::error::Problem;
use crate::output::Output;
use grainstore::query::Exported;

/// Lists what is wrong with a file of which nothing is stored.
pub(super) fn report_errors(
    reading: &Reading,
    path: &Path,
    out: &mut Output,
) -> anyhow::Result<()> {
    let problems = problems(&reading.errors, path);
    let Some(first) = problems.first() else {
        return Ok(());
    };
    if out.is_json() {
        let refused: Vec<Value> = problems.iter().map(Problem::to_json).collect();
        let document = json!({ "error": first.to_json(), "refused": refused });
        return Ok(out.json(&document)?);
    }
    for problem in problems.iter().take(SHOWN_MAX).skip(1).rev() {
        out.complain(problem);
    }
    out.problem(first)?;
    if problems.len() > SHOWN_MAX {
        let more = problems.len() - SHOWN_MAX;
        out.note(format!("and {more} more; --json lists all of them"));
    }
    Ok(())
}

/// Says what a file holds, of which nothing is stored.
pub(super) fn report_reading(
    reading: &Reading,
    path: &Path,
    out: &mut Output,
) -> anyhow::Result<()> {
    let problems = problems(&reading.errors, path);
    if out.is_json() {
        return Ok(out.json(&json!({
            "format": reading.format.name(),
            "grains": reading.records.len(),
            "vectors": reading.vectors.len(),
            "refused": problems.iter().map(Problem::to_json).collect::<Vec<_>>(),
            "findings": findings_json(&reading.findings),
            "loss": loss_json(&reading.loss),
        }))?);
    }
    out.line(format!("{} ({})", path.display(), reading.format))?;
    let (grains, refused) = (reading.records.len(), problems.len());
    let vectors = match reading.vectors.len() {
        0 => String::new(),
        count => format!(", {count} vectors"),
    };
    out.line(format!("  {grains} grains{vectors}, {refused} refused"))?;
    report_oddities(&reading.findings, &reading.loss, out)?;
    complain_all(&problems, out);
    Ok(())
}

/// Says what an import did.
pub(super) fn report(
    summary: &Summary,
    format: Format,
    path: &Path,
    out: &mut Output,
) -> anyhow::Result<()> {
    let problems = problems(&summary.refused, path);
    if out.is_json() {
        let conflicts = summary.conflicts.iter().map(|conflict| {
            let id = &conflict.id;
            json!({
                "place": conflict.place.to_string(),
                "id": { "format": id.format, "scope": id.scope, "id": id.id },
                "existing": conflict.existing.to_string(),
                "kept": conflict.kept.map(|address| address.to_string()),
            })
        });
        let denied = summary.denied.iter().map(|denied| {
            json!({
                "place": denied.place.to_string(),
                "existing": denied.existing.to_string(),
                "rule": denied.rule.name(),
            })
        });
        return Ok(out.json(&json!({
            "format": format.name(),
            "inserted": summary.inserted,
            "updated": summary.updated,
            "unchanged": summary.unchanged,
            "embedded": summary.embedded,
            "conflicts": conflicts.collect::<Vec<_>>(),
            "denied": denied.collect::<Vec<_>>(),
            "refused": problems.iter().map(Problem::to_json).collect::<Vec<_>>(),
            "erased": summary.erased.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "findings": findings_json(&summary.findings),
            "loss": loss_json(&summary.loss),
        }))?);
    }
    out.line(format!("{} ({format})", path.display()))?;
    out.line(format!(
        "  {} inserted, {} updated, {} unchanged, {} conflicts, {} refused",
        summary.inserted,
        summary.updated,
        summary.unchanged,
        summary.conflicts.len(),
        problems.len()
    ))?;
    if summary.embedded > 0 {
        out.line(format!("  {} vectors kept", summary.embedded))?;
    }
    if !summary.erased.is_empty() {
        let erased = summary.erased.len();
        out.line(format!("  refused: {erased} erased here before"))?;
    }
    report_oddities(&summary.findings, &summary.loss, out)?;
    report_conflicts(summary, out);
    complain_all(&problems, out);
    Ok(())
}

/// Says what contradicts something else, and what policy kept out.
fn report_conflicts(summary: &Summary, out: &Output) {
    for conflict in summary.conflicts.iter().take(SHOWN_MAX) {
        let (place, id) = (&conflict.place, &conflict.id.id);
        let existing = conflict.existing;
        let outcome = match conflict.kept {
            Some(kept) => format!("both are kept, it as {kept}"),
            None => "it is not stored".to_owned(),
        };
        out.note(format!(
            "conflict: {place}: {id} contradicts {existing}; {outcome}"
        ));
    }
    if summary.conflicts.iter().any(|it| it.kept.is_some()) {
        out.note("`grainstore conflicts` lists them; `conflicts resolve ADDRESS` keeps one");
    }
    for denied in summary.denied.iter().take(SHOWN_MAX) {
        let (place, existing) = (&denied.place, denied.existing);
        let rule = denied.rule.name();
        out.note(format!("denied: {place}: {existing} is protected ({rule})"));
    }
}

/// Says what is odd about a file, and what grains could not carry.
fn report_oddities(
    findings: &[(interchange::Place, String)],
    loss: &Loss,
    out: &mut Output,
) -> std::io::Result<()> {
    if !findings.is_empty() {
        out.line(format!("  {} findings:", findings.len()))?;
    }
    for (place, message) in findings.iter().take(SHOWN_MAX) {
        out.line(format!("    {place}: {message}"))?;
    }
    if findings.len() > SHOWN_MAX {
        let more = findings.len() - SHOWN_MAX;
        out.line(format!("    and {more} more; --json lists all of them"))?;
    }
    if !loss.is_empty() {
        out.line(format!("  not carried: {}", loss_text(loss)))?;
    }
    Ok(())
}

fn complain_all(problems: &[Problem], out: &Output) {
    for problem in problems.iter().take(SHOWN_MAX) {
        out.complain(problem);
    }
    if problems.len() > SHOWN_MAX {
        let more = problems.len() - SHOWN_MAX;
        out.note(format!("and {more} more; --json lists all of them"));
    }
}

fn problems(errors: &[interchange::Error], path: &Path) -> Vec<Problem> {
    let problems = errors
        .iter()
        .map(|error| Problem::of(error).at(path.display()));
    problems.collect()
}

fn findings_json(findings: &[(interchange::Place, String)]) -> Vec<Value> {
    let findings = findings
        .iter()
        .map(|(place, message)| json!({ "place": place.to_string(), "message": message }));
    findings.collect()
}

/// Returns what was not carried, field by field.
pub(crate) fn loss_text(loss: &Loss) -> String {
    let fields = loss.iter();
    let fields: Vec<_> = fields
        .map(|(field, count)| format!("{field} ({count})"))
        .collect();
    fields.join(", ")
}

/// Returns the members of `loss` in JSON output.
pub(super) fn loss_json(loss: &Loss) -> Value {
    loss.iter()
        .map(|(field, count)| (field.to_owned(), json!(count)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// How many problems a person reads.
const SHOWN_MAX: usize = 20;

/// What is counted: formats of other tools have records, several of which may be one grain's.
const fn unit(format: ExportFormat) -> &'static str {
    match format {
        ExportFormat::Mg | ExportFormat::Jsonl => "grains",
        _ => "records",
    }
}

pub(super) fn summary(exported: &Exported, to: &str, format: ExportFormat) -> String {
    let mut text = format!("{} {} written to {to}", exported.grains, unit(format));
    if exported.files > 1 {
        text.push_str(&format!(" and {} files more", exported.files - 1));
    }
    if !exported.loss.is_empty() {
        text.push_str(&format!("; not carried: {}", loss_text(&exported.loss)));
    }
    text
}
