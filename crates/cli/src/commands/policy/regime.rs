use anyhow::Context;
use clap::Subcommand;
use grainstore::policy::Regime;
use serde_json::json;

use super::regime_args::{Chosen, regimes_json, tell_gaps};
use super::report::{markdown, report_json};
use crate::args::Decision;
use crate::error::{Exit, Problem};
use crate::output::Output;
use crate::session::Session;

#[derive(Debug, Subcommand)]
pub(super) enum RegimeAction {
    /// Print a preset as its document: read it, copy it, change it
    ///
    /// Example: grainstore policy preset gdpr > own.toml
    Preset {
        /// gdpr, hipaa, sox, ccpa, lgpd or pci; without it, their list
        #[arg(value_parser = Regime::PRESETS)]
        name: Option<String>,
    },
    /// Show the regimes in force, and what of them nothing does yet
    Show,
    /// Put regimes in force, in place of those before
    ///
    /// What is stored already stays. Example:
    /// grainstore policy set --preset hipaa --reason "a new clinic" --authority "the DPO"
    Set {
        #[command(flatten)]
        chosen: Chosen,
        /// Lift all of them
        #[arg(long, conflicts_with_all = ["preset", "policy"])]
        none: bool,
        #[command(flatten)]
        decision: Decision,
    },
    /// Say how the store stands to GDPR, HIPAA and CCPA, article by article (OMS Appendix D)
    ///
    /// Markdown, or JSON with --json. Reads every grain.
    Report,
}

impl RegimeAction {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        match self {
            Self::Preset { name } => preset(name.as_deref(), &mut session.out),
            Self::Show => {
                let regimes = session.open()?.regimes();
                show(regimes.iter(), &mut session.out)?;
                Ok(Exit::done_if(regimes.iter().next().is_some()))
            }
            Self::Set {
                chosen,
                none,
                decision,
            } => {
                if chosen.is_empty() && !none {
                    let message = "name regimes with --preset or --policy, or lift all with --none";
                    return Err(Problem::new("ERR_USAGE", message).into());
                }
                let regimes = chosen.regimes()?;
                let store = session.open()?;
                store.set_regimes(regimes, decision.mandate())?;
                show(store.regimes().iter(), &mut session.out)?;
                Ok(Exit::Done)
            }
            Self::Report => {
                let report = session.open()?.policy_report()?;
                if session.out.is_json() {
                    session.out.json(&report_json(&report))?;
                } else {
                    for line in markdown(&report) {
                        session.out.line(line)?;
                    }
                }
                Ok(Exit::Done)
            }
        }
    }
}

fn preset(name: Option<&str>, out: &mut Output) -> anyhow::Result<Exit> {
    let Some(name) = name else {
        let presets = Regime::PRESETS
            .iter()
            .filter_map(|name| Regime::preset(name));
        let presets: Vec<_> = presets.collect();
        show(presets.iter(), out)?;
        return Ok(Exit::Done);
    };
    let regime = Regime::preset(name).context("the name was checked")?;
    if out.is_json() {
        out.json(&json!({ "regimes": regimes_json([&regime].into_iter()) }))?;
    } else {
        for line in regime.text().lines() {
            out.line(line)?;
        }
    }
    Ok(Exit::Done)
}

fn show<'a>(
    regimes: impl Iterator<Item = &'a Regime> + Clone,
    out: &mut Output,
) -> std::io::Result<()> {
    if out.is_json() {
        return out.json(&json!({ "regimes": regimes_json(regimes) }));
    }
    for regime in regimes.clone() {
        out.line(format!("{:8}  {}", regime.name(), regime.title()))?;
    }
    out.flush()?;
    tell_gaps(regimes, out);
    Ok(())
}
