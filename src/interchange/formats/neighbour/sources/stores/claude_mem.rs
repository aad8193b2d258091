//! claude-mem: the observations, summaries and prompts in its SQLite file.

use crate::codec::{Map, Value};
use crate::grain::Time;
use crate::interchange::Format;
use crate::interchange::formats::members::{moment, parsed, rest, text};
use crate::interchange::formats::neighbour::builder::Builder;
use crate::interchange::formats::neighbour::item::Item;
use crate::interchange::formats::neighbour::source::{Reader, Source};

use super::super::blocks::Content;
use super::super::conversation::{Conversation, Message};

/// The tables of the file.
pub(in crate::interchange::formats::neighbour) static SOURCE: Source = Source::of_json(
    Format::ClaudeMem,
    &[],
    // It is no JSON.
    |_| None,
    &["observations", "session_summaries", "user_prompts"],
    || Box::new(ClaudeMem::default()),
);

#[derive(Default)]
struct ClaudeMem {
    session: Conversation,
}

impl Reader for ClaudeMem {
    fn element(&mut self, element: &Value, array: &str, builder: &mut Builder<'_>) -> bool {
        let Some(map) = element.as_map() else {
            return false;
        };
        match array {
            "observations" => note(map, "observation", OBSERVED, builder),
            "session_summaries" => note(map, "session-summary", SUMMARISED, builder),
            _ => self.prompt(map, builder),
        }
    }
}

/// Reads what was observed, or the summary of a session: the texts of its members, a paragraph each.
fn note(map: &Map, kind: &str, members: &[(&str, &str)], builder: &mut Builder<'_>) -> bool {
    let mut paragraphs = Vec::new();
    for (member, label) in members {
        let Some(value) = map.get(member).map(parsed) else {
            continue;
        };
        let said = match value.as_text() {
            Some(said) => said.trim().to_owned(),
            None => value.texts().collect::<Vec<_>>().join("\n"),
        };
        if !said.is_empty() {
            paragraphs.push(match *label {
                "" => said,
                label => format!("{label}: {said}"),
            });
        }
    }
    if paragraphs.is_empty() {
        return false;
    }
    let number = map.get("id").map(Value::to_json).unwrap_or_default();
    let mut item = Item::note(format!("{kind}:{number}"), &paragraphs.join("\n\n"));
    item.session = session(map).map(str::to_owned);
    item.created = created(map);
    item.tags.push(kind.to_owned());
    for tag in ["project", "type"] {
        item.tags.extend(text(map, tag).map(str::to_owned));
    }
    if let Some(concepts) = map.get("concepts").map(parsed) {
        item.tags.extend(concepts.texts().map(str::to_owned));
    }
    let said: Vec<_> = members.iter().map(|(member, _)| *member).collect();
    item.record = rest(&rest(map, PLACED), &said);
    builder.push(item);
    true
}

impl ClaudeMem {
    fn prompt(&mut self, map: &Map, builder: &mut Builder<'_>) -> bool {
        let Some(said) = text(map, "prompt_text") else {
            return false;
        };
        let session = session(map).unwrap_or_default();
        self.session.go_on("claude-code", session);
        let number = map.get("id").map(Value::to_json).unwrap_or_default();
        let message = Message {
            id: Some(format!("prompt:{number}")),
            role: "user",
            content: Content::of_text(said),
            at: created(map),
            ..Message::default()
        };
        self.session.say(message, builder);
        true
    }
}

fn created(map: &Map) -> Option<Time> {
    let at = |name: &str| map.get(name).and_then(moment);
    at("created_at_epoch").or_else(|| at("created_at"))
}

/// The name of the column has changed twice.
fn session(map: &Map) -> Option<&str> {
    let mut names = [
        "memory_session_id",
        "content_session_id",
        "sdk_session_id",
        "claude_session_id",
    ]
    .into_iter();
    names.find_map(|name| text(map, name))
}

const OBSERVED: &[(&str, &str)] = &[
    ("title", ""),
    ("subtitle", ""),
    ("text", ""),
    ("narrative", ""),
    ("facts", ""),
];

const SUMMARISED: &[(&str, &str)] = &[
    ("request", "Request"),
    ("investigated", "Investigated"),
    ("learned", "Learned"),
    ("completed", "Completed"),
    ("next_steps", "Next steps"),
    ("notes", "Notes"),
];

const PLACED: &[&str] = &[
    "id",
    "memory_session_id",
    "sdk_session_id",
    "project",
    "type",
    "concepts",
    "created_at",
    "created_at_epoch",
];
