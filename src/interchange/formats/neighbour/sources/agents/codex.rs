//! The rollouts of Codex: a JSON value a line, `{timestamp, type, payload}`; the oldest have the payload
//! alone. A message stands there as an event and as an item of the model's, of which one counts.

use std::collections::VecDeque;

use crate::codec::{Map, Value};
use crate::grain::Time;
use crate::interchange::Format;
use crate::interchange::formats::members::{moment, stable_id, text};
use crate::interchange::json_head::JsonFormat;

use super::super::blocks::{Content, is_not_said};
use super::response_item::{read, rest_of};
use crate::interchange::formats::neighbour::builder::Builder;
use crate::interchange::formats::neighbour::item::{Item, Said, Turn};
use crate::interchange::formats::neighbour::source::{Reader, Source};

/// The rollout of a session.
pub(in crate::interchange::formats::neighbour) static SOURCE: Source = Source {
    format: Format::Codex,
    json: JsonFormat {
        markers: &[
            ("id", None),
            ("instructions", None),
            ("payload", None),
            ("timestamp", None),
            ("type", None),
        ],
        inner: &[],
        detect: |head| {
            let is_line = head.has_all(&["timestamp", "type", "payload"])
                || head.has_all(&["id", "timestamp", "instructions"]);
            (is_line && head.is_line).then_some(Format::Codex)
        },
    },
    is_text: |_| false,
    arrays: &[""],
    is_in_order: false,
    spans_files: false,
    rank: |_| 0,
    reader: || Box::new(Codex::default()),
};

#[derive(Default)]
struct Codex {
    session: Option<String>,
    directory: Option<String>,
    branch: Option<String>,
    model: Option<String>,
    started: Option<Time>,
    /// The message before.
    last: Option<String>,
    /// The newest texts: whether each came as an event, its role and itself.
    recent: VecDeque<(bool, &'static str, String)>,
}

impl Reader for Codex {
    fn element(&mut self, element: &Value, _array: &str, builder: &mut Builder<'_>) -> bool {
        let Some(map) = element.as_map() else {
            return false;
        };
        let payload = map.get("payload").and_then(Value::as_map);
        let at = map.get("timestamp").and_then(moment);
        match (text(map, "type"), payload) {
            (Some("session_meta"), Some(meta)) => self.meta(meta, at),
            (Some("turn_context"), Some(context)) => {
                self.model = text(context, "model").map(str::to_owned);
                self.directory = text(context, "cwd").map(str::to_owned);
            }
            (Some("event_msg"), Some(event)) => self.event(event, at, builder),
            (Some("response_item"), Some(item)) => self.item(item, at, builder),
            // A rollout of 2025 begins with its session, and has items without a wrapper.
            (None, None) if map.contains("instructions") => self.meta(map, at),
            (None, None) if map.contains("record_type") => builder.lose("state"),
            (Some(_), None) => self.item(map, at, builder),
            (Some(kind), _) => builder.lose(kind),
            (None, _) => return false,
        }
        true
    }
}

impl Codex {
    fn meta(&mut self, meta: &Map, at: Option<Time>) {
        self.session = text(meta, "id").map(str::to_owned);
        self.directory = text(meta, "cwd").map(str::to_owned);
        let git = meta.get("git").and_then(Value::as_map);
        self.branch = git.and_then(|git| text(git, "branch")).map(str::to_owned);
        self.started = meta.get("timestamp").and_then(moment).or(at);
    }

    /// The texts as a person saw them.
    fn event(&mut self, event: &Map, at: Option<Time>, builder: &mut Builder<'_>) {
        let item = event.get("item").and_then(Value::as_map).unwrap_or(event);
        let kind = text(item, "type").unwrap_or("event");
        let role = match kind {
            "user_message" | "UserMessage" => "user",
            "agent_message" | "AgentMessage" => "assistant",
            kind => return builder.lose(kind),
        };
        let said = item.get("message").or_else(|| item.get("content"));
        let content = Content::read(said.unwrap_or(&Value::Nil), builder);
        self.said(true, role, content, at, builder);
    }

    /// The items that went to the model and came from it.
    fn item(&mut self, item: &Map, at: Option<Time>, builder: &mut Builder<'_>) {
        let is_message = text(item, "type") == Some("message");
        match read(item, builder) {
            Some((role, content)) if is_message => self.said(false, role, content, at, builder),
            Some((role, content)) => self.push(role, content, item, at, builder),
            None => {}
        }
    }

    fn said(
        &mut self,
        is_event: bool,
        role: &'static str,
        content: Content,
        at: Option<Time>,
        builder: &mut Builder<'_>,
    ) {
        if content.is_empty() || (role == "user" && is_not_said(&content.text)) {
            return builder.lose("command");
        }
        let text = content.text.trim().to_owned();
        let other = self.recent.iter().position(|(was_event, was, said)| {
            *was_event != is_event && *was == role && *said == text
        });
        if let Some(at) = other {
            self.recent.remove(at);
            return;
        }
        if self.recent.len() >= RECENT_MAX {
            self.recent.pop_front();
        }
        self.recent.push_back((is_event, role, text));
        self.push(role, content, &Map::new(), at, builder);
    }

    fn push(
        &mut self,
        role: &'static str,
        content: Content,
        item: &Map,
        at: Option<Time>,
        builder: &mut Builder<'_>,
    ) {
        let created = at.or(self.started);
        let id = id_of(created, role, &content.text, &content.blocks);
        let mut context = Map::new();
        context.insert("agent", "codex");
        for (name, value) in [("branch", &self.branch), ("directory", &self.directory)] {
            if let Some(value) = value {
                context.insert(name, value.as_str());
            }
        }
        builder.push(Item {
            id: id.clone(),
            session: self.session.clone(),
            created,
            said: Said::Turn(Turn {
                role: Some(role),
                text: content.text,
                blocks: content.blocks,
                parent: self.last.replace(id),
                model: self.model.clone().filter(|_| role == "assistant"),
                context,
            }),
            record: rest_of(item),
            ..Item::default()
        });
    }
}

/// Returns the id of a message, of which a rollout has none.
pub(super) fn id_of(created: Option<Time>, role: &str, text: &str, blocks: &[Value]) -> String {
    let time = created.map(|time| time.to_string()).unwrap_or_default();
    let said = Value::from(blocks.to_vec()).to_json();
    stable_id(&["codex", &time, role, text, &said])
}

/// The two forms of a message stand a few lines from each other.
const RECENT_MAX: usize = 16;
