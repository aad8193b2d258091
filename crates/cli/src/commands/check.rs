use std::path::Path;

use clap::Args;
use grainstore::store::{Finding, Report, Severity, verify_damaged};
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::output::Output;
use crate::printable::printable_lines;
use crate::problem::Problem;
use crate::progress;
use crate::session::Session;

/// Read every byte of the store and compare it with what was written
///
/// Proves the ledger's frames, bodies and hash chain, every grain's address and form, and that
/// the index says what the ledger says. Changes nothing, but like every command it sets aside
/// what a crash left unfinished. Exit 0 if all is well, 1 if there are warnings, 4 if there is
/// damage.
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Read every byte: what a check always does in this version
    #[arg(long)]
    deep: bool,
}

impl Check {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let Self { deep: _ } = self;
        let report = match session.open() {
            Ok(store) => {
                let what = format!("checking {}", session.store_path().display());
                let spinner = progress::spinner(&session.out, what);
                let report = store.check();
                spinner.finish_and_clear();
                report?
            }
            Err(problem) if problem.code() == "ERR_STORAGE_DAMAGED" => {
                unopened(session.store_path(), &problem)?
            }
            Err(problem) => return Err(problem.into()),
        };
        show(&report, &mut session.out)?;
        Ok(match report.worst() {
            None => Exit::Done,
            Some(Severity::Warning) => Exit::Nothing,
            Some(Severity::Damage) => Exit::Damaged,
        })
    }
}

/// Checks a store that does not open: its ledger, which is the truth of all the rest.
fn unopened(path: &Path, problem: &Problem) -> anyhow::Result<Report> {
    let mut report = verify_damaged(path)?;
    report.findings.push(Finding {
        id: "store-closed",
        severity: Severity::Damage,
        message: format!("the store does not open: {problem}"),
    });
    Ok(report)
}

/// Writes what was looked at and what was found.
pub(super) fn show(report: &Report, out: &mut Output) -> std::io::Result<()> {
    if out.is_json() {
        let findings = report.findings.iter().map(|finding| {
            json!({
                "id": finding.id,
                "severity": severity(finding.severity),
                "message": finding.message,
            })
        });
        let findings: Vec<Value> = findings.collect();
        return out.json(&json!({
            "entries": report.entries,
            "grains": report.grains,
            "findings": findings,
        }));
    }
    for finding in &report.findings {
        let severity = severity(finding.severity);
        let message = printable_lines(&finding.message);
        out.line(format!("{severity}[{}]: {message}", finding.id))?;
    }
    let verdict = match report.worst() {
        None => "all is well",
        Some(Severity::Warning) => "nothing is lost",
        Some(Severity::Damage) => "damaged",
    };
    let noun = |count: u64, one, many| if count == 1 { one } else { many };
    out.line(format!(
        "{} {}, {} {}: {verdict}",
        report.entries,
        noun(report.entries, "entry", "entries"),
        report.grains,
        noun(report.grains, "grain", "grains"),
    ))
}

const fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Warning => "warning",
        Severity::Damage => "damage",
    }
}
