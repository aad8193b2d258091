//! Cursor: the conversations of the editor as its exporters write them, each a list of bubbles.

use crate::codec::{Int, Map, Value};
use crate::grain::Time;

use super::super::conversation::{Conversation, Message, listed, placed_id, rest, text, time};

/// Reads one conversation; `None` if the object is none.
pub(in crate::interchange::formats::provider) fn conversation(map: &Map) -> Option<Conversation> {
    let list = ["conversation", "bubbles", "messages"];
    let list = list
        .into_iter()
        .find(|name| map.get(name).is_some_and(|it| it.as_array().is_some()))?;
    let first = |names: &[&'static str]| {
        names
            .iter()
            .find_map(|name| Some((*name, text(map, name)?)))
    };
    let (id_name, id) = first(&["composerId", "tabId", "id"])?;
    let (title_name, title) = first(&["name", "chatTitle", "title"]).unzip();
    let mut placed = vec![list, id_name, "createdAt", "lastUpdatedAt"];
    placed.extend(title_name);
    let mut conversation = Conversation {
        id: id.to_owned(),
        title: title.map(str::to_owned),
        created_at: moment(map, "createdAt"),
        updated_at: moment(map, "lastUpdatedAt").or_else(|| moment(map, "lastSendTime")),
        messages: Vec::new(),
        raw: rest(map, &placed),
        ..Conversation::default()
    };
    for (number, bubble) in listed(map, list, &mut conversation.lost) {
        conversation.messages.push(message(bubble, id, number));
    }
    conversation.thread();
    Some(conversation)
}

fn message(map: &Map, conversation: &str, number: usize) -> Message {
    let kind = map.get("type").or_else(|| map.get("role"));
    let is_user = match kind {
        Some(Value::Text(name)) => ["user", "human"].contains(&name.as_str()),
        Some(Value::Int(number)) => *number == Int::from(1_i64),
        _ => false,
    };
    let is_tool = kind.and_then(Value::as_text) == Some("tool");
    let said = text(map, "text").or_else(|| text(map, "content"));
    let said = said.unwrap_or_default();
    let own = text(map, "bubbleId").or_else(|| text(map, "id"));
    let id = own.map_or_else(
        || placed_id("cursor", conversation, number, said),
        str::to_owned,
    );
    let timing = map.get("timingInfo").and_then(Value::as_map);
    let started = timing.and_then(|timing| moment(timing, "clientStartTime"));
    let placed = [
        "type",
        "role",
        "text",
        "content",
        "bubbleId",
        "id",
        "createdAt",
        "timestamp",
    ];
    Message {
        id,
        role: match (is_user, is_tool) {
            (true, _) => "user",
            (_, true) => "tool",
            _ => "assistant",
        },
        created_at: moment(map, "createdAt")
            .or_else(|| moment(map, "timestamp"))
            .or(started),
        text: Some(said.to_owned()),
        raw: rest(map, &placed),
        ..Message::default()
    }
}

/// Returns a time given as text, or in milliseconds.
fn moment(map: &Map, name: &str) -> Option<String> {
    match map.get(name)? {
        Value::Int(ms) => Some(Time::from_ms(ms.as_i64().filter(|ms| *ms > 0)?).to_string()),
        _ => time(map, name),
    }
}
