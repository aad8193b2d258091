//! `grainstore policy review`: the queue of grains and operations that a person must review.
//!
//! Clearing a review records the decision; it does not change the grain.

use clap::Subcommand;
use grainstore::ledger::EntryId;
use grainstore::store::Review;
use serde_json::{Value, json};

use crate::args::AuthorizationArgs;
use crate::args::address::short;
use crate::error::Exit;
use crate::session::Session;

#[derive(Debug, Subcommand)]
pub(super) enum ReviewAction {
    /// List open reviews by number
    List {
        /// Include cleared reviews
        #[arg(long)]
        all: bool,
    },
    /// Record that a person has reviewed an item
    Clear {
        /// Number of the review, as shown by `list`
        id: u64,
        #[command(flatten)]
        authorization: AuthorizationArgs,
    },
}

impl ReviewAction {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        match self {
            Self::List { all } => list(session, all),
            Self::Clear { id, authorization } => {
                if session
                    .open()?
                    .admin()?
                    .clear_review(EntryId::new(id), authorization.as_given())?
                {
                    return session.report_change("cleared", id);
                }
                session.out.note("the review is already cleared");
                Ok(Exit::Nothing)
            }
        }
    }
}

fn list(session: &mut Session, all: bool) -> anyhow::Result<Exit> {
    let mut reviews = session.open_to_read()?.admin()?.reviews()?;
    reviews.retain(|review| all || review.cleared.is_none());
    if session.out.is_json() {
        let reviews: Vec<_> = reviews.iter().map(review_json).collect();
        session.out.json(&json!({ "reviews": reviews }))?;
        return Ok(Exit::Done);
    }
    for review in &reviews {
        let state = match &review.cleared {
            Some(decided) => format!("cleared by {}: {}", decided.authority, decided.reason),
            None => "open".to_owned(),
        };
        session.out.line(format!(
            "{:6}  {}  {:10}  {}  {state}",
            review.id,
            review.since,
            review.operation,
            short(&review.address)
        ))?;
    }
    Ok(Exit::done_if(!reviews.is_empty()))
}

fn review_json(review: &Review) -> Value {
    json!({
        "id": review.id.get(),
        "address": review.address.to_string(),
        "operation": review.operation,
        "since": review.since.ms(),
        "cleared": review.cleared.as_ref().map(|decided| json!({
            "reason": decided.reason,
            "authority": decided.authority,
        })),
    })
}
