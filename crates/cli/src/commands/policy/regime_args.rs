//! The choice of regimes as arguments, and regimes as output; for `init` and `policy`.
//!
//! A clause that this version does not enforce is always reported.

use clap::Args;
use grainstore::policy::Regime;
use serde_json::{Value, json};

use crate::error::CliError;
use crate::output::Output;

/// The regimes of a store: presets, and policy documents.
#[derive(Debug, Args)]
pub(crate) struct RegimeArgs {
    /// Compliance preset: gdpr, hipaa, sox, ccpa, lgpd or pci; may be repeated
    #[arg(long, value_name = "NAME", value_parser = Regime::PRESETS)]
    preset: Vec<String>,
    /// Policy document; `grainstore policy preset NAME` prints one to start from; may be repeated
    #[arg(long, value_name = "FILE")]
    policy: Vec<String>,
}

impl RegimeArgs {
    pub(super) fn is_empty(&self) -> bool {
        self.preset.is_empty() && self.policy.is_empty()
    }

    /// Returns the regimes named by the arguments.
    ///
    /// # Errors
    /// `ERR_POLICY`, `ERR_IO`.
    pub(crate) fn read(&self) -> anyhow::Result<Vec<Regime>> {
        let presets = self.preset.iter().filter_map(|name| Regime::preset(name));
        let mut regimes: Vec<_> = presets.collect();
        for path in &self.policy {
            let text =
                std::fs::read_to_string(path).map_err(|error| CliError::of(&error).at(path))?;
            let regime = Regime::parse(&text);
            regimes.push(regime.map_err(|error| CliError::of(&error).at(path))?);
        }
        Ok(regimes)
    }
}

/// Reports each clause that this version does not enforce, so that no one relies on it.
pub(crate) fn report_gaps<'a>(regimes: impl Iterator<Item = &'a Regime>, out: &Output) {
    for regime in regimes {
        for (clause, missing) in regime.gaps() {
            out.note(format!(
                "not enforced: {}/{} ({}) requires {missing}, which this version does not support",
                regime.name(),
                clause.id,
                clause.cites
            ));
        }
    }
}

/// Returns regimes as JSON, with the clauses that are not enforced.
pub(crate) fn regimes_json<'a>(regimes: impl Iterator<Item = &'a Regime>) -> Value {
    let regime_json = |regime: &Regime| {
        let clauses = regime.clauses().iter().map(|clause| {
            json!({
                "id": clause.id,
                "cites": clause.cites,
                "says": clause.says,
                "enforced": clause.missing().is_none(),
                "missing": clause.missing(),
            })
        });
        json!({
            "name": regime.name(),
            "title": regime.title(),
            "clauses": clauses.collect::<Vec<_>>(),
        })
    };
    regimes.map(regime_json).collect()
}
