use clap::{Args, Subcommand};
use grainstore::store::Required;
use serde_json::json;

use super::consent_erasure::{Run, due};
use super::consent_list::List;
use crate::args::Decision;
use crate::error::Exit;
use crate::session::Session;

/// Find consents, carry out withdrawn ones, and demand consent where it must be given
///
/// A Consent grain with is_withdrawal takes effect as soon as it is stored: what rests on the
/// consent is no longer found, and nothing more that rests on it is stored. What is there is due
/// for erasure within a day, or as `deadline` says.
///
/// Example: grainstore consent run --reason "withdrawn by the user" --authority "the DPO"
#[derive(Debug, Args)]
pub(crate) struct ConsentTool {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Show consents and withdrawals, those that have ended too; exit 1 if there is none
    ///
    /// With --at: the grants that were in force then. A grant begins with its valid_from, else with
    /// its creation, and ends with its valid_to, or when it was withdrawn or replaced here.
    List(List),
    /// Show what is to be erased, by when, and what holds keep
    Due,
    /// Erase what is due, all of it; exit 1 if holds or retention keep a part
    Run(Run),
    /// Say whether a namespace demands consent, or show which do
    Require(Require),
    /// Say within how many hours a withdrawal is carried out: 24 unless said, 720 at most
    Deadline(Deadline),
}

#[derive(Debug, Args)]
struct Require {
    /// The namespace, with those inside it; none to show what is demanded
    #[arg(requires = "reason", requires = "authority")]
    namespace: Option<String>,
    /// Store grains only under a consent with `store` in its scope
    #[arg(long, requires = "namespace")]
    write: bool,
    /// Show grains only under a consent with `retrieve` in its scope
    #[arg(long, requires = "namespace")]
    read: bool,
    /// Why, in words; kept for good
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Who decided it: a person, an office, a DID; kept for good
    #[arg(long, value_name = "WHO")]
    authority: Option<String>,
}

#[derive(Debug, Args)]
struct Deadline {
    /// The hours
    hours: u32,
    #[command(flatten)]
    decision: Decision,
}

impl ConsentTool {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        match self.action {
            Action::List(list) => list.run(session),
            Action::Due => due(session),
            Action::Run(run) => run.run(session),
            Action::Require(require) => require.run(session),
            Action::Deadline(Deadline { hours, decision }) => {
                let store = session.open()?;
                store.set_consent_deadline(hours, decision.mandate())?;
                session.done("deadline", format!("{hours} hours"))
            }
        }
    }
}

impl Require {
    fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open()?;
        if let (Some(namespace), Some(reason), Some(authority)) =
            (&self.namespace, &self.reason, &self.authority)
        {
            let required = Required {
                read: self.read,
                write: self.write,
            };
            let mandate = grainstore::store::Mandate { reason, authority };
            store.require_consent(namespace, required, mandate)?;
        }
        let required = store.required_consent();
        if session.out.is_json() {
            let demands: Vec<_> = required
                .iter()
                .map(|(name, what)| json!({ "namespace": name, "read": what.read, "write": what.write }))
                .collect();
            session.out.json(&json!({ "required": demands }))?;
            return Ok(Exit::Done);
        }
        for (name, what) in &required {
            let words = match (what.read, what.write) {
                (true, true) => "read and write",
                (true, false) => "read",
                (false, true) => "write",
                (false, false) => "nothing",
            };
            session.out.line(format!("{name}  {words}"))?;
        }
        Ok(Exit::done_if(!required.is_empty()))
    }
}
