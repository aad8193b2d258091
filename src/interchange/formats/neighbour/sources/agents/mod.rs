//! The logs of coding agents and of frameworks for agents.

mod claude_code;
mod codex;
mod cursor_agent;
mod gemini_cli;
mod openai_agents;
mod opencode;
mod pi;
mod response_item;

use crate::interchange::formats::neighbour::source::Source;

pub(super) static SOURCES: &[&Source] = &[
    &claude_code::SOURCE,
    &codex::SOURCE,
    &gemini_cli::SOURCE,
    &opencode::SOURCE,
    &pi::SOURCE,
    &cursor_agent::SOURCE,
    &openai_agents::SOURCE,
];
