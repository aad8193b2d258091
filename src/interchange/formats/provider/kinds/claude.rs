//! Claude: `conversations.json`, an array of lists of messages, which branch in newer files.

use crate::codec::{Map, Value};

use super::super::conversation::{
    Conversation, Message, listed, object, objects, placed_id, rest, text, time,
};
use super::chatgpt::is_url;
use crate::interchange::Loss;

/// Reads one conversation; `None` if the object is none.
pub(in crate::interchange::formats::provider) fn conversation(map: &Map) -> Option<Conversation> {
    map.get("chat_messages")?.as_array()?;
    let account = map.get("account").and_then(Value::as_map);
    let id = text(map, "uuid")?;
    let mut lost = Loss::default();
    let said = listed(map, "chat_messages", &mut lost).into_iter();
    let mut conversation = Conversation {
        id: id.to_owned(),
        title: text(map, "name").map(str::to_owned),
        created_at: time(map, "created_at"),
        updated_at: time(map, "updated_at"),
        account: account
            .and_then(|account| text(account, "uuid"))
            .map(str::to_owned),
        model: text(map, "model").map(str::to_owned),
        is_archived: None,
        messages: said
            .flat_map(|(number, it)| messages(it, id, number))
            .collect(),
        lost,
        raw: rest(
            map,
            &[
                "uuid",
                "name",
                "created_at",
                "updated_at",
                "account",
                "chat_messages",
                "model",
            ],
        ),
    };
    let branches = objects(map, "chat_messages").any(|it| it.contains("parent_message_uuid"));
    if !branches {
        conversation.thread();
    }
    Some(conversation)
}

/// Returns a message, its thoughts before it, and the results of its tools after it.
fn messages(map: &Map, conversation: &str, number: usize) -> Vec<Message> {
    let mut message = message(map, conversation, number);
    let mut all = Vec::new();
    let thought = said_in(map, "thinking", "thinking");
    if !thought.is_empty() && !message.is_thought {
        all.push(message.thought(thought));
    }
    let mut parent = message.id.clone();
    let created_at = message.created_at.clone();
    all.push(message);
    let results = objects(map, "content").filter(|part| text(part, "type") == Some("tool_result"));
    for (number, part) in results.enumerate() {
        let output = result(part);
        let plain = text(part, "content").map(str::to_owned);
        let output = plain.unwrap_or(output);
        let id = format!("{}/result/{number}", parent_of(&parent));
        let call = object([
            ("id", text(part, "tool_use_id").map(Value::from)),
            ("name", Some(text(part, "name").unwrap_or("tool").into())),
            ("output", Some(output.as_str().into())),
        ]);
        all.push(Message {
            id: id.clone(),
            role: "tool",
            created_at: created_at.clone(),
            parent: Some(std::mem::replace(&mut parent, id)),
            text: Some(output),
            tool_calls: vec![call],
            ..Message::default()
        });
    }
    all
}

/// Returns the id of the message that made a tool's result.
fn parent_of(id: &str) -> &str {
    id.split_once("/result/").map_or(id, |(id, _)| id)
}

/// Returns what a tool found: texts, and sources with their titles.
fn result(part: &Map) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for item in objects(part, "content") {
        match text(item, "type") {
            Some("text") => lines.extend(text(item, "text")),
            Some("knowledge") => lines.extend(
                ["title", "text"]
                    .into_iter()
                    .filter_map(|name| text(item, name)),
            ),
            _ => {}
        }
    }
    lines.join("\n")
}

/// Returns the texts of the parts of a kind, a line each.
fn said_in(map: &Map, kind: &str, name: &str) -> String {
    let parts = objects(map, "content").filter(|part| text(part, "type") == Some(kind));
    let lines: Vec<&str> = parts.filter_map(|part| text(part, name)).collect();
    lines.join("\n")
}

fn message(map: &Map, conversation: &str, number: usize) -> Message {
    let role = match text(map, "sender") {
        Some("human") => "user",
        _ => "assistant",
    };
    let said = text(map, "text").unwrap_or_default();
    let id = || placed_id("claude", conversation, number, said);
    let mut message = Message {
        id: text(map, "uuid").map_or_else(id, str::to_owned),
        role,
        created_at: time(map, "created_at"),
        // The sentinel is not among the messages, so it falls away with every unknown parent.
        parent: text(map, "parent_message_uuid").map(str::to_owned),
        raw: rest(
            map,
            &[
                "uuid",
                "sender",
                "created_at",
                "parent_message_uuid",
                "text",
            ],
        ),
        ..Message::default()
    };
    read_content(map, &mut message);
    message.attachments = attachments(map);
    // The text of a document is part of what was said with it.
    let documents = objects(map, "attachments").filter_map(|file| text(file, "extracted_content"));
    let documents: Vec<&str> = documents.collect();
    if !documents.is_empty() {
        let own = message.text.take();
        let texts = own.as_deref().into_iter().chain(documents);
        let part =
            |text: &str| object([("type", Some("text".into())), ("text", Some(text.into()))]);
        message.parts = texts.filter(|text| !text.is_empty()).map(part).collect();
    }
    message
}

fn read_content(map: &Map, message: &mut Message) {
    let mut said: Vec<&str> = Vec::new();
    let mut thought: Vec<&str> = Vec::new();
    let mut is_only_text = true;
    for part in objects(map, "content") {
        match text(part, "type") {
            Some("text") => {
                said.extend(text(part, "text"));
                is_only_text &= part.len() == 2;
                message
                    .citations
                    .extend(objects(part, "citations").map(citation));
                continue;
            }
            Some("thinking") => thought.extend(text(part, "thinking")),
            Some("tool_use") => message.tool_calls.push(object([
                ("id", text(part, "id").map(Value::from)),
                ("name", Some(text(part, "name").unwrap_or("tool").into())),
                (
                    "input",
                    part.get("input")
                        .cloned()
                        .filter(|it| it.as_map().is_some()),
                ),
            ])),
            Some("tool_result") => {
                message
                    .citations
                    .extend(objects(part, "content").map(citation));
            }
            _ => {}
        }
        is_only_text = false;
    }
    // `text` repeats the text parts, or is empty; for a part that the screen of the export cannot
    // show it has a notice. Where the two differ, the parts are the message.
    let is_shown = |part: &Map| text(part, "type") == Some("text");
    let stated = text(map, "text").map(|stated| match objects(map, "content").all(is_shown) {
        true => stated.to_owned(),
        false => without_notices(stated),
    });
    let stated = stated.filter(|text| !text.is_empty());
    let parts = Some(said.join("\n")).filter(|text| !text.is_empty());
    let is_repeated = parts.is_some() && (stated.is_none() || stated == parts);
    if parts.is_some()
        && !is_repeated
        && let Some(stated) = map.get("text")
    {
        message.raw.insert("text", stated.clone());
    }
    message.text = parts.or(stated);
    if message.text.is_none() && !thought.is_empty() {
        message.text = Some(thought.join("\n"));
        message.is_thought = true;
    }
    if is_only_text && said.len() <= 1 && (is_repeated || said.is_empty()) {
        message.raw.remove("content");
    }
}

/// Removes what stands in `text` in the place of a part that cannot be shown.
fn without_notices(text: &str) -> String {
    if !NOTICES.iter().any(|notice| text.contains(notice)) {
        return text.to_owned();
    }
    let mut text = text.to_owned();
    for notice in NOTICES {
        for quoted in [format!("```\n{notice}\n```"), (*notice).to_owned()] {
            text = text.replace(&quoted, "");
        }
    }
    text.trim().to_owned()
}

const NOTICES: [&str; 2] = [
    "This block is not supported on your current device yet.",
    "Viewing artifacts created via the Analysis Tool web feature preview isn’t yet supported on mobile.",
];

fn attachments(map: &Map) -> Vec<Value> {
    let mut found = Vec::new();
    for file in objects(map, "attachments") {
        found.push(object([
            ("type", Some("document".into())),
            ("name", text(file, "file_name").map(Value::from)),
            (
                "size_bytes",
                file.get("file_size")
                    .filter(|it| it.as_i64().is_some())
                    .cloned(),
            ),
        ]));
    }
    for file in objects(map, "files") {
        let name = text(file, "file_name");
        let kind = if name.is_some_and(is_image) {
            "image"
        } else {
            "file"
        };
        found.push(object([
            ("type", Some(kind.into())),
            ("name", name.map(Value::from)),
        ]));
    }
    found
}

fn citation(source: &Map) -> Value {
    let details = source.get("details").and_then(Value::as_map);
    let member = |name: &str| source.get(name).or_else(|| details?.get(name)).cloned();
    object([
        (
            "title",
            member("title").filter(|title| title.as_text().is_some()),
        ),
        ("url", member("url").filter(is_url)),
    ])
}

fn is_image(name: &str) -> bool {
    let ending = name
        .rsplit('.')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    ["png", "jpg", "jpeg", "gif", "webp", "svg", "bmp"].contains(&ending.as_str())
}
