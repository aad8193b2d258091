use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use grainstore::crypto::Offline;
use grainstore::interchange::provider::Provider;
use grainstore::interchange::{self, Format, Loss, ReadOptions, Reading};
use grainstore::store::{Create, Summary};
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::output::Output;
use crate::problem::Problem;
use crate::progress;
use crate::session::Session;

/// Bring in a file of another tool or store
///
/// The whole file is read and judged first. If anything in it is wrong, nothing is stored and
/// all of it is listed, unless --keep-going takes the rest. Importing a file again changes
/// nothing. What grains cannot carry is counted and named.
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The file, the directory of a PAM store, or what a provider exports as it came
    path: PathBuf,
    /// What the file is
    #[arg(long, value_enum, default_value_t = FormatArg::Auto)]
    format: FormatArg,
    /// Store what is right and report what is not; exit 1 if there was any
    #[arg(long)]
    keep_going: bool,
    /// Read and judge the file, and store nothing
    #[arg(long)]
    verify_only: bool,
    /// Take a wrong PAM checksum for a finding instead of an error
    #[arg(long)]
    accept_bad_checksum: bool,
    /// What the ids of an OMI file that names no namespace are unique in; else the file itself
    #[arg(long, value_name = "NAME")]
    scope: Option<String>,
}

impl Import {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let options = ReadOptions {
            accept_bad_checksum: self.accept_bad_checksum,
            scope: self.scope,
            ..ReadOptions::default()
        };
        let reading = read(&self.path, self.format, &options, &session.out)?;
        if !reading.errors.is_empty() && !self.keep_going {
            report_errors(&reading, &self.path, &mut session.out)?;
            return Ok(Exit::Failed);
        }
        if self.verify_only {
            let refused = reading.errors.len();
            report_reading(&reading, &self.path, &mut session.out)?;
            return Ok(Exit::done_if(refused == 0));
        }
        let store = session.open_or(Create::IfMissing)?;
        let format = reading.format;
        let total = u64::try_from(reading.records.len()).unwrap_or(u64::MAX);
        let bar = progress::bar(&session.out, "storing", total);
        let summary = store.import_with(reading, &mut |done| bar.set_position(done))?;
        bar.finish_and_clear();
        report(&summary, format, &self.path, &mut session.out)?;
        Ok(Exit::done_if(summary.is_complete()))
    }
}

/// A format that can be read, or the one that the content says it is.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum FormatArg {
    /// What the content says it is
    Auto,
    /// An archive of grains (OMS 1.3, section 11)
    Mg,
    /// One JSON grain a line
    Jsonl,
    /// A Portable AI Memory 1.0 store
    Pam,
    /// An AIMEM bundle
    Aimem,
    /// An AIMEM bundle as a stream of lines
    AimemNdjson,
    /// An OMI-AI 0.1 document
    Omi,
    /// An OMI-AI 0.1 document as JSON lines
    OmiJsonl,
    /// An export of ChatGPT: a file of it, its directory or its ZIP
    Chatgpt,
    /// An export of Claude
    Claude,
    /// A Google Takeout of Gemini
    Gemini,
    /// A CSV file of Copilot
    Copilot,
    /// An export of Grok
    Grok,
}

/// Reads a file and judges everything in it.
pub(super) fn read(
    path: &Path,
    format: FormatArg,
    options: &ReadOptions,
    out: &Output,
) -> Result<Reading, Problem> {
    let format = match format {
        FormatArg::Auto => None,
        FormatArg::Mg => Some(Format::Mg),
        FormatArg::Jsonl => Some(Format::Jsonl),
        FormatArg::Pam => Some(Format::Pam),
        FormatArg::Aimem => Some(Format::Aimem),
        FormatArg::AimemNdjson => Some(Format::AimemNdjson),
        FormatArg::Omi => Some(Format::Omi),
        FormatArg::OmiJsonl => Some(Format::OmiJsonl),
        FormatArg::Chatgpt => Some(Format::Provider(Provider::Chatgpt)),
        FormatArg::Claude => Some(Format::Provider(Provider::Claude)),
        FormatArg::Gemini => Some(Format::Provider(Provider::Gemini)),
        FormatArg::Copilot => Some(Format::Provider(Provider::Copilot)),
        FormatArg::Grok => Some(Format::Provider(Provider::Grok)),
    };
    let spinner = progress::spinner(out, format!("reading {}", path.display()));
    let reading = Reading::open(path, format, options);
    spinner.finish_and_clear();
    let mut reading = reading.map_err(|error| problem_in(&error, path))?;
    // What would be refused is told before anything is stored.
    reading.verify_signatures(&Offline);
    Ok(reading)
}

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
            "refused": problems.iter().map(Problem::to_json).collect::<Vec<_>>(),
            "findings": findings_json(&reading.findings),
            "loss": loss_json(&reading.loss),
        }))?);
    }
    out.line(format!("{} ({})", path.display(), reading.format))?;
    let (grains, refused) = (reading.records.len(), problems.len());
    out.line(format!("  {grains} grains, {refused} refused"))?;
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
            })
        });
        return Ok(out.json(&json!({
            "format": format.name(),
            "inserted": summary.inserted,
            "unchanged": summary.unchanged,
            "conflicts": conflicts.collect::<Vec<_>>(),
            "refused": problems.iter().map(Problem::to_json).collect::<Vec<_>>(),
            "erased": summary.erased.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "findings": findings_json(&summary.findings),
            "loss": loss_json(&summary.loss),
        }))?);
    }
    out.line(format!("{} ({format})", path.display()))?;
    out.line(format!(
        "  {} inserted, {} unchanged, {} conflicts, {} refused",
        summary.inserted,
        summary.unchanged,
        summary.conflicts.len(),
        problems.len()
    ))?;
    if !summary.erased.is_empty() {
        let erased = summary.erased.len();
        out.line(format!("  refused: {erased} erased here before"))?;
    }
    report_oddities(&summary.findings, &summary.loss, out)?;
    for conflict in summary.conflicts.iter().take(SHOWN_MAX) {
        let (place, id) = (&conflict.place, &conflict.id.id);
        let existing = conflict.existing;
        out.note(format!(
            "conflict: {place}: {id} says something else than {existing}, which was imported before"
        ));
    }
    complain_all(&problems, out);
    Ok(())
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
    errors.iter().map(|error| problem_in(error, path)).collect()
}

fn problem_in(error: &interchange::Error, path: &Path) -> Problem {
    Problem::of(error).at(path.display())
}

fn findings_json(findings: &[(interchange::Place, String)]) -> Vec<Value> {
    let findings = findings
        .iter()
        .map(|(place, message)| json!({ "place": place.to_string(), "message": message }));
    findings.collect()
}

/// Returns what was not carried, field by field.
pub(super) fn loss_text(loss: &Loss) -> String {
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
