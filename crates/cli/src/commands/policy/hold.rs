use clap::{Args, Subcommand};
use grainstore::store::Hold;
use serde_json::json;

use crate::args::Decision;
use crate::args::address::{self, short};
use crate::error::Exit;
use crate::session::Session;

/// Place, lift and list legal holds
///
/// A held grain is not replaced, contradicted, deleted or erased, whatever else allows it: neither
/// a withdrawn consent nor the end of its retention lifts a hold.
///
/// Example: grainstore hold place 3288d0d4 --reason "Doe v. Acme" --authority counsel
#[derive(Debug, Args)]
pub(crate) struct HoldTool {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Keep a grain as it is from now on
    Place(Change),
    /// Lift every hold on a grain, that of its own policy too
    Lift(Change),
    /// Show the holds that stand
    List,
}

#[derive(Debug, Args)]
struct Change {
    /// The address of the grain, whole or its first 8 to 16 digits
    address: String,
    #[command(flatten)]
    decision: Decision,
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
        store.place_hold(&address, self.decision.mandate())?;
        session.done("held", address)
    }

    fn lift(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open()?;
        let address = address::resolve(&store, &self.address)?;
        if store.lift_hold(&address, self.decision.mandate())? {
            return session.done("lifted", address);
        }
        session.out.note("nothing holds this grain");
        Ok(Exit::Nothing)
    }
}

fn list(session: &mut Session) -> anyhow::Result<Exit> {
    let holds = session.open()?.holds();
    if session.out.is_json() {
        let holds: Vec<_> = holds.iter().map(hold_json).collect();
        session.out.json(&json!({ "holds": holds }))?;
        return Ok(Exit::Done);
    }
    for hold in &holds {
        let Hold {
            address,
            since,
            decided,
        } = hold;
        let (reason, authority) = (&decided.reason, &decided.authority);
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
        "reason": hold.decided.reason,
        "authority": hold.decided.authority,
    })
}
