use clap::Args;
use grainstore::policy::Regime;
use serde_json::{Value, json};

use crate::error::Problem;
use crate::output::Output;

/// Which regimes a store holds to: presets, and documents of one's own.
#[derive(Debug, Args)]
pub(crate) struct Chosen {
    /// A preset: gdpr, hipaa, sox, ccpa, lgpd or pci; may be given several times
    #[arg(long, value_name = "NAME", value_parser = Regime::PRESETS)]
    preset: Vec<String>,
    /// A document of your own: a preset, changed (`grainstore policy preset NAME` prints one)
    #[arg(long, value_name = "FILE")]
    policy: Vec<String>,
}

impl Chosen {
    pub(super) fn is_empty(&self) -> bool {
        self.preset.is_empty() && self.policy.is_empty()
    }

    /// Reads what was chosen.
    ///
    /// # Errors
    /// `ERR_POLICY`, `ERR_IO`.
    pub(crate) fn regimes(&self) -> anyhow::Result<Vec<Regime>> {
        let presets = self.preset.iter().filter_map(|name| Regime::preset(name));
        let mut regimes: Vec<_> = presets.collect();
        for path in &self.policy {
            let text =
                std::fs::read_to_string(path).map_err(|error| Problem::of(&error).at(path))?;
            let regime = Regime::parse(&text);
            regimes.push(regime.map_err(|error| Problem::of(&error).at(path))?);
        }
        Ok(regimes)
    }
}

/// Tells what regimes ask for and nothing does yet: nobody must believe that it is done.
pub(crate) fn tell_gaps<'a>(regimes: impl Iterator<Item = &'a Regime>, out: &Output) {
    for regime in regimes {
        for (clause, missing) in regime.gaps() {
            out.note(format!(
                "not enforced: {}/{} ({}) asks for {missing}, which this version does not do",
                regime.name(),
                clause.id,
                clause.cites
            ));
        }
    }
}

/// Returns regimes as JSON, with what nothing does yet.
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
