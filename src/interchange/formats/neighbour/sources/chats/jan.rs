//! Jan: the messages of a thread, a JSON value a line.

use crate::codec::Value;
use crate::interchange::Format;
use crate::interchange::formats::members::{moment, rest, text};
use crate::interchange::formats::neighbour::builder::Builder;
use crate::interchange::formats::neighbour::source::{Reader, Source};

use super::super::blocks::Content;
use super::super::conversation::{Conversation, Message, role};

/// A thread.
pub(in crate::interchange::formats::neighbour) static SOURCE: Source = Source::of_json(
    Format::Jan,
    &[("content", None), ("role", None), ("thread_id", None)],
    |head| {
        let is_message = head.has_all(&["content", "role", "thread_id"]);
        is_message.then_some(Format::Jan)
    },
    &[""],
    || Box::new(Jan::default()),
);

#[derive(Default)]
struct Jan {
    thread: Conversation,
}

impl Reader for Jan {
    fn element(&mut self, element: &Value, _array: &str, builder: &mut Builder<'_>) -> bool {
        let Some(map) = element.as_map() else {
            return false;
        };
        let (Some(thread), Some(role)) = (text(map, "thread_id"), text(map, "role").and_then(role))
        else {
            return false;
        };
        self.thread.go_on("jan", thread);
        let mut content = Content::default();
        for part in builder.objects(map, "content", "part") {
            let said = part.get("text").and_then(Value::as_map);
            match said.and_then(|said| text(said, "value")) {
                Some(said) => content.say(said),
                None => builder.lose(text(part, "type").unwrap_or("part")),
            }
        }
        let placed = [
            "id",
            "object",
            "thread_id",
            "role",
            "content",
            "status",
            "created_at",
            "completed_at",
        ];
        let message = Message {
            id: text(map, "id").map(str::to_owned),
            role,
            content,
            at: map.get("created_at").and_then(moment),
            record: rest(map, &placed),
            ..Message::default()
        };
        self.thread.say(message, builder);
        true
    }
}
