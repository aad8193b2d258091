//! `grainstore check`: integrity of the files, and repair of those that are derived.
//!
//! The ledger is never repaired: damage in it is reported, and a backup is restored.

use grainstore::ErrorCode;
use std::path::Path;

use clap::Args;
use grainstore::recovery::verify_damaged;
use grainstore::store::{Finding, Report, Severity};
use serde_json::{Value, json};

use crate::commands::audit::read_note;
use crate::error::{CliError, Exit};
use crate::output::{Output, printable_lines, progress};
use crate::session::Session;

/// Check the integrity of the store
///
/// Checks the structure of the store: manifest, ledger segments and newest entries, index
/// directories and text index. With --deep, also verifies the frames, bodies and hash chain of the
/// ledger, the address and validity of every grain, and that the index agrees with the ledger. The
/// check changes nothing, except that opening the store sets aside incomplete writes of a crash, and
/// that the check itself is recorded where the ledger is sound. A check without --since is unanchored: it cannot tell that the
/// whole store was rolled back.
/// Exits with 0 if no problem is found, 1 for warnings, 4 for damage.
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Read every byte, and recompute every index row
    #[arg(long)]
    deep: bool,
    /// Delete the derived files (index and text index) first, and rebuild them from the ledger,
    /// which is not modified
    #[arg(long)]
    repair: bool,
    /// Compare the ledger with this checkpoint, kept elsewhere: a note, or output of `checkpoint
    /// create`. It finds a rollback, a cut and a rewritten past, which nothing inside a store can
    #[arg(long, value_name = "FILE")]
    since: Option<String>,
}

impl Check {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let since = self.since.as_deref();
        let since = since
            .map(|file| read_note(file, &session.resolver()))
            .transpose()?;
        let path = session.store_path().display();
        let opened = if self.repair {
            let what = format!("rebuilding the indexes of {path}");
            let spinner = progress::spinner(&session.out, what, progress::NOTHING_LOST);
            let repaired = session.repair();
            drop(spinner);
            repaired
        } else {
            session.open_to_read()
        };
        let (report, repaired) = match opened {
            Ok(store) => {
                let what = format!("checking {path}");
                let spinner = progress::spinner(&session.out, what, progress::NOTHING_CHANGED);
                let maintenance = store.maintenance()?;
                let report = match self.deep {
                    true => maintenance.check_on_record(since.as_ref()),
                    false => maintenance.check_structure_on_record(since.as_ref()),
                };
                drop(spinner);
                (report?, self.repair)
            }
            Err(error) if error.code() == ErrorCode::StorageDamaged => {
                (unopened(session.store_path(), &error)?, false)
            }
            Err(error) => return Err(error.into()),
        };
        if repaired && !session.out.is_json() {
            let line = "index and text index deleted and rebuilt from the ledger";
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

/// Checks the ledger of a store that does not open; every other file is derived from it.
pub(super) fn unopened(path: &Path, error: &CliError) -> anyhow::Result<Report> {
    let mut report = verify_damaged(path)?;
    report.findings.push(Finding {
        id: "store-closed",
        severity: Severity::Damage,
        message: format!("the store does not open: {error}"),
    });
    Ok(report)
}

/// Writes the findings, and a summary.
fn show(report: &Report, repaired: bool, out: &mut Output) -> std::io::Result<()> {
    if out.is_json() {
        let findings = report.findings.iter().map(|finding| {
            json!({
                "id": finding.id,
                "severity": severity(finding.severity),
                "message": finding.message,
                "advice": advice(finding.id),
            })
        });
        let findings: Vec<Value> = findings.collect();
        return out.json(&json!({
            "entries": report.entries,
            "grains": report.grains,
            "repaired": repaired,
            "anchor": report.anchor,
            "findings": findings,
        }));
    }
    for finding in &report.findings {
        let severity = severity(finding.severity);
        let message = printable_lines(&finding.message);
        out.line(format!("{severity}[{}]: {message}", finding.id))?;
    }
    let mut advised: Vec<_> = report
        .findings
        .iter()
        .filter_map(|finding| advice(finding.id))
        .collect();
    advised.sort_unstable();
    advised.dedup();
    for advice in advised {
        out.line(format!("  {advice}"))?;
    }
    let verdict = match report.worst() {
        None => "no problems found",
        Some(Severity::Warning) => "warnings, no data lost",
        Some(Severity::Damage) => "damaged",
    };
    let verdict = match report.anchor {
        Some(entries) => format!("{verdict}, extends the checkpoint of {entries} entries"),
        None => format!("{verdict}, unanchored"),
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

/// Returns what can be done about a finding of a check.
pub(super) fn advice(id: &str) -> Option<&'static str> {
    Some(match id {
        "index-damaged" | "index-differs" | "text-damaged" => {
            "`grainstore check --repair` builds index and text index anew from the ledger"
        }
        "text-behind" => "`grainstore compact`, or any command that writes, brings it to the end",
        "withdrawal-lost" => "`grainstore check --repair` gives the withdrawal its effect",
        "vault-copy" => {
            "`grainstore vault rotate`, or any change of keys, puts the copy in its place"
        }
        "seal-waits" => "any command that changes the store with the master key completes it",
        "manifest-damaged" | "manifest-copy" => {
            "the next command that opens the store to write makes MANIFEST and its copy the same again"
        }
        "state-differs" => "run the command again: nothing that is stored is wrong",
        "torn-tail" => "`grainstore compact` removes the file; nothing acknowledged is in it",
        "erasure-waits" => "free some room on the disk, then `grainstore compact`",
        "embedder-failed" | "grain-twice" | "namespace-long" | "text-unavailable" => return None,
        "vault-damaged" => "put back the copy of `vault/` that is kept elsewhere",
        _ => {
            "what is damaged in the ledger: `grainstore check --deep` lists it, `grainstore restore BACKUP \
             NEW` takes it from a backup, `grainstore recover DIR NEW` brings out everything that still \
             proves itself"
        }
    })
}

const fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Warning => "warning",
        Severity::Damage => "damage",
    }
}
