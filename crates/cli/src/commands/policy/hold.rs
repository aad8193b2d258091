//! `grainstore hold`: legal holds on single grains.
//!
//! A hold in the invalidation policy of a grain itself is lifted here too.

use clap::{Args, Subcommand};
use grainstore::store::Hold;
use serde_json::json;

use crate::args::AuthorizationArgs;
use crate::args::address::{self, short};
use crate::error::Exit;
use crate::session::Session;

/// Place, lift and list legal holds
///
/// A grain under a hold cannot be superseded, contradicted, deleted or erased. A hold outranks every
/// other rule: neither a withdrawn consent nor the end of a retention period lifts it.
#[derive(Debug, Args)]
#[command(after_long_help = r#"Example:
  grainstore hold place 3288d0d4 --reason "Doe v. Acme" --authority counsel"#)]
pub(crate) struct HoldTool {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Place a hold on a grain
    Place(Change),
    /// Lift every hold on a grain, including one in its own policy
    Lift(Change),
    /// List the holds in force
    List,
}

#[derive(Debug, Args)]
struct Change {
    /// Address of the grain, or its first digits, 4 or more
    address: String,
    #[command(flatten)]
    authorization: AuthorizationArgs,
}

impl HoldTool {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        match self.action {
            Action::Place(change) => change.place(session),
            Action::Lift(change) => change.lift(session),
            Action::List => list(session),
        }
    }
}

impl Change {
    fn place(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open()?;
        let address = address::resolve(&store, &self.address)?;
        store
            .admin()?
            .place_hold(&address, self.authorization.as_given())?;
        session.report_change("held", address)
    }

    fn lift(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open()?;
        let address = address::resolve(&store, &self.address)?;
        if store
            .admin()?
            .lift_hold(&address, self.authorization.as_given())?
        {
            return session.report_change("lifted", address);
        }
        session.out.note("no hold on this grain");
        Ok(Exit::Nothing)
    }
}

fn list(session: &mut Session) -> anyhow::Result<Exit> {
    let holds = session.open_to_read()?.admin()?.holds();
    if session.out.is_json() {
        let holds: Vec<_> = holds.iter().map(hold_json).collect();
        session.out.json(&json!({ "holds": holds }))?;
        return Ok(Exit::Done);
    }
    for hold in &holds {
        let Hold {
            address,
            since,
            authorization,
        } = hold;
        let (reason, authority) = (&authorization.reason, &authorization.authority);
        let address = short(address);
        session
            .out
            .line(format!("{address}  {since}  {authority}: {reason}"))?;
    }
    Ok(Exit::done_if(!holds.is_empty()))
}

fn hold_json(hold: &Hold) -> serde_json::Value {
    json!({
        "address": hold.address.to_string(),
        "since": hold.since.ms(),
        "reason": hold.authorization.reason,
        "authority": hold.authorization.authority,
    })
}
