//! `grainstore hold`: legal holds on single grains.
//!
//! A hold in the invalidation policy of a grain itself is lifted here too.

use clap::{Args, Subcommand};
use grainstore::store::Hold;
use serde_json::{Map, Value, json};

use crate::args::address::{self, short};
use crate::args::{AuthorizationArgs, Listing};
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
    List(List),
}

#[derive(Debug, Args)]
struct List {
    #[command(flatten)]
    listing: Listing,
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
            Action::List(list) => list.run(session),
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

impl List {
    fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let holds = session.open_to_read()?.admin()?.holds();
        if let Some(mut rows) = self.listing.rows(&mut session.out, &FIELDS) {
            for hold in &holds {
                rows.add(&record(hold), || hold_json(hold))?;
            }
            rows.end()?;
        } else if session.out.is_json() {
            let holds: Vec<_> = holds.iter().map(hold_json).collect();
            session.out.json(&json!({ "holds": holds }))?;
        } else {
            holds
                .iter()
                .try_for_each(|hold| session.out.line(line(hold)))?;
        }
        Ok(Exit::done_if(!holds.is_empty()))
    }
}

fn line(hold: &Hold) -> String {
    let (reason, authority) = (&hold.authorization.reason, &hold.authorization.authority);
    let (address, since) = (short(&hold.address), hold.since);
    format!("{address}  {since}  {authority}: {reason}")
}

/// Returns the fields of a hold, with its time for people.
fn record(hold: &Hold) -> Map<String, Value> {
    let (reason, authority) = (&hold.authorization.reason, &hold.authorization.authority);
    let fields = [
        ("address", hold.address.to_string()),
        ("since", hold.since.to_string()),
        ("authority", authority.clone()),
        ("reason", reason.clone()),
    ];
    let fields = fields.into_iter();
    fields
        .map(|(name, text)| (name.to_owned(), json!(text)))
        .collect()
}

/// The fields of a list that names none.
const FIELDS: [&str; 4] = ["address", "since", "authority", "reason"];

fn hold_json(hold: &Hold) -> Value {
    json!({
        "address": hold.address.to_string(),
        "since": hold.since.ms(),
        "reason": hold.authorization.reason,
        "authority": hold.authorization.authority,
    })
}
