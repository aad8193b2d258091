//! ChatGPT: `conversations.json`, or `conversations-NNN.json`, an array of graphs of messages.

use std::collections::HashMap;

use crate::codec::{Map, Value};
use crate::grain::Time;

use super::super::conversation::{
    Conversation, Message, into_rest, object, objects, rest, spoken, text,
};
use super::super::graph::{Above, places};
use crate::interchange::Loss;

/// Reads one conversation; `None` if the object is none.
pub(in crate::interchange::formats::provider) fn conversation(
    mut map: Map,
) -> Option<Conversation> {
    map.get("mapping")?.as_map()?;
    let id = text(&map, "conversation_id").or_else(|| text(&map, "id"))?;
    let mut conversation = Conversation {
        id: id.to_owned(),
        title: text(&map, "title").map(str::to_owned),
        created_at: map.get("create_time").and_then(seconds),
        updated_at: map.get("update_time").and_then(seconds),
        is_archived: map.get("is_archived").and_then(Value::as_bool),
        model: text(&map, "default_model_slug").map(str::to_owned),
        ..Conversation::default()
    };
    if let Some(Value::Map(nodes)) = map.remove("mapping") {
        conversation.messages = messages(nodes, &mut conversation.lost);
    }
    let placed = [
        "id",
        "conversation_id",
        "title",
        "create_time",
        "update_time",
        "default_model_slug",
    ];
    conversation.raw = into_rest(map, &placed);
    Some(conversation)
}

/// Reads the messages of a graph, by time.
fn messages(nodes: Map, lost: &mut Loss) -> Vec<Message> {
    let head = |((key, node), place): ((&str, &Value), Above<'_>)| {
        let (node, _) = spoken(node, lost)?;
        let id = text(node, "id").unwrap_or(key).to_owned();
        Some((id, place.nearest.map(str::to_owned)))
    };
    let heads: Vec<_> = nodes.iter().zip(places(&nodes)).map(head).collect();
    let mut messages = Vec::with_capacity(heads.len());
    for (node, head) in nodes.into_values().zip(heads) {
        if let (Value::Map(mut node), Some((id, parent))) = (node, head)
            && let Some(Value::Map(said)) = node.remove("message")
        {
            messages.push(Message {
                id,
                parent,
                ..message(said)
            });
        }
    }
    // A graph has no order of its own: by time, then by name.
    messages.sort_by(|a, b| (&a.created_at, &a.id).cmp(&(&b.created_at, &b.id)));
    messages
}

/// Reads a message. Its members become the rest of it, so that the texts are not copied.
fn message(mut map: Map) -> Message {
    let plain = take_plain(&mut map);
    let author = map.get("author").and_then(Value::as_map);
    let author_text = |name: &str| author.and_then(|author| text(author, name));
    let role = match author_text("role") {
        Some("user") => "user",
        Some("system") => "system",
        Some("tool") => "tool",
        _ => "assistant",
    };
    let metadata = map.get("metadata").and_then(Value::as_map);
    let mut message = Message {
        role,
        created_at: map.get("create_time").and_then(seconds),
        model: metadata
            .and_then(|it| text(it, "model_slug"))
            .map(str::to_owned),
        ..Message::default()
    };
    let recipient = text(&map, "recipient").filter(|recipient| *recipient != "all");
    let called = match role {
        "assistant" => recipient.map(|name| ("input", name.to_owned())),
        "tool" => Some(("output", author_text("name").unwrap_or("tool").to_owned())),
        _ => None,
    };
    if let Some(plain) = plain {
        message.text = Some(plain);
    } else if let Some(content) = map.get("content").and_then(Value::as_map) {
        read_content(content, &mut message);
    }
    if let Some((of, name)) = called {
        let said = message.text.clone().map(Value::Text);
        let call = [("name", Some(Value::from(name))), (of, said)];
        message.tool_calls.push(object(call));
    }
    if let Some(metadata) = metadata {
        read_metadata(metadata, &mut message);
    }
    message.raw = into_rest(map, &["id", "create_time"]);
    message
}

/// Takes a content out that is one text and nothing else: the message is the text itself.
fn take_plain(map: &mut Map) -> Option<String> {
    let content = map.get("content")?.as_map()?;
    let is_text = text(content, "content_type").unwrap_or("text") == "text";
    if !is_text || content.len() != 2 || parts_of(content).len() > 1 {
        return None;
    }
    let parts = match map.remove("content") {
        Some(Value::Map(mut content)) => content.remove("parts"),
        _ => None,
    };
    match parts {
        Some(Value::Array(mut parts)) => match parts.pop() {
            Some(Value::Text(text)) => Some(text),
            _ => Some(String::new()),
        },
        _ => Some(String::new()),
    }
}

fn parts_of(content: &Map) -> &[Value] {
    let parts = content.get("parts").and_then(Value::as_array);
    parts.unwrap_or_default()
}

fn read_content(content: &Map, message: &mut Message) {
    let parts = parts_of(content);
    let lines = |parts: &[Value]| {
        let lines: Vec<&str> = parts.iter().filter_map(Value::as_text).collect();
        lines.join("\n")
    };
    match text(content, "content_type").unwrap_or("text") {
        "text" => message.text = Some(lines(parts)),
        "multimodal_text" => message.parts = parts.iter().filter_map(part).collect(),
        "thoughts" => {
            let thoughts: Vec<&str> = objects(content, "thoughts")
                .filter_map(|thought| text(thought, "content"))
                .collect();
            message.text = Some(thoughts.join("\n"));
            message.is_thought = true;
        }
        "reasoning_recap" => {
            message.text = text(content, "content").map(str::to_owned);
            message.is_thought = true;
        }
        "tether_quote" | "sonic_webpage" => {
            message.text = text(content, "text").map(str::to_owned);
            message.citations.push(object([
                ("title", content.get("title").cloned()),
                ("url", content.get("url").cloned().filter(is_url)),
            ]));
        }
        // The custom instructions, which the interface does not show as a message.
        "user_editable_context" => {
            let said = ["user_profile", "user_instructions"];
            let lines: Vec<&str> = said
                .into_iter()
                .filter_map(|name| text(content, name))
                .collect();
            message.text = Some(lines.join("\n"));
        }
        "tether_browsing_display" => message.text = text(content, "result").map(str::to_owned),
        // Code and its output are in `text`, and so may be new types.
        _ => {
            let plain = text(content, "text").map(str::to_owned);
            message.text = plain.or_else(|| Some(lines(parts)).filter(|text| !text.is_empty()));
        }
    }
}

fn part(part: &Value) -> Option<Value> {
    match part {
        Value::Text(text) => Some(object([
            ("type", Some("text".into())),
            ("text", Some(text.as_str().into())),
        ])),
        Value::Map(map) if text(map, "content_type") == Some("audio_transcription") => {
            Some(object([
                ("type", Some("text".into())),
                ("text", text(map, "text").map(Value::from)),
            ]))
        }
        Value::Map(map) => {
            let is_image = text(map, "content_type") == Some("image_asset_pointer");
            let kind = if is_image { "image" } else { "file" };
            Some(object([
                ("type", Some(kind.into())),
                ("ref", text(map, "asset_pointer").map(Value::from)),
            ]))
        }
        _ => None,
    }
}

fn read_metadata(metadata: &Map, message: &mut Message) {
    for file in objects(metadata, "attachments") {
        message.attachments.push(object([
            ("type", Some("file".into())),
            ("provider_id", text(file, "id").map(Value::from)),
            ("name", text(file, "name").map(Value::from)),
            ("mime_type", text(file, "mime_type").map(Value::from)),
            (
                "size_bytes",
                file.get("size").filter(|it| it.as_i64().is_some()).cloned(),
            ),
        ]));
    }
    let cited = objects(metadata, "citations").filter_map(|it| it.get("metadata")?.as_map());
    let groups = objects(metadata, "search_result_groups");
    let found = groups.flat_map(|group| objects(group, "entries"));
    for source in cited.chain(found) {
        let snippet = text(source, "text").or_else(|| text(source, "snippet"));
        message.citations.push(object([
            ("title", text(source, "title").map(Value::from)),
            ("url", source.get("url").cloned().filter(is_url)),
            ("snippet", snippet.map(Value::from)),
        ]));
    }
}

pub(in crate::interchange::formats::provider) fn is_url(value: &Value) -> bool {
    value.as_text().is_some_and(|text| text.contains("://"))
}

/// Returns a time given in seconds, to the microsecond, from its decimal digits: a division of
/// doubles would move it. Zero is how an absent time is written.
fn seconds(value: &Value) -> Option<String> {
    let text = value.to_json();
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let whole: i64 = whole.parse().ok().filter(|whole| *whole > 0)?;
    let mut moment = Time::from_ms(whole.checked_mul(1000)?).to_string();
    let second = moment.strip_suffix(".000Z")?.len();
    let digits = fraction.get(..6).unwrap_or(fraction);
    let is_decimal = digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_decimal {
        return None;
    }
    moment.truncate(second);
    if digits.bytes().any(|digit| digit != b'0') {
        moment.push('.');
        moment.push_str(digits);
        (digits.len()..6).for_each(|_| moment.push('0'));
    }
    moment.push('Z');
    Some(moment)
}

/// The ratings of messages, by their ids.
pub(in crate::interchange::formats::provider) type Feedback = HashMap<String, Map>;

/// Reads the ratings of `message_feedback.json`.
pub(in crate::interchange::formats::provider) fn feedback(value: &Value) -> Feedback {
    let items = value.as_array().unwrap_or_default().iter();
    let items = items.filter_map(|item| {
        let map = item.as_map()?;
        let id = text(map, "message_id")?.to_owned();
        Some((id, rest(map, &["message_id", "id"])))
    });
    items.collect()
}

/// Adds the ratings of its messages to a conversation.
pub(in crate::interchange::formats::provider) fn add_feedback(
    conversation: &mut Conversation,
    feedback: &Feedback,
) {
    for message in &mut conversation.messages {
        if let Some(feedback) = feedback.get(&message.id) {
            message.raw.insert("feedback", feedback.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_keep_their_microseconds() {
        for (json, expected) in [
            ("1700000000.123456", Some("2023-11-14T22:13:20.123456Z")),
            ("1700000000.5", Some("2023-11-14T22:13:20.500000Z")),
            ("1700000000", Some("2023-11-14T22:13:20Z")),
            ("1700000000.0", Some("2023-11-14T22:13:20Z")),
            ("0", None),
            ("null", None),
            ("\"x\"", None),
            ("1e300", None),
        ] {
            let value = Value::from_json(json).unwrap();
            assert_eq!(seconds(&value).as_deref(), expected, "{json}");
        }
    }
}
