use anyhow::Context;
use clap::{Args, Subcommand};
use grainstore::ErrorCode;
use grainstore::policy::Regime;
use grainstore::store::{ClauseReport, PolicyReport};
use serde_json::{Value, json};

use super::mandate::Decision;
use crate::exit::Exit;
use crate::output::Output;
use crate::problem::Problem;
use crate::session::Session;

/// Which regimes a store holds to: presets, and documents of one's own.
#[derive(Debug, Args)]
pub(super) struct Chosen {
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
    pub(super) fn regimes(&self) -> anyhow::Result<Vec<Regime>> {
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
pub(super) fn tell_gaps<'a>(regimes: impl Iterator<Item = &'a Regime>, out: &Output) {
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
pub(super) fn regimes_json<'a>(regimes: impl Iterator<Item = &'a Regime>) -> Value {
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
                    return Err(Problem::new(ErrorCode::Usage, message).into());
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

fn report_json(report: &PolicyReport) -> Value {
    let articles = report.articles.iter().map(|article| {
        let shown = article.shown_by.iter();
        let shown = shown.map(|name| (*name, report.counts.get(name).copied().unwrap_or(0)));
        json!({
            "law": article.law,
            "article": article.article,
            "about": article.about,
            "held": article.held.name(),
            "how": article.how,
            "counts": shown.collect::<std::collections::BTreeMap<_, _>>(),
        })
    });
    let clauses = report.clauses.iter().map(|clause| {
        json!({
            "clause": clause.name,
            "cites": clause.cites,
            "says": clause.says,
            "missing": clause.missing,
            "broken_by": clause.broken_by,
        })
    });
    json!({
        "counts": report.counts,
        "articles": articles.collect::<Vec<_>>(),
        "clauses": clauses.collect::<Vec<_>>(),
    })
}

fn markdown(report: &PolicyReport) -> Vec<String> {
    let mut lines = vec![
        "# Policy report".to_owned(),
        String::new(),
        "| law | article | about | held | how | counts |".to_owned(),
        "| --- | --- | --- | --- | --- | --- |".to_owned(),
    ];
    for article in &report.articles {
        let counts = article.shown_by.iter();
        let counts = counts.map(|name| {
            let count = report.counts.get(name).copied().unwrap_or(0);
            format!("{name} {count}")
        });
        lines.push(format!(
            "| {} | {} | {} | {} | {} | {} |",
            article.law,
            article.article,
            article.about,
            article.held.name(),
            article.how,
            counts.collect::<Vec<_>>().join(", ")
        ));
    }
    if !report.clauses.is_empty() {
        lines.push(String::new());
        lines.push("| clause | cites | asks | held | broken by |".to_owned());
        lines.push("| --- | --- | --- | --- | --- |".to_owned());
        lines.extend(report.clauses.iter().map(clause_line));
    }
    lines
}

fn clause_line(clause: &ClauseReport) -> String {
    let held = match clause.missing {
        Some(missing) => format!("not enforced: no {missing} yet"),
        None => "enforced".to_owned(),
    };
    format!(
        "| {} | {} | {} | {held} | {} |",
        clause.name, clause.cites, clause.says, clause.broken_by
    )
}
