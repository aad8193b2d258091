use clap::{Args, Subcommand};
use grainstore::store::Review;
use serde_json::{Value, json};

use super::explain::Explain;
use super::mandate::Decision;
use super::reads::Reads;
use super::regime::RegimeAction;
use crate::address::short;
use crate::exit::Exit;
use crate::session::Session;

/// See to policies: presets of law, what would happen and why, reviews, reads, the clock
///
/// Example: grainstore policy review list
#[derive(Debug, Args)]
pub(crate) struct PolicyTool {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Show and clear what a person should look at
    #[command(subcommand)]
    Review(ReviewAction),
    /// Presets of law, and the regimes in force
    #[command(flatten)]
    Regime(RegimeAction),
    /// Say what would happen to a grain, and why, without doing it; exit 3 if it would be denied
    Explain(Explain),
    Reads(Reads),
    /// Show how far the clock is believed, and accept one that leapt ahead
    Clock(Clock),
}

#[derive(Debug, Subcommand)]
enum ReviewAction {
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

#[derive(Debug, Args)]
struct Clock {
    #[command(subcommand)]
    action: Option<ClockAction>,
}

#[derive(Debug, Subcommand)]
enum ClockAction {
    /// Accept what the clock says now: grains locked until a time go by it again
    Accept {
        #[command(flatten)]
        decision: Decision,
    },
}

impl PolicyTool {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        match self.action {
            Action::Review(ReviewAction::List { all }) => list(session, all),
            Action::Review(ReviewAction::Clear { id, decision }) => {
                if session.open()?.clear_review(id, decision.mandate())? {
                    return session.done("cleared", id);
                }
                session.out.note("it was cleared before");
                Ok(Exit::Nothing)
            }
            Action::Reads(reads) => reads.run(session),
            Action::Clock(clock) => clock.run(session),
            Action::Regime(action) => action.run(session),
            Action::Explain(explain) => explain.run(session),
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

impl Clock {
    fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open()?;
        if let Some(ClockAction::Accept { decision }) = &self.action {
            store.accept_clock(decision.mandate())?;
        }
        let state = store.clock_state();
        if session.out.is_json() {
            session.out.json(&json!({
                "now": state.now.ms(),
                "floor": state.trusted.map(grainstore::Time::ms),
                "doubted": state.is_doubted,
            }))?;
        } else if state.is_doubted {
            let floor = state
                .trusted
                .map(|floor| floor.to_string())
                .unwrap_or_default();
            session.out.line(format!(
                "the clock says {}, a day or more ahead of {floor}: timed grains stay locked",
                state.now
            ))?;
        } else {
            session.out.line(format!("the clock says {}", state.now))?;
        }
        Ok(Exit::done_if(!state.is_doubted))
    }
}
