use clap::Subcommand;
use grainstore::store::Review;
use serde_json::{Value, json};

use crate::args::Decision;
use crate::args::address::short;
use crate::error::Exit;
use crate::session::Session;

#[derive(Debug, Subcommand)]
pub(super) enum ReviewAction {
    /// Show what waits, by its number
    List {
        /// Show also what was cleared
        #[arg(long)]
        all: bool,
    },
    /// Say that somebody looked at it
    Clear {
        /// The number that `list` shows
        id: u64,
        #[command(flatten)]
        decision: Decision,
    },
}

impl ReviewAction {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        match self {
            Self::List { all } => list(session, all),
            Self::Clear { id, decision } => {
                if session.open()?.clear_review(id, decision.mandate())? {
                    return session.done("cleared", id);
                }
                session.out.note("it was cleared before");
                Ok(Exit::Nothing)
            }
        }
    }
}

fn list(session: &mut Session, all: bool) -> anyhow::Result<Exit> {
    let mut reviews = session.open()?.reviews()?;
    reviews.retain(|review| all || review.cleared.is_none());
    if session.out.is_json() {
        let reviews: Vec<_> = reviews.iter().map(review_json).collect();
        session.out.json(&json!({ "reviews": reviews }))?;
        return Ok(Exit::Done);
    }
    for review in &reviews {
        let state = match &review.cleared {
            Some(decided) => format!("cleared by {}: {}", decided.authority, decided.reason),
            None => "waits".to_owned(),
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
        "id": review.id,
        "address": review.address.to_string(),
        "operation": review.operation,
        "since": review.since.ms(),
        "cleared": review.cleared.as_ref().map(|decided| json!({
            "reason": decided.reason,
            "authority": decided.authority,
        })),
    })
}
