//! Grok: `prod-grok-backend.json`, an object with conversations, each wrapped twice, and with the
//! projects and media posts beside them.

use crate::codec::{Map, Value};
use crate::grain::Time;

use super::super::conversation::{
    Conversation, Message, listed, object, objects, placed_id, rest, text, time,
};
use super::super::fact::{Fact, titled};
use super::chatgpt::is_url;
use crate::interchange::Loss;

/// Reads one conversation; `None` if the object is none.
pub(in crate::interchange::formats::provider) fn conversation(
    wrapped: &Map,
) -> Option<Conversation> {
    let map = wrapped.get("conversation")?.as_map()?;
    wrapped.get("responses")?.as_array()?;
    let (id_name, id) = named(map, ["id", "conversation_id"])?;
    let placed = [id_name, "title", "create_time", "modify_time", "user_id"];
    let mut raw = rest(map, &placed);
    raw.extend_with(rest(wrapped, &["conversation", "responses"]));
    let mut lost = Loss::default();
    let mut messages = Vec::new();
    for (number, wrapped) in listed(wrapped, "responses", &mut lost) {
        match wrapped.get("response").and_then(Value::as_map) {
            Some(response) => messages.push(message(wrapped, response, (id, number))),
            None => lost.count("message"),
        }
    }
    Some(Conversation {
        id: id.to_owned(),
        title: text(map, "title").map(str::to_owned),
        created_at: time(map, "create_time"),
        updated_at: time(map, "modify_time"),
        account: text(map, "user_id").map(str::to_owned),
        model: None,
        is_archived: None,
        messages,
        raw,
        lost,
    })
}

/// Reads a message, whose place is the conversation and a number in it.
fn message(wrapped: &Map, map: &Map, (conversation, number): (&str, usize)) -> Message {
    let (id_name, id) = named(map, ["_id", "response_id"]).unzip();
    let said = text(map, "message").unwrap_or_default();
    let placed_id = || placed_id("grok", conversation, number, said);
    let is_human = text(map, "sender").is_some_and(|it| it.eq_ignore_ascii_case("human"));
    let placed = [
        id_name.unwrap_or_default(),
        "parent_response_id",
        "sender",
        "message",
        "create_time",
        "model",
        "conversation_id",
    ];
    let mut raw = rest(map, &placed);
    raw.extend_with(rest(wrapped, &["response"]));
    let mut message = Message {
        id: id.map_or_else(placed_id, str::to_owned),
        role: if is_human { "user" } else { "assistant" },
        created_at: map.get("create_time").and_then(moment),
        parent: text(map, "parent_response_id").map(str::to_owned),
        text: text(map, "message").map(str::to_owned),
        model: text(map, "model").map(str::to_owned),
        raw,
        ..Message::default()
    };
    let cited = match map.contains("cited_web_search_results") {
        true => "cited_web_search_results",
        false => "web_search_results",
    };
    for source in objects(map, cited) {
        message.citations.push(object([
            ("title", text(source, "title").map(Value::from)),
            ("url", source.get("url").cloned().filter(is_url)),
            ("snippet", text(source, "preview").map(Value::from)),
        ]));
    }
    for (name, kind, member) in [
        ("generated_image_urls", "image", "ref"),
        ("file_attachments", "file", "provider_id"),
    ] {
        for reference in map.get(name).into_iter().flat_map(Value::texts) {
            let parts = [
                ("type", Some(kind.into())),
                (member, Some(reference.into())),
            ];
            message.attachments.push(object(parts));
        }
    }
    message
}

/// Returns the first of two members that is a text, with its name: of two kinds of exports.
fn named<'a>(map: &'a Map, names: [&'static str; 2]) -> Option<(&'static str, &'a str)> {
    let mut names = names.into_iter();
    names.find_map(|name| Some((name, text(map, name)?)))
}

/// Returns a time of MongoDB: `{"$date": {"$numberLong": "ms"}}`, `{"$date": "…"}` or the text.
fn moment(value: &Value) -> Option<String> {
    let Value::Map(map) = value else {
        let wrapped: Map = [("time", value.clone())].into_iter().collect();
        return time(&wrapped, "time");
    };
    let date = map.get("$date")?;
    let ms = match date {
        Value::Map(long) => text(long, "$numberLong")?.parse().ok()?,
        Value::Int(int) => int.as_i64()?,
        other => return moment(other).filter(|_| other.as_text().is_some()),
    };
    Some(Time::from_ms(ms).to_string())
}

/// Adds the members of another wrapper.
trait Extend {
    fn extend_with(&mut self, other: Map);
}

impl Extend for Map {
    fn extend_with(&mut self, other: Map) {
        for (name, value) in other {
            self.insert(name, value);
        }
    }
}

/// Reads an element of one of the arrays of facts; `None` without content.
pub(in crate::interchange::formats::provider) fn fact(array: &str, map: &Map) -> Option<Fact> {
    match array {
        "projects" => project(map),
        _ => media_post(map),
    }
}

/// Returns the members of an export that are not read, with their places; arrays that are read are
/// empty.
pub(in crate::interchange::formats::provider) fn unread(export: &Map) -> Vec<(String, String)> {
    let mut unread = Vec::new();
    for (name, value) in export.iter().filter(|(_, value)| !is_nothing(value)) {
        let items = value.as_array().unwrap_or_default();
        let message = match items.len() {
            0 => format!("{name} is not read"),
            count => format!("{count} records of {name} are not read"),
        };
        unread.push((format!("/{name}"), message));
    }
    unread
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.is_empty(),
        Value::Map(map) => map.is_empty(),
        value => *value == Value::Nil,
    }
}

fn project(map: &Map) -> Option<Fact> {
    let id = text(map, "workspace_id")?.to_owned();
    let mut fact = Fact::new(id, "project", &titled(map, "name", "custom_personality"))?;
    let placed = ["workspace_id", "name", "custom_personality", "create_time"];
    fact.created_at = map.get("create_time").and_then(moment);
    fact.raw = rest(map, &placed);
    Some(fact)
}

fn media_post(map: &Map) -> Option<Fact> {
    let id = text(map, "id")?.to_owned();
    let mut fact = Fact::new(id, "context", text(map, "original_prompt")?)?;
    fact.created_at = map.get("create_time").and_then(moment);
    fact.raw = rest(map, &["id", "original_prompt", "create_time"]);
    Some(fact)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_named() {
        let export = Value::from_json(
            r#"{"conversations": [], "tasks": [1, 2], "new": {"a": 1}, "none": []}"#,
        );
        let Ok(Value::Map(export)) = export else {
            unreachable!()
        };
        let skipped = unread(&export);
        let expected = [
            ("/new", "new is not read"),
            ("/tasks", "2 records of tasks are not read"),
        ];
        let expected = expected.map(|(at, message)| (at.to_owned(), message.to_owned()));
        assert_eq!(skipped, expected);
    }
}
