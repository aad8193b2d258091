use clap::Args;

use super::query::{Scores, show};
use crate::door::As;
use crate::exit::Exit;
use crate::filters::Filters;
use crate::session::Session;

/// Find grains by their words, best first
///
/// Any of the words may occur, in any of their forms; "a phrase" must stand as it is, +word must
/// occur, -word must not; a AND (b OR c) AND NOT d; word* begins like this, word~ is spelled nearly so;
/// object:word is in this field; word^2 counts twice (as in: grainstore search "peanut* -butter").
/// With --json the answer is the envelope of OMS 28.1. Exit 1 if nothing is found.
#[derive(Debug, Args)]
pub(crate) struct Search {
    /// The words; several arguments are one search
    #[arg(required = true, value_name = "TEXT")]
    text: Vec<String>,
    /// At most this many
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: usize,
    /// Superseded grains too
    #[arg(long)]
    superseded: bool,
    #[command(flatten)]
    filters: Filters,
    #[command(flatten)]
    as_whom: As,
}

impl Search {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open()?;
        let mut filter = self.filters.filter(&store)?;
        if self.superseded {
            filter = filter.with_superseded();
        }
        let door = self.as_whom.door(&store)?;
        let envelope = door.search(&self.text.join(" "), &filter, self.limit)?;
        show(&envelope, Scores::Shown, &mut session.out)?;
        Ok(Exit::done_if(envelope.total > 0))
    }
}
