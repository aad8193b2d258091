//! `grainstore doctor`: everything that is wrong with a store or could be better, with what to do.
//!
//! The files are checked as `check` does without `--deep`; what else is looked at is in `store` and
//! `surroundings`.

#[cfg(feature = "replica")]
mod copies;
mod store;
mod surroundings;

use std::path::{Path, PathBuf};

use clap::Args;
use grainstore::ErrorCode;
use grainstore::store::{Report, Severity};
use serde_json::{Value, json};

use super::check::{advice, unopened};
use crate::error::{CliError, Exit};
use crate::output::{Output, progress};
use crate::session::Session;

pub(crate) use surroundings::disk_free;

/// Say what is wrong with the store or could be better, and what to do
///
/// Looks at damage (as `check` does without --deep), unfinished erasures, withdrawn consents, legal
/// holds, the clock, derived files, other processes, permissions, the room on the disk, and how far
/// a backup and the copies of `replicate` are behind. It changes nothing, except what opening a store changes. Notes say what is
/// worth knowing and do not count: exits with 0 if nothing is wrong, 1 for warnings, 4 for damage.
#[derive(Debug, Args)]
#[command(after_long_help = "Example:
  grainstore doctor --backup /mnt/backup/memory.grains")]
pub(crate) struct Doctor {
    /// Directory of the last backup, to see how far it is behind; also `backup` in grainstore.toml
    #[arg(long, value_name = "DIR")]
    backup: Option<PathBuf>,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    /// Worth knowing.
    Note,
    /// Something is wrong, and no data is lost.
    Warning,
    /// Stored bytes are damaged.
    Damage,
}

/// One finding: what is so, and what to do about it.
struct Finding {
    id: &'static str,
    weight: Weight,
    message: String,
    advice: Option<String>,
}

impl Finding {
    fn new(id: &'static str, weight: Weight, message: impl Into<String>) -> Self {
        Self {
            id,
            weight,
            message: message.into(),
            advice: None,
        }
    }

    fn advising(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }
}

impl Doctor {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let path = session.store_path().to_owned();
        let shown = format!("examining {}", path.display());
        let spinner = progress::spinner(&session.out, shown, progress::NOTHING_CHANGED);
        let examined = self.examine(session, &path);
        drop(spinner);
        let mut findings = examined?;
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.weight));
        show(&path, &findings, &mut session.out)?;
        let worst = findings.iter().map(|finding| finding.weight).max();
        Ok(match worst {
            None | Some(Weight::Note) => Exit::Done,
            Some(Weight::Warning) => Exit::Nothing,
            Some(Weight::Damage) => Exit::Damaged,
        })
    }

    fn examine(&self, session: &Session, path: &Path) -> anyhow::Result<Vec<Finding>> {
        let mut findings = Vec::new();
        match session.open_to_read() {
            Ok(store) => {
                // Without a record in the ledger, as a look at a store is no check of it.
                let report = store.maintenance()?.check_structure()?;
                findings.extend(of_report(&report));
                store::look(&store, &mut findings)?;
                findings.push(store::backup(&store, path, self.backup.as_deref())?);
                #[cfg(feature = "replica")]
                copies::look(&store, path, &mut findings)?;
            }
            Err(error) if error.code() == ErrorCode::StorageDamaged => {
                findings.extend(of_report(&unopened(path, &error)?));
            }
            Err(error) => return Err(error.into()),
        }
        surroundings::look(path, &mut findings);
        Ok(findings)
    }
}

/// Returns the findings of a check, each with what to do if anything can be done.
fn of_report(report: &Report) -> impl Iterator<Item = Finding> {
    report.findings.iter().map(|finding| {
        let weight = match finding.severity {
            Severity::Damage => Weight::Damage,
            Severity::Warning => Weight::Warning,
        };
        let said = Finding::new(finding.id, weight, &finding.message);
        match advice(finding.id) {
            Some(advice) => said.advising(advice),
            None => said,
        }
    })
}

/// Writes the findings, the worst first, and a summary.
fn show(path: &Path, findings: &[Finding], out: &mut Output) -> std::io::Result<()> {
    if out.is_json() {
        let findings = findings.iter().map(|finding| {
            json!({
                "id": finding.id,
                "severity": name(finding.weight),
                "message": finding.message,
                "advice": finding.advice,
            })
        });
        let findings: Vec<Value> = findings.collect();
        let path = path.display().to_string();
        return out.json(&json!({ "path": path, "findings": findings }));
    }
    for finding in findings {
        let severity = name(finding.weight);
        out.line(format!("{severity}[{}]: {}", finding.id, finding.message))?;
        if let Some(advice) = &finding.advice {
            out.line(format!("  {advice}"))?;
        }
    }
    let count = |weight| findings.iter().filter(|it| it.weight == weight).count();
    let (damage, warnings) = (count(Weight::Damage), count(Weight::Warning));
    let path = path.display();
    out.line(match (damage, warnings) {
        (0, 0) => format!("{path}: nothing is wrong"),
        (0, _) => format!("{path}: warnings, no data lost"),
        _ => format!("{path}: damaged"),
    })
}

const fn name(weight: Weight) -> &'static str {
    match weight {
        Weight::Note => "note",
        Weight::Warning => "warning",
        Weight::Damage => "damage",
    }
}

/// Returns the error of something beside the store as a finding.
fn failed(id: &'static str, error: &(dyn std::error::Error + 'static)) -> Finding {
    let error = CliError::of(error);
    let finding = Finding::new(id, Weight::Warning, error.to_string());
    match error.hint() {
        Some(hint) => finding.advising(hint),
        None => finding,
    }
}
