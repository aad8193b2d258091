//! A conversation: the grains of one session in the order of time, as a chat.

use std::borrow::Cow;

use grainstore::codec::Value;
use grainstore::query::{Found, SortBy};
use grainstore::{Filter, Grain, Store, Time, Type};
use serde_json::json;

use super::survey;
use crate::args::address::short;
use crate::commands::grains::state::grain_json;
use crate::output::{Output, Style, Styling, printable};

/// The grains of one session.
pub(super) struct Conversation {
    session: String,
    title: Option<String>,
    grains: Vec<Grain>,
}

impl Conversation {
    /// Returns the conversation of a session; `None` if no grain belongs to it.
    pub(super) fn read(store: &Store, session: &str) -> anyhow::Result<Option<Self>> {
        let filter = Filter::new().session(session);
        let mut grains = Vec::new();
        survey::each(store, &filter, SortBy::Time, |found: &Found| {
            grains.push(found.grain.clone());
        })?;
        if grains.is_empty() {
            return Ok(None);
        }
        let title = grains.iter().find_map(title);
        // The state that carries the title of an imported conversation says nothing itself.
        grains.retain(|grain| self::title(grain).is_none());
        Ok(Some(Self {
            session: session.to_owned(),
            title,
            grains,
        }))
    }

    /// Writes the conversation as a chat, or as one JSON document.
    pub(super) fn show(&self, out: &mut Output) -> anyhow::Result<()> {
        if out.is_json() {
            let grains: Vec<_> = self.grains.iter().map(grain_json).collect();
            let document =
                json!({ "session": self.session, "title": self.title, "grains": grains });
            return Ok(out.json(&document)?);
        }
        let styling = Styling::of_stdout();
        let title = self.title.as_ref().unwrap_or(&self.session);
        out.styled_line(&styling.show(Style::Strong, &printable(title)))?;
        for grain in &self.grains {
            let time = minute(grain.event_time());
            let (speaker, address) = (printable(&speaker(grain)), short(&grain.address()));
            let speaker = styling.show(Style::Kind, &speaker);
            let detail = styling.show(Style::Faint, &format!("{time}  {address}"));
            out.styled_line(&format!("\n{speaker}  {detail}"))?;
            // Every line of a message is indented, so that none can pass for a speaker.
            for line in words(grain).lines() {
                out.styled_line(&format!("  {}", printable(line)))?;
            }
        }
        Ok(())
    }
}

/// Returns the title that an import stored with a conversation.
pub(super) fn title(grain: &Grain) -> Option<String> {
    if grain.type_() != Type::State {
        return None;
    }
    let context = grain.field("context")?.as_map()?;
    let title = context.get("title").and_then(Value::as_text)?;
    Some(title.to_owned())
}

/// Returns the speaker of a message: its role, else its author, else its type.
pub(super) fn speaker(grain: &Grain) -> String {
    let named = ["role", "author_did", "observer_id", "tool_name"];
    let named = named.iter().find_map(|field| grain.text(field));
    named.map_or_else(|| grain.type_().to_string(), str::to_owned)
}

/// Returns the text of a message with its line breaks; the summary of a grain has none.
fn words(grain: &Grain) -> String {
    let text = grain.message_text();
    let text = text.or_else(|| grain.text("content").map(Cow::Borrowed));
    text.map_or_else(|| grain.summary(), Cow::into_owned)
}

/// Returns a time to the minute.
pub(crate) fn minute(time: Time) -> String {
    let text = time.to_string();
    match (text.get(..10), text.get(11..16)) {
        (Some(date), Some(clock)) => format!("{date} {clock}"),
        _ => text,
    }
}
