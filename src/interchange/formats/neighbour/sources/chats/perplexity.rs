//! Perplexity: a thread of questions and answers.

use crate::codec::{Map, Value};
use crate::interchange::Format;
use crate::interchange::formats::members::{moment, objects, rest, text};
use crate::interchange::formats::neighbour::builder::Builder;
use crate::interchange::formats::neighbour::source::{Reader, Source};

use super::super::blocks::Content;
use super::super::conversation::{Conversation, Message};

/// A thread.
pub(in crate::interchange::formats::neighbour) static SOURCE: Source = Source::of_json(
    Format::Perplexity,
    &[("entries", None), ("thread_metadata", None)],
    |head| {
        head.has_all(&["entries", "thread_metadata"])
            .then_some(Format::Perplexity)
    },
    &[""],
    || Box::new(Perplexity),
);

struct Perplexity;

impl Reader for Perplexity {
    fn element(&mut self, element: &Value, _array: &str, builder: &mut Builder<'_>) -> bool {
        let Some(map) = element.as_map().filter(|map| map.contains("entries")) else {
            return false;
        };
        let about = map.get("thread_metadata").and_then(Value::as_map);
        let first = objects(map, "entries")
            .next()
            .and_then(|entry| text(entry, "uuid"));
        let session = about.and_then(|about| text(about, "uuid").or_else(|| text(about, "slug")));
        let mut conversation = Conversation {
            agent: "perplexity",
            session: session.or(first).unwrap_or_default().to_owned(),
            title: about
                .and_then(|about| text(about, "title"))
                .map(str::to_owned),
            created: about
                .and_then(|about| about.get("created_at"))
                .and_then(moment),
            ..Conversation::default()
        };
        for entry in builder.objects(map, "entries", "entry") {
            let Some(asked) = text(entry, "query_str") else {
                builder.lose("entry");
                continue;
            };
            let id = text(entry, "uuid").map(str::to_owned);
            let at = entry.get("entry_created_datetime").and_then(moment);
            let question = Message {
                id: id.as_ref().map(|id| format!("{id}/query")),
                role: "user",
                content: Content::of_text(asked),
                at,
                ..Message::default()
            };
            conversation.say(question, builder);
            let placed = [
                "uuid",
                "query_str",
                "entry_created_datetime",
                "blocks",
                "answer",
            ];
            let answer = Message {
                id,
                role: "assistant",
                content: answer(entry, builder),
                at: entry.get("entry_updated_datetime").and_then(moment).or(at),
                model: text(entry, "display_model").map(str::to_owned),
                record: rest(entry, &placed),
                ..Message::default()
            };
            conversation.say(answer, builder);
        }
        true
    }
}

/// Returns the answer of an entry: the texts of its blocks, each once.
fn answer(entry: &Map, builder: &mut Builder<'_>) -> Content {
    let mut content = Content::default();
    let mut said = Vec::new();
    for block in builder.objects(entry, "blocks", "block") {
        let markdown = block.get("markdown_block").and_then(Value::as_map);
        let of_it = markdown
            .and_then(|it| text(it, "answer"))
            .or_else(|| text(block, "text"));
        match of_it {
            Some(part) if !said.contains(&part) => said.push(part),
            Some(_) => {}
            // Sources, pictures and plans.
            None => builder.lose(text(block, "intended_usage").unwrap_or("block")),
        }
    }
    if said.is_empty() {
        said.extend(text(entry, "answer"));
    }
    said.into_iter().for_each(|part| content.say(part));
    content
}
