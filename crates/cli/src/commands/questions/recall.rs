//! `grainstore recall`: context for a question, within a budget of tokens.
//!
//! Unlike `search`, it adds the neighbouring turns of a conversation to each match.

use std::io::Write as _;

use clap::Args;
use grainstore::query::Recall as RecallOptions;
use grainstore::render::Format;
use grainstore::text::Ranking;

use super::answer::PARTIAL;
use crate::args::{As, Clock, Filters};
use crate::commands::user::note_nothing;
use crate::error::Exit;
use crate::output::printable;
use crate::session::Session;

/// Collect context for a question: the best matches and the turns around them
///
/// The result fits a budget of tokens (one per four ASCII characters, one per other character). Each
/// line has its time, its speaker and the first digits of its address. Exits with 1 if nothing is
/// found.
#[derive(Debug, Args)]
#[command(after_long_help = r#"Example:
  grainstore recall "where did Mira climb?" --budget 500"#)]
pub(crate) struct Recall {
    /// Question; several arguments are joined
    #[arg(required = true, value_name = "TEXT")]
    question: Vec<String>,
    /// Approximate maximum number of tokens
    #[arg(long, value_name = "N", default_value_t = 2_000)]
    budget: usize,
    /// Number of turns to add before and after each match
    #[arg(long, value_name = "N", default_value_t = 1)]
    reach: usize,
    /// Only what is relevant: matches nearly as good as the best that cover enough of the question
    #[arg(long)]
    precise: bool,
    /// Output format: markdown, text, sml or json
    #[arg(long, value_name = "FORMAT", default_value_t = Format::Markdown)]
    format: Format,
    /// Print control, zero-width and tag characters of stored text as they are, not as escapes
    #[arg(long)]
    raw: bool,
    /// Include expired grains: those with a valid_to in the past, and goals past their deadline
    #[arg(long)]
    expired: bool,
    #[command(flatten)]
    clock: Clock,
    #[command(flatten)]
    filters: Filters,
    #[command(flatten)]
    as_whom: As,
}

impl Recall {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open_to_ask()?;
        let named = self.filters.named_person();
        let mut filter = self.filters.filter(&store)?;
        if self.expired {
            filter = filter.with_expired();
        }
        let handle = self.as_whom.narrow(&store)?;
        let ranking = self.clock.applied(Ranking::default());
        let mut recall = RecallOptions {
            budget: self.budget,
            reach: self.reach,
            ranking,
        };
        if self.precise {
            recall = recall.precise();
        }
        let known = handle.recall(&self.question.join(" "), &filter, &recall)?;
        if known.is_partial && !session.out.is_json() {
            session.out.note(PARTIAL);
        }
        let format = if session.out.is_json() {
            Format::Json
        } else {
            self.format
        };
        if format != Format::Json && known.is_empty() {
            session.out.note(match known.less_relevant {
                0 if !session.has_model() && handle.query(&filter, 1, None)?.total > 0 => {
                    NO_WORD.to_owned()
                }
                0 => "nothing found".to_owned(),
                left_out => format!("nothing relevant found: {left_out} less relevant left out"),
            });
            note_nothing(&store, named.as_deref(), session)?;
            return Ok(Exit::done_if(false));
        }
        if self.raw {
            write!(session.out.bytes(), "{}", known.render_raw(format))?;
        } else {
            for line in known.render(format).lines() {
                session.out.styled_line(line)?;
            }
        }
        for (word, other) in known.read_as.iter().filter(|_| !session.out.is_json()) {
            session
                .out
                .note(format!("{} read as {}", printable(word), printable(other)));
        }
        if known.less_relevant > 0 && !session.out.is_json() {
            session
                .out
                .note(format!("{} less relevant left out", known.less_relevant));
        }
        if known.is_cut && !session.out.is_json() {
            session.out.note("truncated: raise --budget for more");
        }
        Ok(Exit::done_if(!known.is_empty()))
    }
}

/// It does not follow that nothing is known.
const NO_WORD: &str = "nothing found: no memory shares a word with the question; with a model it is found by meaning too \
                       (grainstore model --help)";
