//! Google AI Studio: a prompt with its chunks, which have no times.

use crate::codec::Value;
use crate::interchange::Format;
use crate::interchange::formats::members::{moment, objects, rest, stable_id, text};
use crate::interchange::formats::neighbour::builder::Builder;
use crate::interchange::formats::neighbour::source::{Reader, Source};

use super::super::blocks::{Content, thought};
use super::super::conversation::{Conversation, Message, role};

/// A prompt.
pub(in crate::interchange::formats::neighbour) static SOURCE: Source = Source::of_json(
    Format::AiStudio,
    &[("chunkedPrompt", None), ("runSettings", None)],
    |head| {
        head.has_all(&["chunkedPrompt", "runSettings"])
            .then_some(Format::AiStudio)
    },
    &[""],
    || Box::new(AiStudio),
);

struct AiStudio;

impl Reader for AiStudio {
    fn element(&mut self, element: &Value, _array: &str, builder: &mut Builder<'_>) -> bool {
        let map = element.as_map();
        let prompt = map.and_then(|map| map.get("chunkedPrompt")?.as_map());
        let (Some(map), Some(prompt)) = (map, prompt) else {
            return false;
        };
        let settings = map.get("runSettings").and_then(Value::as_map);
        let first = objects(prompt, "chunks").find_map(|chunk| text(chunk, "text"));
        let mut conversation = Conversation {
            agent: "ai-studio",
            // A prompt has no id, and is named by its first text.
            session: stable_id(&["ai-studio", first.unwrap_or_default()]),
            model: settings.and_then(|it| text(it, "model")).map(str::to_owned),
            ..Conversation::default()
        };
        if map
            .get("systemInstruction")
            .and_then(Value::as_map)
            .is_some_and(|it| !it.is_empty())
        {
            builder.lose("systemInstruction");
        }
        let chunks = builder.objects(prompt, "chunks", "chunk").into_iter();
        for (number, chunk) in chunks.enumerate() {
            let Some(role) = text(chunk, "role").and_then(role) else {
                builder.lose("chunk");
                continue;
            };
            let said = text(chunk, "text").unwrap_or_default();
            let is_thought = chunk.get("isThought").and_then(Value::as_bool) == Some(true);
            let content = match is_thought && !said.is_empty() {
                true => Content::of_block(thought(said)),
                false => Content::of_text(said),
            };
            let message = Message {
                id: Some(format!("{}/{number}", conversation.session)),
                role,
                content,
                at: chunk.get("createTime").and_then(moment),
                record: rest(chunk, &["role", "text", "isThought", "createTime", "parts"]),
                ..Message::default()
            };
            conversation.say(message, builder);
        }
        true
    }
}
