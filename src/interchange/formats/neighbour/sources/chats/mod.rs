//! Chat applications.

mod ai_studio;
mod chatbot_ui;
mod jan;
mod le_chat;
mod librechat;
mod lm_studio;
mod open_webui;
mod perplexity;
mod typingmind;
mod vscode_copilot;

use crate::interchange::formats::neighbour::source::Source;

pub(super) static SOURCES: &[&Source] = &[
    &librechat::SOURCE,
    &open_webui::SOURCE,
    &chatbot_ui::SOURCE,
    &lm_studio::SOURCE,
    &jan::SOURCE,
    &le_chat::SOURCE,
    &perplexity::SOURCE,
    &ai_studio::SOURCE,
    &vscode_copilot::SOURCE,
    &typingmind::SOURCE,
];
