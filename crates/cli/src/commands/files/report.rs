//! Reports of imports, validations and exports: counts, refused records, findings and losses.
//!
//! At most 20 of a kind are shown to people; JSON output has all.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use grainstore::interchange::{self, ForeignId, Format, ImportFile, Loss};
use grainstore::store::Summary;
use serde_json::{Value, json};

use crate::error::CliError;
use crate::output::Output;
use grainstore::query::ExportReport;

/// Lists the errors of a file of which nothing is stored.
pub(super) fn report_errors(
    reading: &ImportFile,
    path: &Path,
    out: &mut Output,
) -> anyhow::Result<()> {
    let errors = cli_errors(&reading.errors, path);
    let Some(first) = errors.first() else {
        return Ok(());
    };
    if out.is_json() {
        let refused: Vec<Value> = errors.iter().map(CliError::to_json).collect();
        let document = json!({ "error": first.to_json(), "refused": refused });
        return Ok(out.json(&document)?);
    }
    for error in errors.iter().take(SHOWN_MAX).skip(1).rev() {
        out.error_line(error);
    }
    out.error(first)?;
    if errors.len() > SHOWN_MAX {
        let more = errors.len() - SHOWN_MAX;
        out.note(format!("and {more} more; --json lists all of them"));
    }
    Ok(())
}

/// Reports the content of a file that was validated and not stored.
pub(super) fn report_validation(
    mut reading: ImportFile,
    path: &Path,
    out: &mut Output,
) -> anyhow::Result<()> {
    let grains = reading.records.len();
    let warnings = std::mem::take(&mut reading.records).warnings()?;
    let errors = cli_errors(&reading.errors, path);
    if out.is_json() {
        return Ok(out.json(&json!({
            "format": reading.format.name(),
            "grains": grains,
            "vectors": reading.vectors.len(),
            "refused": errors.iter().map(CliError::to_json).collect::<Vec<_>>(),
            "finding_kinds": kinds_json(&reading.findings),
            "findings": findings_json(&reading.findings),
            "warnings": findings_json(&warnings),
            "loss": loss_json(&reading.loss),
        }))?);
    }
    out.line(format!("{} ({})", path.display(), reading.format))?;
    let refused = errors.len();
    let vectors = match reading.vectors.len() {
        0 => String::new(),
        count => format!(", {count} vectors"),
    };
    out.line(format!("  {grains} grains{vectors}, {refused} refused"))?;
    report_findings(&reading.findings, &warnings, &reading.loss, out)?;
    error_lines(&errors, out);
    Ok(())
}

/// Reports the result of an import.
pub(super) fn report_import(
    summary: &Summary,
    format: Format,
    path: &Path,
    out: &mut Output,
) -> anyhow::Result<()> {
    let errors = cli_errors(&summary.refused, path);
    if out.is_json() {
        return Ok(out.json(&import_json(summary, format, &errors))?);
    }
    out.line(format!("{} ({format})", path.display()))?;
    out.line(format!(
        "  {} inserted, {} updated, {} unchanged, {} conflicts, {} refused",
        summary.inserted,
        summary.updated,
        summary.unchanged,
        summary.conflicts.len(),
        errors.len()
    ))?;
    if summary.embedded > 0 {
        out.line(format!("  {} vectors stored", summary.embedded))?;
    }
    if summary.corrected > 0 {
        let corrected = summary.corrected;
        out.line(format!("  {corrected} ended or judged here as in the copy"))?;
    }
    if summary.held > 0 {
        let held = summary.held;
        out.line(format!("  {held} legal holds placed here as in the copy"))?;
    }
    if !summary.erased.is_empty() {
        let erased = summary.erased.len();
        out.line(format!(
            "  refused: {erased} deleted from this store before"
        ))?;
    }
    report_findings(&summary.findings, &summary.warnings, &summary.loss, out)?;
    report_conflicts(summary, out);
    error_lines(&errors, out);
    Ok(())
}

/// The files and erasures of a step.
#[derive(Clone, Copy)]
pub(super) struct Written {
    /// The files that were written or removed.
    pub(super) files: u64,
    /// The grains that were erased.
    pub(super) erased: u64,
}

/// Reports the result of a step of a tree and the store.
pub(super) fn report_step(
    summary: &Summary,
    written: Written,
    path: &Path,
    out: &mut Output,
) -> anyhow::Result<()> {
    let Written { files, erased } = written;
    if out.is_json() {
        let errors = cli_errors(&summary.refused, path);
        let mut document = import_json(summary, Format::Markdown, &errors);
        document["deleted"] = json!(erased);
        document["ended"] = json!(summary.ended.len());
        document["files"] = json!(files);
        return Ok(out.json(&document)?);
    }
    report_import(summary, Format::Markdown, path, out)?;
    let ended = summary.ended.len();
    let erased = match erased {
        0 => String::new(),
        count => format!(", {count} grains erased"),
    };
    out.line(format!("  {ended} ended{erased}, {files} files written"))?;
    Ok(())
}

/// Returns the identifier of a conflict; `null` for one between a grain and another that a file puts in
/// its place.
pub(super) fn id_json(id: Option<&ForeignId>) -> Value {
    id.map_or(
        Value::Null,
        |id| json!({ "format": id.format(), "scope": id.scope(), "id": id.id() }),
    )
}

fn import_json(summary: &Summary, format: Format, errors: &[CliError]) -> Value {
    let conflicts = summary.conflicts.iter().map(|conflict| {
        json!({
            "place": conflict.place.as_ref().map(ToString::to_string),
            "id": id_json(conflict.id.as_ref()),
            "existing": conflict.versions.first().map(ToString::to_string),
            "kept": conflict.versions.get(1).map(ToString::to_string),
        })
    });
    let denied = summary.denied.iter().map(|(place, existing, rule)| {
        json!({
            "place": place.to_string(),
            "existing": existing.to_string(),
            "rule": rule.name(),
        })
    });
    let unapplied = summary.unapplied.iter().map(
        |(place, existing)| json!({ "place": place.to_string(), "existing": existing.to_string() }),
    );
    json!({
        "format": format.name(),
        "inserted": summary.inserted,
        "updated": summary.updated,
        "unchanged": summary.unchanged,
        "embedded": summary.embedded,
        "corrected": summary.corrected,
        "held": summary.held,
        "unapplied": unapplied.collect::<Vec<_>>(),
        "conflicts": conflicts.collect::<Vec<_>>(),
        "denied": denied.collect::<Vec<_>>(),
        "refused": errors.iter().map(CliError::to_json).collect::<Vec<_>>(),
        "erased": summary.erased.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "finding_kinds": kinds_json(&summary.findings),
        "findings": findings_json(&summary.findings),
        "warnings": findings_json(&summary.warnings),
        "loss": loss_json(&summary.loss),
    })
}

/// Lists conflicts, and records that a policy denied.
fn report_conflicts(summary: &Summary, out: &Output) {
    for conflict in summary.conflicts.iter().take(SHOWN_MAX) {
        let (Some(place), [existing, kept @ ..]) = (&conflict.place, &*conflict.versions) else {
            continue;
        };
        let what = match &conflict.id {
            Some(id) => format!("{} contradicts {existing}", id.id()),
            None => format!("is in the place of {existing}, which stands here"),
        };
        let outcome = match kept.first() {
            Some(kept) => format!("both are stored, this one as {kept}"),
            None => "not stored".to_owned(),
        };
        out.note(format!("conflict: {place}: {what}; {outcome}"));
    }
    if summary.conflicts.iter().any(|it| it.versions.len() > 1) {
        out.note("`grainstore conflicts` lists conflicts; `conflicts resolve ADDRESS` keeps one");
    }
    for (place, existing) in summary.unapplied.iter().take(SHOWN_MAX) {
        out.note(format!("not applied: {place}: another end of {existing}"));
    }
    if !summary.unapplied.is_empty() {
        let count = summary.unapplied.len();
        out.note(format!(
            "{count} grains ended otherwise in the file: `import --own` ends them here, where the file \
             is a copy of a store of yours; `history ADDRESS` shows two that were both replaced"
        ));
    }
    for (place, existing, rule) in summary.denied.iter().take(SHOWN_MAX) {
        let rule = rule.name();
        out.note(format!("denied: {place}: {existing} is protected ({rule})"));
    }
}

/// Lists the findings on a file, and the fields that grains could not carry; on stderr, the warnings
/// about grains.
fn report_findings(
    findings: &[(interchange::Place, String)],
    warnings: &[(interchange::Place, String)],
    loss: &Loss,
    out: &mut Output,
) -> std::io::Result<()> {
    for warning in warnings.iter().take(SHOWN_MAX) {
        out.note(in_words(warning));
    }
    if warnings.len() > SHOWN_MAX {
        let more = warnings.len() - SHOWN_MAX;
        out.note(format!("and {more} more; --json lists all of them"));
    }
    if !loss.is_empty() {
        out.line(format!("  not carried: {}", loss_text(loss)))?;
    }
    let said: HashSet<String> = warnings.iter().map(in_words).collect();
    let findings = findings.iter().filter(|it| !said.contains(&in_words(it)));
    let findings: Vec<_> = findings.collect();
    if !findings.is_empty() {
        out.line(format!("  {} findings:", findings.len()))?;
    }
    let kinds = kinds(findings);
    for (message, places) in kinds.iter().take(SHOWN_MAX) {
        match places.as_slice() {
            [place] => out.line(format!("    {place}: {message}"))?,
            places => {
                let first: Vec<_> = places
                    .iter()
                    .take(PLACES_MAX)
                    .map(ToString::to_string)
                    .collect();
                let (count, first) = (places.len(), first.join(", "));
                let more = if count > PLACES_MAX { ", …" } else { "" };
                out.line(format!("    {count} times: {message} ({first}{more})"))?;
            }
        }
    }
    if kinds.len() > SHOWN_MAX {
        let more = kinds.len() - SHOWN_MAX;
        out.line(format!(
            "    and {more} more kinds; --json lists all of them"
        ))?;
    }
    Ok(())
}

/// Groups findings by what they say, in the order of the first of each.
fn kinds<'a>(
    findings: impl IntoIterator<Item = &'a (interchange::Place, String)>,
) -> Vec<(&'a str, Vec<&'a interchange::Place>)> {
    let mut kinds: Vec<(&str, Vec<&interchange::Place>)> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    for (place, message) in findings {
        let at = *known.entry(message).or_insert_with(|| {
            kinds.push((message, Vec::new()));
            kinds.len() - 1
        });
        kinds[at].1.push(place);
    }
    kinds
}

/// Returns the findings by what they say, with their number and the first places of each.
fn kinds_json(findings: &[(interchange::Place, String)]) -> Vec<Value> {
    let kinds = kinds(findings).into_iter().map(|(message, places)| {
        let first: Vec<_> = places
            .iter()
            .take(PLACES_MAX)
            .map(ToString::to_string)
            .collect();
        json!({ "message": message, "count": places.len(), "first": first })
    });
    kinds.collect()
}

fn in_words((place, message): &(interchange::Place, String)) -> String {
    format!("{place}: {message}")
}

fn error_lines(errors: &[CliError], out: &Output) {
    for error in errors.iter().take(SHOWN_MAX) {
        out.error_line(error);
    }
    if errors.len() > SHOWN_MAX {
        let more = errors.len() - SHOWN_MAX;
        out.note(format!("and {more} more; --json lists all of them"));
    }
}

fn cli_errors(errors: &[interchange::Error], path: &Path) -> Vec<CliError> {
    let errors = errors
        .iter()
        .map(|error| CliError::of(error).at(path.display()));
    errors.collect()
}

fn findings_json(findings: &[(interchange::Place, String)]) -> Vec<Value> {
    let findings = findings
        .iter()
        .map(|(place, message)| json!({ "place": place.to_string(), "message": message }));
    findings.collect()
}

/// Returns the fields that were not carried, with their counts.
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

/// The number of places that are shown of one kind of finding.
const PLACES_MAX: usize = 3;

/// The number of entries of each list that is shown to people.
const SHOWN_MAX: usize = 20;

/// The unit of a count: foreign formats have records, and one grain may become several.
const fn unit(format: Format) -> &'static str {
    match format {
        Format::Mg | Format::Jsonl => "grains",
        _ => "records",
    }
}

pub(super) fn export_summary(exported: &ExportReport, to: &str, format: Format) -> String {
    let mut text = format!("{} {} written to {to}", exported.grains, unit(format));
    if exported.files > 1 {
        text.push_str(&format!(" and {} more files", exported.files - 1));
    }
    if exported.loss.iter().next().is_some() {
        text.push_str(&format!("; not carried: {}", loss_text(&exported.loss)));
    }
    text
}
