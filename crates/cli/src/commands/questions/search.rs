use clap::Args;

use super::answer::{Scores, show, show_lines};
use crate::args::Filters;
use crate::door::As;
use crate::error::Exit;
use crate::output::{Table, width};
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
    /// Also what a person must review before a program acts on it
    #[arg(long)]
    unreviewed: bool,
    /// Also what has expired: true until before now, and goals inactive since before now
    #[arg(long)]
    expired: bool,
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
        if self.unreviewed {
            filter = filter.with_unreviewed();
        }
        if self.expired {
            filter = filter.with_expired();
        }
        let door = self.as_whom.door(&store)?;
        let text = self.text.join(" ");
        let envelope = door.search(&text, &filter, self.limit)?;
        if session.out.is_json() {
            show(&envelope, Scores::Shown, &mut session.out)?;
            return Ok(Exit::done_if(envelope.total > 0));
        }
        let snippets = store.snippets(&text, &envelope, width())?;
        let mut table = Table::indented(0);
        for (found, snippet) in envelope.results.iter().zip(&snippets) {
            let is_current = found.status.is_current();
            let after = if is_current { "" } else { "superseded" };
            table.add_found(
                format!("{:.2}  ", found.score),
                &found.grain,
                snippet,
                after,
            );
        }
        show_lines(&envelope, &table, &mut session.out)?;
        Ok(Exit::done_if(envelope.total > 0))
    }
}
