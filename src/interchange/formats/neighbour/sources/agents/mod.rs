//! The logs of coding agents and of frameworks for agents.

mod claude_code;
mod codex;
mod cursor_agent;
mod gemini_cli;
mod openai_agents;
mod opencode;
mod pi;
mod response_item;

use crate::codec::Value;
use crate::grain::Grain;
use crate::interchange::formats::neighbour::builder::message_id;
use crate::interchange::formats::neighbour::source::Source;
use crate::interchange::{ForeignId, Format};

pub(super) static SOURCES: &[&Source] = &[
    &claude_code::SOURCE,
    &codex::SOURCE,
    &gemini_cli::SOURCE,
    &opencode::SOURCE,
    &pi::SOURCE,
    &cursor_agent::SOURCE,
    &openai_agents::SOURCE,
];

/// Returns the id of the message of an agent's log that a turn is, as an import for a user names it; `own` is
/// its id in the log, if the log has ids.
pub(crate) fn logged_turn(turn: &Grain, user: &str, own: Option<&str>) -> Option<ForeignId> {
    let context = turn.field("context").and_then(Value::as_map)?;
    let format = Format::named(context.get("agent")?.as_text()?)?;
    let id = match (own, format) {
        (Some(own), _) => own.to_owned(),
        (None, Format::Codex) => codex::id_of(
            Some(turn.created_at()),
            turn.text("role")?,
            turn.text("content")?,
            &[],
        ),
        (None, _) => return None,
    };
    Some(message_id(format, user, turn.text("session_id")?, &id))
}
