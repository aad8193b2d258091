//! `grainstore policy preset`, `show`, `set` and `report`: the regimes of a store.
//!
//! A regime is a set of clauses from a law; the policy of a single grain is in the grain itself.

use anyhow::Context;
use clap::Subcommand;
use grainstore::ErrorCode;
use grainstore::policy::Regime;
use serde_json::json;

use super::regime_args::{RegimeArgs, regimes_json, report_gaps};
use super::report::{markdown, report_json};
use crate::args::AuthorizationArgs;
use crate::error::{CliError, Exit};
use crate::output::Output;
use crate::session::Session;

#[derive(Debug, Subcommand)]
pub(super) enum RegimeAction {
    /// Print a preset as a document, to be used as it is or changed
    #[command(after_long_help = "Example:
  grainstore policy preset gdpr > own.toml")]
    Preset {
        /// Preset: gdpr, hipaa, sox, ccpa, lgpd or pci; omit it to list the presets
        #[arg(value_parser = Regime::PRESETS)]
        name: Option<String>,
    },
    /// Show the regimes in force, and their clauses that are not enforced
    Show,
    /// Set the regimes in force, replacing the previous ones
    ///
    /// Grains that are already stored are not affected.
    #[command(after_long_help = r#"Example:
  grainstore policy set --preset hipaa --reason "a new clinic" --authority "the DPO""#)]
    Set {
        #[command(flatten)]
        regimes: RegimeArgs,
        /// Remove all regimes
        #[arg(long, conflicts_with_all = ["preset", "policy"])]
        none: bool,
        #[command(flatten)]
        authorization: AuthorizationArgs,
    },
    /// Report on GDPR, HIPAA and CCPA, article by article (OMS Appendix D)
    ///
    /// Prints Markdown, or JSON with --json. Reads every grain.
    Report,
}

impl RegimeAction {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        match self {
            Self::Preset { name } => preset(name.as_deref(), &mut session.out),
            Self::Show => {
                let regimes = session.open_to_read()?.admin()?.regimes();
                show(regimes.iter(), &mut session.out)?;
                let is_any = regimes.iter().next().is_some();
                if !is_any {
                    session.out.note("no regime is in force: `grainstore policy preset` lists them, `policy set` sets some");
                }
                Ok(Exit::done_if(is_any))
            }
            Self::Set {
                regimes,
                none,
                authorization,
            } => {
                if regimes.is_empty() && !none {
                    let message = "pass --preset or --policy, or --none to remove all regimes";
                    return Err(CliError::new(ErrorCode::Usage, message).into());
                }
                let regimes = regimes.read()?;
                let store = session.open()?;
                store
                    .admin()?
                    .set_regimes(regimes, authorization.as_given())?;
                show(store.admin()?.regimes().iter(), &mut session.out)?;
                Ok(Exit::Done)
            }
            Self::Report => {
                let report = session.open_to_read()?.admin()?.policy_report()?;
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
    report_gaps(regimes, out);
    Ok(())
}
