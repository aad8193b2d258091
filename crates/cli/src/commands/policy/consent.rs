//! `grainstore consent`: the subcommands, and the rules that the operator sets: which namespaces
//! require consent, and how soon withdrawals are executed.

use clap::{Args, Subcommand};
use grainstore::store::RequiredConsent;
use serde_json::json;

use super::consent_erasure::{Run, due};
use super::consent_list::List;
use crate::args::AuthorizationArgs;
use crate::error::Exit;
use crate::session::Session;

/// Manage consents: list them, execute withdrawals, require consent in namespaces
///
/// A Consent grain with is_withdrawal takes effect as soon as it is stored: grains that are based
/// on the consent are no longer found, and no further ones are stored. The existing ones are due
/// for erasure within 24 hours, or within the time set with `deadline`.
#[derive(Debug, Args)]
#[command(after_long_help = r#"Example:
  grainstore consent run --reason "withdrawn by the user" --authority "the DPO" --yes"#)]
pub(crate) struct ConsentTool {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List consents and withdrawals, including those that have ended; exit 1 if there is none
    ///
    /// With --at, list the grants that were in force at that time. A grant begins at its valid_from,
    /// or else at its creation. It ends at its valid_to, or when it was withdrawn or replaced.
    List(List),
    /// List grains due for erasure with their deadlines, those kept by holds, and locked persons of whom
    /// some may be due
    Due,
    /// Erase all grains that are due; exit 1 if holds or retention keep some of them, or locked persons
    /// wait: what is due of them is erased when they are unlocked
    Run(Run),
    /// Require consent in a namespace, or list the namespaces that require it
    Require(Require),
    /// Set the time limit for executing withdrawals, in hours: 24 by default, at most 720
    Deadline(Deadline),
}

#[derive(Debug, Args)]
struct Require {
    /// Namespace, with the namespaces inside it; omit it to list all requirements
    #[arg(requires = "reason", requires = "authority")]
    namespace: Option<String>,
    /// Storing a grain requires a consent with `store` in its scope
    #[arg(long, requires = "namespace")]
    write: bool,
    /// Reading a grain requires a consent with `retrieve` in its scope
    #[arg(long, requires = "namespace")]
    read: bool,
    /// Reason for the change; recorded permanently
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Authority for the change: a person, an office or a DID; recorded permanently
    #[arg(long, value_name = "NAME")]
    authority: Option<String>,
}

#[derive(Debug, Args)]
struct Deadline {
    /// Time limit in hours
    hours: u32,
    #[command(flatten)]
    authorization: AuthorizationArgs,
}

impl ConsentTool {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        match self.action {
            Action::List(list) => list.run(session),
            Action::Due => due(session),
            Action::Run(run) => run.run(session),
            Action::Require(require) => require.run(session),
            Action::Deadline(Deadline {
                hours,
                authorization,
            }) => {
                let store = session.open()?;
                store
                    .admin()?
                    .set_consent_deadline(hours, authorization.as_given())?;
                session.report_change("deadline", format!("{hours} hours"))
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
            let required = RequiredConsent {
                read: self.read,
                write: self.write,
            };
            let mandate = grainstore::store::Authorization { reason, authority };
            store
                .admin()?
                .require_consent(namespace, required, mandate)?;
        }
        let required = store.admin()?.required_consent();
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
                (false, false) => "none",
            };
            session.out.line(format!("{name}  {words}"))?;
        }
        Ok(Exit::done_if(!required.is_empty()))
    }
}
