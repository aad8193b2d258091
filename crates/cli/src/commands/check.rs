use std::path::Path;

use clap::Args;
use grainstore::ErrorCode;
use grainstore::store::{Finding, Report, Severity, verify_damaged};
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::output::Output;
use crate::printable::printable_lines;
use crate::problem::Problem;
use crate::progress;
use crate::session::Session;

/// Check that the files of the store are what was written
///
/// Looks at how they hold together: the manifest, the ledger's segments and its newest entries,
/// the directories of the index, the text index. With --deep it proves the ledger's frames, bodies
/// and hash chain, every grain's address and form, and that the index says what the ledger says.
/// Changes nothing, but like every command it sets aside what a crash left unfinished. Exit 0 if
/// all is well, 1 if there are warnings, 4 if there is damage.
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Read every byte, and compute every row of the index anew
    #[arg(long)]
    deep: bool,
    /// First delete what is derived (index and text index) and build it anew from the ledger,
    /// which is not touched
    #[arg(long)]
    repair: bool,
}

impl Check {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let path = session.store_path().display();
        let opened = if self.repair {
            let what = format!("building anew what is derived in {path}");
            let spinner = progress::spinner(&session.out, what);
            let repaired = session.repair();
            spinner.finish_and_clear();
            repaired
        } else {
            session.open()
        };
        let (report, repaired) = match opened {
            Ok(store) => {
                let spinner = progress::spinner(&session.out, format!("checking {path}"));
                let report = match self.deep {
                    true => store.check(),
                    false => store.check_structure(),
                };
                spinner.finish_and_clear();
                (report?, self.repair)
            }
            Err(problem) if problem.code() == ErrorCode::StorageDamaged => {
                (unopened(session.store_path(), &problem)?, false)
            }
            Err(problem) => return Err(problem.into()),
        };
        if repaired && !session.out.is_json() {
            let line = "index and text index deleted and built anew from the ledger";
            session.out.line(line)?;
        }
        show(&report, repaired, &mut session.out)?;
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
fn show(report: &Report, repaired: bool, out: &mut Output) -> std::io::Result<()> {
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
            "repaired": repaired,
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
