use clap::Args;
use grainstore::query::Recall as Budget;
use grainstore::render::Format;

use crate::args::Filters;
use crate::door::As;
use crate::error::Exit;
use crate::session::Session;

/// Tell what is known of a question, with what was said around it
///
/// The grains that fit best and the turns beside them, as much as a budget of tokens holds (one for
/// four ASCII characters, one for each other), each with its time, its speaker and the beginning of
/// its address (as in: grainstore recall "where did Mira climb?" --budget 500). Exit 1 if nothing is
/// found.
#[derive(Debug, Args)]
pub(crate) struct Recall {
    /// The question; several arguments are one
    #[arg(required = true, value_name = "TEXT")]
    question: Vec<String>,
    /// At most about this many tokens
    #[arg(long, value_name = "N", default_value_t = 2_000)]
    budget: usize,
    /// How many turns before and after one that fits
    #[arg(long, value_name = "N", default_value_t = 1)]
    reach: usize,
    /// markdown, text or json
    #[arg(long, value_name = "FORMAT", default_value_t = Format::Markdown)]
    format: Format,
    /// Also what has expired: true until before now, and goals inactive since before now
    #[arg(long)]
    expired: bool,
    #[command(flatten)]
    filters: Filters,
    #[command(flatten)]
    as_whom: As,
}

impl Recall {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open()?;
        let mut filter = self.filters.filter(&store)?;
        if self.expired {
            filter = filter.with_expired();
        }
        let door = self.as_whom.door(&store)?;
        let recall = Budget {
            budget: self.budget,
            reach: self.reach,
            ..Budget::default()
        };
        let known = door.recall(&self.question.join(" "), &filter, &recall)?;
        let format = if session.out.is_json() {
            Format::Json
        } else {
            self.format
        };
        if format != Format::Json && known.is_empty() {
            session.out.note("nothing found");
            return Ok(Exit::done_if(false));
        }
        for line in known.render(format).lines() {
            session.out.line(line)?;
        }
        if known.is_cut && !session.out.is_json() {
            session.out.note("there is more: --budget makes room");
        }
        Ok(Exit::done_if(!known.is_empty()))
    }
}
