//! Copilot in VS Code: an exported chat, which is a list of requests with their responses.

use crate::codec::{Map, Value};
use crate::interchange::Format;
use crate::interchange::formats::members::{moment, objects, rest, text};
use crate::interchange::formats::neighbour::builder::Builder;
use crate::interchange::formats::neighbour::source::{Reader, Source};

use super::super::blocks::{Content, call, thought};
use super::super::conversation::{Conversation, Message};

/// A chat session.
pub(in crate::interchange::formats::neighbour) static SOURCE: Source = Source::of_json(
    Format::VscodeCopilot,
    &[
        ("requests", None),
        ("requesterUsername", None),
        ("responderUsername", None),
    ],
    |head| {
        let names = ["requesterUsername", "responderUsername"];
        let is_session = head.has(&names) && head.has(&["requests"]);
        is_session.then_some(Format::VscodeCopilot)
    },
    &[""],
    || Box::new(VscodeCopilot),
);

struct VscodeCopilot;

impl Reader for VscodeCopilot {
    fn element(&mut self, element: &Value, _array: &str, builder: &mut Builder<'_>) -> bool {
        let Some(map) = element.as_map().filter(|map| map.contains("requests")) else {
            return false;
        };
        let first = objects(map, "requests")
            .next()
            .and_then(|it| text(it, "requestId"));
        let mut conversation = Conversation {
            agent: "vscode-copilot",
            session: text(map, "sessionId")
                .or(first)
                .unwrap_or_default()
                .to_owned(),
            title: text(map, "customTitle").map(str::to_owned),
            created: map.get("creationDate").and_then(moment),
            ..Conversation::default()
        };
        for request in builder.objects(map, "requests", "request") {
            let message = request.get("message");
            let asked = message.and_then(|it| it.as_text().or_else(|| text(it.as_map()?, "text")));
            let id = text(request, "requestId").map(str::to_owned);
            let at = request.get("timestamp").and_then(moment);
            let question = Message {
                id: id.as_ref().map(|id| format!("{id}/request")),
                role: "user",
                content: Content::of_text(asked.unwrap_or_default()),
                at,
                ..Message::default()
            };
            conversation.say(question, builder);
            let placed = ["requestId", "message", "response", "timestamp", "modelId"];
            let answer = Message {
                id,
                role: "assistant",
                content: answer(request, builder),
                at,
                model: text(request, "modelId").map(str::to_owned),
                record: rest(request, &placed),
                ..Message::default()
            };
            conversation.say(answer, builder);
        }
        true
    }
}

fn answer(request: &Map, builder: &mut Builder<'_>) -> Content {
    let mut content = Content::default();
    let mut text_of = String::new();
    let mut calls = Vec::new();
    let parts = request.get("response").and_then(Value::as_array);
    for part in parts.unwrap_or_default() {
        let map = part.as_map();
        let value = map.and_then(|map| map.get("value"));
        let inner = value
            .and_then(Value::as_map)
            .and_then(|value| text(value, "value"));
        let said = value.and_then(Value::as_text).or(inner).or(part.as_text());
        let kind = map.and_then(|map| text(map, "kind"));
        match (kind, said, map) {
            (None | Some("markdownContent"), Some(said), _) => text_of.push_str(said),
            (Some("thinking"), Some(said), _) if !said.is_empty() => calls.push(thought(said)),
            (Some("inlineReference"), _, Some(map)) => {
                text_of.push_str(text(map, "name").unwrap_or_default());
            }
            (Some("toolInvocationSerialized"), _, Some(map)) => {
                let name = text(map, "toolId").unwrap_or("tool");
                calls.push(call(text(map, "toolCallId"), name, None));
            }
            (kind, ..) => builder.lose(kind.unwrap_or("part")),
        }
    }
    if !text_of.trim().is_empty() {
        content.say(text_of.trim());
    }
    calls.into_iter().for_each(|call| content.add(call));
    content
}
