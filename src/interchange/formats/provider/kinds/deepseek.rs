//! DeepSeek: `conversations.json`, an array of graphs like those of ChatGPT, whose messages are made
//! of fragments: what was asked, thought, searched and answered.

use crate::codec::{Map, Value};
use crate::interchange::model::rfc3339::parse_rfc3339;

use super::super::conversation::{
    Conversation, Message, object, objects, rest, spoken, text, time,
};
use super::super::graph::places;
use super::chatgpt::is_url;
use crate::interchange::Loss;

/// Reads one conversation; `None` if the object is none.
pub(in crate::interchange::formats::provider) fn conversation(map: &Map) -> Option<Conversation> {
    let nodes = map.get("mapping")?.as_map()?;
    let placed = ["id", "title", "inserted_at", "updated_at", "mapping"];
    let (mut messages, mut lost) = (Vec::<(usize, Message)>::new(), Loss::default());
    for ((key, node), above) in nodes.iter().zip(places(nodes)) {
        let Some((node, said)) = spoken(node, &mut lost) else {
            continue;
        };
        let mut message = message(said, above.depth);
        message.id = text(node, "id").unwrap_or(key).to_owned();
        message.parent = above.nearest.map(str::to_owned);
        let thought = thought(said, &mut message);
        messages.extend(thought.into_iter().map(|thought| (above.depth, thought)));
        messages.push((above.depth, message));
    }
    // A graph has no order of its own: by time, and a question before its answer.
    messages.sort_by_key(|(depth, message)| {
        let at = message.created_at.as_deref().map(parse_rfc3339);
        (at.and_then(Result::ok), *depth)
    });
    Some(Conversation {
        id: text(map, "id")?.to_owned(),
        title: text(map, "title").map(str::to_owned),
        created_at: time(map, "inserted_at"),
        updated_at: time(map, "updated_at"),
        messages: messages.into_iter().map(|(_, message)| message).collect(),
        raw: rest(map, &placed),
        lost,
        ..Conversation::default()
    })
}

fn message(map: &Map, depth: usize) -> Message {
    let of_kind = |kind: &str| {
        let parts = objects(map, "fragments").filter(|part| text(part, "type") == Some(kind));
        let lines: Vec<&str> = parts.filter_map(|part| text(part, "content")).collect();
        lines.join("\n")
    };
    let asked = of_kind("REQUEST");
    let is_user = match text(map, "role") {
        Some(role) => role.eq_ignore_ascii_case("user"),
        None if map.contains("fragments") => !asked.is_empty(),
        // Older files name no role: questions and answers alternate.
        None => depth.is_multiple_of(2),
    };
    let said = if is_user { asked } else { of_kind("RESPONSE") };
    let plain = text(map, "content").map(str::to_owned);
    let mut placed = vec!["inserted_at", "model", "content", "role", "files"];
    let is_read = |part: &Map| matches!(text(part, "type"), Some("REQUEST" | "RESPONSE" | "THINK"));
    // Members of a fragment beside its type and its text are kept with the message.
    if objects(map, "fragments").all(|part| part.len() == 2 && is_read(part)) {
        placed.push("fragments");
    }
    let mut message = Message {
        role: if is_user { "user" } else { "assistant" },
        created_at: time(map, "inserted_at"),
        text: plain.or(Some(said)).filter(|text| !text.is_empty()),
        model: text(map, "model").map(str::to_owned),
        raw: rest(map, &placed),
        ..Message::default()
    };
    for file in objects(map, "files") {
        let name = text(file, "file_name").or_else(|| text(file, "name"));
        let id = text(file, "id").or_else(|| text(file, "file_id"));
        message.attachments.push(object([
            ("type", Some("file".into())),
            ("name", name.map(Value::from)),
            ("provider_id", id.map(Value::from)),
        ]));
    }
    let searched = objects(map, "fragments").flat_map(|part| objects(part, "results"));
    for source in searched.chain(objects(map, "search_results")) {
        message.citations.push(object([
            ("title", text(source, "title").map(Value::from)),
            ("url", source.get("url").cloned().filter(is_url)),
            ("snippet", text(source, "snippet").map(Value::from)),
        ]));
    }
    message
}

/// Returns what was thought before a message, as a message of its own that this one answers.
fn thought(map: &Map, message: &mut Message) -> Option<Message> {
    let parts = objects(map, "fragments").filter(|part| text(part, "type") == Some("THINK"));
    let lines: Vec<&str> = parts.filter_map(|part| text(part, "content")).collect();
    let older = text(map, "reasoning_content").unwrap_or_default();
    let thought = if lines.is_empty() {
        older.to_owned()
    } else {
        lines.join("\n")
    };
    message.raw.remove("reasoning_content");
    (!thought.is_empty()).then(|| message.thought(thought))
}
