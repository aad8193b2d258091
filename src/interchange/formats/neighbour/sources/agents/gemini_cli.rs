//! Gemini CLI: the sessions that it records, a JSON document each.

use crate::codec::{Map, Value};
use crate::interchange::Format;
use crate::interchange::formats::members::{moment, objects, rest, text};
use crate::interchange::formats::neighbour::builder::Builder;
use crate::interchange::formats::neighbour::source::{Reader, Source};

use super::super::blocks::{Content, call, result, thought};
use super::super::conversation::{Conversation, Message};

/// A session.
pub(in crate::interchange::formats::neighbour) static SOURCE: Source = Source::of_json(
    Format::GeminiCli,
    &[
        ("messages", None),
        ("projectHash", None),
        ("sessionId", None),
    ],
    |head| {
        let is_session = head.has_all(&["messages", "projectHash", "sessionId"]);
        (is_session && head.is_certain()).then_some(Format::GeminiCli)
    },
    &[""],
    || Box::new(GeminiCli),
);

struct GeminiCli;

impl Reader for GeminiCli {
    fn element(&mut self, element: &Value, _array: &str, builder: &mut Builder<'_>) -> bool {
        let Some(map) = element.as_map() else {
            return false;
        };
        let Some(session) = text(map, "sessionId") else {
            return false;
        };
        let mut conversation = Conversation {
            agent: "gemini-cli",
            session: session.to_owned(),
            created: map.get("startTime").and_then(moment),
            ..Conversation::default()
        };
        for message in builder.objects(map, "messages", "message") {
            say(message, &mut conversation, builder);
        }
        true
    }
}

fn say(map: &Map, conversation: &mut Conversation, builder: &mut Builder<'_>) {
    let role = match text(map, "type") {
        Some("user") => "user",
        Some("gemini" | "model" | "assistant") => "assistant",
        // Messages of the program to its user.
        kind => return builder.lose(kind.unwrap_or("message")),
    };
    let mut content = Content::read(map.get("content").unwrap_or(&Value::Nil), builder);
    let mut results = Vec::new();
    for thinking in builder.objects(map, "thoughts", "thought") {
        let parts = ["subject", "description"].into_iter();
        let parts: Vec<_> = parts.filter_map(|part| text(thinking, part)).collect();
        content.add(thought(&parts.join(": ")));
    }
    for tool in builder.objects(map, "toolCalls", "toolCall") {
        let (id, Some(name)) = (text(tool, "id"), text(tool, "name")) else {
            builder.lose("toolCall");
            continue;
        };
        content.add(call(id, name, tool.get("args")));
        match output(tool) {
            Some(said) => results.push(result(id, &said)),
            None if tool.contains("result") => builder.lose("result"),
            None => {}
        }
    }
    let id = text(map, "id").map(str::to_owned);
    let at = map.get("timestamp").and_then(moment);
    let placed = [
        "id",
        "type",
        "content",
        "timestamp",
        "thoughts",
        "toolCalls",
        "model",
    ];
    let message = Message {
        id,
        role,
        content,
        at,
        model: text(map, "model").map(str::to_owned),
        record: rest(map, &placed),
        ..Message::default()
    };
    conversation.say(message, builder);
    conversation.give(text(map, "id"), results, at, builder);
}

/// Returns the result of a call as text.
fn output(tool: &Map) -> Option<String> {
    if let Some(shown) = text(tool, "resultDisplay") {
        return Some(shown.to_owned());
    }
    let said: Vec<_> = objects(tool, "result")
        .filter_map(|part| {
            let response = part
                .get("functionResponse")?
                .as_map()?
                .get("response")?
                .as_map()?;
            text(response, "output").or_else(|| text(response, "error"))
        })
        .collect();
    (!said.is_empty()).then(|| said.join("\n"))
}
