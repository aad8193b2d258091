//! The report of a check: its findings, each with a name for scripts and a severity.

use std::fmt;

use crate::ledger;

/// The result of a check: the sound entries, and the findings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// The number of sound ledger entries.
    pub entries: u64,
    /// The number of sound grains.
    pub grains: u64,
    /// The findings, in the order of the ledger.
    pub findings: Vec<Finding>,
    /// The number of entries of the note that the ledger was compared with. `None` if it is
    /// unanchored: that it was not rolled back, cut short or rewritten as a whole is then unknown.
    pub anchor: Option<u64>,
}

/// A fault or oddity of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// A stable name, for scripts.
    pub id: &'static str,
    /// The severity.
    pub severity: Severity,
    /// The description, with the place.
    pub message: String,
}

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Unusual, without loss of data.
    Warning,
    /// Written data cannot be read, or a derived file is wrong.
    Damage,
}

impl Report {
    /// Returns the worst severity found.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }

    pub(crate) fn find(
        &mut self,
        id: &'static str,
        severity: Severity,
        message: impl fmt::Display,
    ) {
        self.findings.push(Finding {
            id,
            severity,
            message: message.to_string(),
        });
    }

    pub(super) fn note(&mut self, id: &'static str, severity: Severity, messages: Vec<String>) {
        for message in messages {
            self.find(id, severity, message);
        }
    }

    pub(super) fn ledger(&mut self, verification: &ledger::LedgerVerification) {
        self.entries = verification.entries;
        for finding in &verification.findings {
            self.find("ledger-damaged", Severity::Damage, finding);
        }
    }
}
