//! LM Studio: a conversation, whose messages have versions of which one is chosen.

use crate::codec::{Map, Value};
use crate::interchange::Format;
use crate::interchange::formats::members::{moment, rest, text};
use crate::interchange::formats::neighbour::builder::Builder;
use crate::interchange::formats::neighbour::source::{Reader, Source};

use super::super::blocks::{Content, thought};
use super::super::conversation::{Conversation, Message, role};

/// A conversation.
pub(in crate::interchange::formats::neighbour) static SOURCE: Source = Source::of_json(
    Format::LmStudio,
    &[
        ("createdAt", None),
        ("messages", None),
        ("systemPrompt", None),
    ],
    |head| {
        let is_chat = head.has_all(&["createdAt", "messages", "systemPrompt"]);
        (is_chat && !head.is_array).then_some(Format::LmStudio)
    },
    &[""],
    || Box::new(LmStudio),
);

struct LmStudio;

impl Reader for LmStudio {
    fn element(&mut self, element: &Value, _array: &str, builder: &mut Builder<'_>) -> bool {
        let Some(map) = element.as_map() else {
            return false;
        };
        let Some(created) = map.get("createdAt") else {
            return false;
        };
        // A conversation has no id, and is named by its time.
        let session = created.to_json();
        let mut conversation = Conversation {
            agent: "lm-studio",
            session: session.clone(),
            title: text(map, "name").map(str::to_owned),
            created: moment(created),
            ..Conversation::default()
        };
        let messages = builder.objects(map, "messages", "message").into_iter();
        for (number, message) in messages.enumerate() {
            let id = format!("{session}/{number}");
            say(message, id, &mut conversation, builder);
        }
        true
    }
}

fn say(map: &Map, id: String, conversation: &mut Conversation, builder: &mut Builder<'_>) {
    let versions = builder.objects(map, "versions", "version");
    let chosen = map.get("currentlySelected").and_then(Value::as_i64);
    let chosen = chosen.and_then(|at| versions.get(usize::try_from(at).ok()?));
    let Some(version) = chosen.or(versions.last()) else {
        return builder.lose("message");
    };
    // The others were not chosen.
    (1..versions.len()).for_each(|_| builder.lose("version"));
    let Some(role) = text(version, "role").and_then(role) else {
        return builder.lose("message");
    };
    let mut content = Content::default();
    let own = version.get("content").and_then(Value::as_array);
    parts(own.unwrap_or_default(), false, &mut content, builder);
    for step in builder.objects(version, "steps", "part") {
        let style = step.get("style").and_then(Value::as_map);
        let is_thought = style.and_then(|style| text(style, "type")) == Some("thinking");
        let said = step.get("content").and_then(Value::as_array);
        parts(said.unwrap_or_default(), is_thought, &mut content, builder);
    }
    let sender = version.get("senderInfo").and_then(Value::as_map);
    let message = Message {
        id: Some(id),
        role,
        content,
        model: sender
            .and_then(|it| text(it, "senderName"))
            .map(str::to_owned),
        record: rest(version, &["role", "content", "steps", "senderInfo", "type"]),
        ..Message::default()
    };
    conversation.say(message, builder);
}

fn parts(parts: &[Value], is_thought: bool, content: &mut Content, builder: &mut Builder<'_>) {
    for part in parts {
        let said = part.as_map().and_then(|part| text(part, "text"));
        match said.or(part.as_text()) {
            Some(said) if is_thought => content.add(thought(said)),
            Some(said) => content.say(said),
            None => builder.lose("part"),
        }
    }
}
