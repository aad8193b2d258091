//! OpenCode: its messages as JSON lines, the session that `opencode export` writes, or its storage folder.
//!
//! The folder has a file for each session, for each message without its content, and for each part of that.
//! They are read in this order. Messages are held until their parts come, which are in the order of messages.

use std::collections::BTreeMap;

use crate::codec::{Map, Value};
use crate::interchange::Format;
use crate::interchange::formats::members::{moment, rest, text};
use crate::interchange::formats::neighbour::builder::Builder;
use crate::interchange::formats::neighbour::source::{Reader, Source};

use super::super::blocks::{Content, call, result, thought};
use super::super::conversation::{Conversation, Message, role};

/// The messages of sessions.
pub(in crate::interchange::formats::neighbour) static SOURCE: Source = Source::of_json(
    Format::Opencode,
    &[
        ("directory", None),
        ("info", None),
        ("messageID", None),
        ("messages", None),
        ("projectID", None),
        ("role", None),
        ("sessionID", None),
        ("time", None),
    ],
    |head| {
        let is_message = head.has_all(&["role", "sessionID", "time"]);
        let is_session = head.has_all(&["info", "messages"]) && head.is_whole;
        let is_stored = head.has_all(&["messageID", "sessionID"])
            || head.has_all(&["directory", "projectID", "time"]);
        let is_of_it = is_message || is_stored || (is_session && !head.is_array);
        is_of_it.then_some(Format::Opencode)
    },
    &[""],
    || Box::new(Opencode::default()),
)
.by_rank(|path| {
    let mut folders = path.split(['/', '\\']);
    let ranks = [("session", 0), ("message", 1), ("part", 2)];
    let rank = folders.find_map(|folder| ranks.iter().find(|(name, _)| *name == folder));
    rank.map_or(0, |(_, rank)| *rank)
});

#[derive(Default)]
struct Opencode {
    session: Conversation,
    /// The sessions of a folder by their ids.
    sessions: BTreeMap<String, Conversation>,
    /// The messages of a folder whose parts are to come, by their ids, as JSON: a map takes several times as
    /// much memory.
    messages: BTreeMap<String, Box<str>>,
    messages_len: usize,
    /// The message whose parts are read.
    open: Option<Open>,
}

/// A message whose parts are read.
#[derive(Default)]
struct Open {
    id: String,
    content: Content,
    results: Vec<Value>,
    len: usize,
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
            for message in builder.objects(map, "messages", "message") {
                let info = message.get("info").and_then(Value::as_map);
                if !info.is_some_and(|info| self.say(info, message.get("parts"), builder)) {
                    builder.lose("message");
                }
            }
            return map.contains("messages");
        }
        if let Some(of) = text(map, "messageID") {
            return self.part(of, map, builder);
        }
        if map.contains("projectID") && !map.contains("role") {
            return self.stored_session(map);
        }
        // The files of a folder have their contents apart.
        let is_stored = !map.contains("content") && !map.contains("tool_calls");
        if let Some(id) = text(map, "id").filter(|_| is_stored) {
            return self.stored_message(id, map, builder);
        }
        let session = text(map, "sessionID").unwrap_or_default();
        self.session.go_on(AGENT, session);
        self.say(map, map.get("content"), builder)
    }

    fn end(&mut self, _builder: &mut Builder<'_>) {
        self.session = Conversation::default();
    }

    fn finish(&mut self, builder: &mut Builder<'_>) {
        self.close(builder);
        // They have no parts.
        self.messages
            .iter()
            .for_each(|_| builder.lose("empty message"));
    }
}

/// The files of a folder.
impl Opencode {
    fn stored_session(&mut self, map: &Map) -> bool {
        let Some(id) = text(map, "id") else {
            return false;
        };
        let session = Conversation {
            agent: AGENT,
            session: id.to_owned(),
            title: text(map, "title").map(str::to_owned),
            directory: text(map, "directory").map(str::to_owned),
            ..Conversation::default()
        };
        if self.sessions.len() < SESSIONS_MAX {
            self.sessions.insert(id.to_owned(), session);
        }
        true
    }

    fn stored_message(&mut self, id: &str, map: &Map, builder: &mut Builder<'_>) -> bool {
        if text(map, "role").and_then(role).is_none() {
            return false;
        }
        // They repeat whole files and prompts.
        let bulky = ["summary", "system"];
        let lost = bulky.iter().filter(|name| map.contains(name));
        lost.for_each(|name| builder.lose(name));
        let json = Value::Map(rest(map, &bulky)).to_json();
        let len = self.messages_len.saturating_add(json.len());
        if len > MESSAGES_LEN_MAX {
            builder.lose("message");
            return true;
        }
        self.messages_len = len;
        self.messages.insert(id.to_owned(), json.into());
        true
    }

    fn part(&mut self, of: &str, map: &Map, builder: &mut Builder<'_>) -> bool {
        if self.open.as_ref().is_some_and(|open| open.id != of) {
            self.close(builder);
        }
        let open = self.open.get_or_insert_with(|| Open {
            id: of.to_owned(),
            ..Open::default()
        });
        let state = map.get("state").and_then(Value::as_map);
        let output = state.and_then(|state| text(state, "output"));
        let input = state
            .and_then(|state| state.get("input"))
            .and_then(Value::as_map);
        let input = input.into_iter().flat_map(Map::iter);
        let said = [text(map, "text"), output].into_iter().flatten();
        let said = said.chain(input.filter_map(|(_, value)| value.as_text()));
        let len = said.map(str::len).fold(open.len, usize::saturating_add);
        if len > CONTENT_LEN_MAX {
            // No grain is that long.
            builder.lose("part");
            return true;
        }
        open.len = len;
        read(map, &mut open.content, &mut open.results, builder);
        true
    }

    /// Builds the message whose parts were read.
    fn close(&mut self, builder: &mut Builder<'_>) {
        let Some(open) = self.open.take() else {
            return;
        };
        let message = self.messages.remove(&open.id);
        let message = message.and_then(|json| Value::from_json(&json).ok());
        let Some(Value::Map(map)) = message else {
            return builder.lose("part");
        };
        let id = text(&map, "sessionID").unwrap_or_default();
        self.session = self.sessions.remove(id).unwrap_or_default();
        self.session.go_on(AGENT, id);
        self.say_content(&map, open.content, open.results, builder);
        let session = std::mem::take(&mut self.session);
        self.sessions.insert(id.to_owned(), session);
    }
}

impl Opencode {
    fn say(&mut self, map: &Map, said: Option<&Value>, builder: &mut Builder<'_>) -> bool {
        let (mut content, mut results) = (Content::default(), Vec::new());
        match said.and_then(Value::as_array) {
            Some(parts) => {
                for part in parts {
                    match part.as_map() {
                        Some(part) => read(part, &mut content, &mut results, builder),
                        None => builder.lose("part"),
                    }
                }
            }
            None => content = Content::read(said.unwrap_or(&Value::Nil), builder),
        }
        self.say_content(map, content, results, builder)
    }

    fn say_content(
        &mut self,
        map: &Map,
        mut content: Content,
        results: Vec<Value>,
        builder: &mut Builder<'_>,
    ) -> bool {
        let Some(role) = text(map, "role").and_then(role) else {
            return false;
        };
        for tool in builder.objects(map, "tool_calls", "tool call") {
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
            if state.is_none() && part.contains("state") {
                builder.lose("state");
            }
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
/// The most sessions, and bytes of messages, that are held until their parts come: those of a folder of 2 GB.
const SESSIONS_MAX: usize = 100_000;
const MESSAGES_LEN_MAX: usize = 48 * 1024 * 1024;
/// The most bytes of the parts of one message.
const CONTENT_LEN_MAX: usize = 2 * 1024 * 1024;
