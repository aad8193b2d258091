//! OpenCode: its messages as JSON lines, or the session that `opencode export` writes.

use crate::codec::{Map, Value};
use crate::interchange::Format;
use crate::interchange::formats::members::{moment, objects, rest, text};
use crate::interchange::formats::neighbour::builder::Builder;
use crate::interchange::formats::neighbour::source::{Reader, Source};

use super::super::blocks::{Content, call, result, thought};
use super::super::conversation::{Conversation, Message, role};

/// The messages of sessions.
pub(in crate::interchange::formats::neighbour) static SOURCE: Source = Source::of_json(
    Format::Opencode,
    &[
        ("info", None),
        ("messages", None),
        ("role", None),
        ("sessionID", None),
        ("time", None),
    ],
    |head| {
        let is_message = head.has_all(&["role", "sessionID", "time"]);
        let is_session = head.has_all(&["info", "messages"]) && head.is_whole;
        let is_of_it = is_message || (is_session && !head.is_array);
        is_of_it.then_some(Format::Opencode)
    },
    &[""],
    || Box::new(Opencode::default()),
);

#[derive(Default)]
struct Opencode {
    session: Conversation,
}

impl Reader for Opencode {
    fn element(&mut self, element: &Value, _array: &str, builder: &mut Builder<'_>) -> bool {
        let Some(map) = element.as_map() else {
            return false;
        };
        if let Some(info) = map.get("info").and_then(Value::as_map) {
            self.session = Conversation {
                agent: AGENT,
                session: text(info, "id").unwrap_or_default().to_owned(),
                title: text(info, "title").map(str::to_owned),
                directory: text(info, "directory").map(str::to_owned),
                ..Conversation::default()
            };
            for message in objects(map, "messages") {
                let info = message.get("info").and_then(Value::as_map);
                if !info.is_some_and(|info| self.say(info, message.get("parts"), builder)) {
                    builder.lose("message");
                }
            }
            return map.contains("messages");
        }
        let session = text(map, "sessionID").unwrap_or_default();
        self.session.go_on(AGENT, session);
        self.say(map, map.get("content"), builder)
    }
}

impl Opencode {
    fn say(&mut self, map: &Map, said: Option<&Value>, builder: &mut Builder<'_>) -> bool {
        let Some(role) = text(map, "role").and_then(role) else {
            return false;
        };
        let (mut content, mut results) = (Content::default(), Vec::new());
        match said.and_then(Value::as_array) {
            Some(parts) => {
                for part in parts.iter().filter_map(Value::as_map) {
                    read(part, &mut content, &mut results, builder);
                }
            }
            None => content = Content::read(said.unwrap_or(&Value::Nil), builder),
        }
        for tool in objects(map, "tool_calls") {
            let function = tool.get("function").and_then(Value::as_map).unwrap_or(tool);
            if let Some(name) = text(function, "name") {
                let given = ["arguments", "input", "args"].into_iter();
                let input = given.filter_map(|name| function.get(name)).next();
                content.add(call(text(tool, "id"), name, input));
            }
        }
        let time = map.get("time").and_then(Value::as_map);
        let at = time.and_then(|time| time.get("created")).and_then(moment);
        let id = text(map, "id").map(str::to_owned);
        let placed = [
            "id",
            "sessionID",
            "role",
            "content",
            "time",
            "tool_calls",
            "modelID",
        ];
        let message = Message {
            id,
            role,
            content,
            at,
            model: text(map, "modelID").map(str::to_owned),
            record: rest(map, &placed),
            ..Message::default()
        };
        self.session.say(message, builder);
        self.session.give(text(map, "id"), results, at, builder);
        true
    }
}

fn read(part: &Map, content: &mut Content, results: &mut Vec<Value>, builder: &mut Builder<'_>) {
    match text(part, "type") {
        Some("text") => {
            if let Some(said) = text(part, "text") {
                content.say(said);
            }
        }
        Some("reasoning") => content.add(thought(text(part, "text").unwrap_or_default())),
        Some("tool") => {
            let state = part.get("state").and_then(Value::as_map);
            let id = text(part, "callID");
            let name = text(part, "tool").unwrap_or("tool");
            content.add(call(id, name, state.and_then(|state| state.get("input"))));
            let output = state.and_then(|it| text(it, "output").or_else(|| text(it, "error")));
            results.extend(output.map(|said| result(id, said)));
        }
        // Where a step begins and ends, and what it cost.
        kind => builder.lose(kind.unwrap_or("part")),
    }
}

const AGENT: &str = "opencode";
