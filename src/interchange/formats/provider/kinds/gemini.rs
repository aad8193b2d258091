//! Gemini: `MyActivity.json` of Google Takeout, an array of exchanges, newest first.

use std::collections::{BTreeMap, HashSet};

use crate::codec::{Map, Value};
use crate::grain::Time;
use crate::interchange::model::rfc3339::parse_rfc3339;

use super::super::conversation::{Conversation, Message, objects, rest, stable_id, text, time};

/// Reads all conversations; returns also how many records have no time, or are no exchange.
pub(in crate::interchange::formats::provider) fn conversations(
    records: &[Value],
) -> (Vec<Conversation>, u64) {
    let (exchanges, skipped) = exchanges(records);
    let mut named: BTreeMap<String, Conversation> = BTreeMap::new();
    let mut unnamed: Vec<Conversation> = Vec::new();
    let mut last = None;
    for (at, time, exchange, map) in exchanges {
        let conversation = match conversation_id(map) {
            Some(id) => named.entry(id.to_owned()).or_insert_with(|| Conversation {
                id: id.to_owned(),
                ..Conversation::default()
            }),
            None => {
                if last.is_none_or(|last| !is_near(last, at)) || unnamed.is_empty() {
                    let user = exchange.first().map(|(_, text)| text.as_str());
                    unnamed.push(Conversation {
                        id: stable_id(&["gemini", &time, user.unwrap_or_default()]),
                        ..Conversation::default()
                    });
                }
                last = Some(at);
                match unnamed.last_mut() {
                    Some(conversation) => conversation,
                    None => continue,
                }
            }
        };
        let placed = ["time", "title", "titleUrl", "details", "safeHtmlItem"];
        let mut raw = rest(map, &placed);
        // HTML and interactions hold more than the text taken out of them.
        let details = Some("details").filter(|_| !are_read(map));
        let names = ["safeHtmlItem", "userInteractions", "title"];
        for name in names.into_iter().chain(details) {
            if let Some(value) = map.get(name) {
                raw.insert(name, value.clone());
            }
        }
        for (role, text) in exchange {
            let place = conversation.messages.len().to_string();
            conversation.messages.push(Message {
                id: stable_id(&["gemini", &conversation.id, &time, role, &text, &place]),
                role,
                created_at: Some(time.clone()),
                text: Some(text),
                raw: std::mem::take(&mut raw),
                ..Message::default()
            });
        }
    }
    let mut conversations: Vec<Conversation> = named.into_values().chain(unnamed).collect();
    for conversation in &mut conversations {
        let first = conversation
            .messages
            .iter()
            .find(|message| message.role == "user");
        let title = first.and_then(|message| message.text.as_deref());
        conversation.title = title.map(|text| text.chars().take(100).collect());
        conversation.created_at = conversation
            .messages
            .first()
            .and_then(|message| message.created_at.clone());
        conversation.updated_at = conversation
            .messages
            .last()
            .and_then(|message| message.created_at.clone());
        conversation.thread();
    }
    (conversations, skipped)
}

/// The order in which the records of a file are read, so that each conversation is together.
#[derive(Default)]
pub(in crate::interchange::formats::provider) struct Plan {
    /// Where each record begins.
    pub(in crate::interchange::formats::provider) starts: Vec<u64>,
    /// Their numbers, conversation by conversation, each oldest first.
    pub(in crate::interchange::formats::provider) order: Vec<usize>,
    /// The numbers of the last records of conversations.
    last: HashSet<usize>,
    found: Vec<(Time, usize, Option<Box<str>>)>,
}

/// Returns the time and the conversation of a record that is an exchange.
pub(in crate::interchange::formats::provider) fn summarize(
    record: &Value,
) -> Option<(Time, Option<Box<str>>)> {
    let map = record.as_map()?;
    let at = parse_rfc3339(&time(map, "time")?).ok()?;
    exchange(map).filter(|_| is_of_gemini(map))?;
    Some((at, conversation_id(map).map(Box::from)))
}

impl Plan {
    /// Notes the next record of the file.
    pub(in crate::interchange::formats::provider) fn note(
        &mut self,
        summarize: Option<(Time, Option<Box<str>>)>,
        start: u64,
    ) {
        let number = self.starts.len();
        self.starts.push(start);
        self.found
            .extend(summarize.map(|(at, id)| (at, number, id)));
    }

    /// Groups the records as [`conversations`] does; returns how many are no exchange.
    pub(in crate::interchange::formats::provider) fn finish(&mut self) -> usize {
        let mut found = std::mem::take(&mut self.found);
        found.sort_by_key(|(at, ..)| *at);
        let skipped = self.starts.len().saturating_sub(found.len());
        let mut named: BTreeMap<Box<str>, Vec<usize>> = BTreeMap::new();
        let mut unnamed: Vec<usize> = Vec::new();
        let mut before: Option<(Time, usize)> = None;
        for (at, number, id) in found {
            let Some(id) = id else {
                let parted = before.filter(|(last, _)| !is_near(*last, at));
                self.last.extend(parted.map(|(_, number)| number));
                before = Some((at, number));
                unnamed.push(number);
                continue;
            };
            named.entry(id).or_default().push(number);
        }
        for together in named.into_values() {
            self.last.extend(together.last());
            self.order.extend(together);
        }
        self.last.extend(before.map(|(_, number)| number));
        self.order.extend(unnamed);
        skipped
    }

    /// Returns whether a record is the last of its conversation.
    pub(in crate::interchange::formats::provider) fn is_last(&self, number: usize) -> bool {
        self.last.contains(&number)
    }
}

fn is_near(last: Time, at: Time) -> bool {
    at.ms().saturating_sub(last.ms()) <= GAP_MS
}

/// An exchange: its time, and the texts by role.
type Exchange<'a> = (Time, String, Vec<(&'static str, String)>, &'a Map);

/// Returns the exchanges, oldest first, and how many records are none.
fn exchanges(records: &[Value]) -> (Vec<Exchange<'_>>, u64) {
    let mut skipped: u64 = 0;
    let mut exchanges = Vec::new();
    for record in records {
        let read = record.as_map().and_then(|map| {
            let time = time(map, "time").filter(|_| is_of_gemini(map))?;
            Some((parse_rfc3339(&time).ok()?, time, exchange(map)?, map))
        });
        match read {
            Some(read) => exchanges.push(read),
            None => skipped = skipped.saturating_add(1),
        }
    }
    exchanges.sort_by_key(|(at, ..)| *at);
    (exchanges, skipped)
}

/// Returns whether a record is activity in Gemini, as far as it says: Takeout can write the activity
/// in all products of a person to one file, and its names in other languages keep that of the product.
pub(in crate::interchange::formats::provider) fn is_of_gemini(map: &Map) -> bool {
    let names: Vec<&str> = ["header", "products"]
        .into_iter()
        .filter_map(|name| map.get(name))
        .flat_map(Value::texts)
        .collect();
    let is_it = |name: &&str| {
        let name = name.to_lowercase();
        name.contains("gemini") || name.contains("bard")
    };
    names.is_empty() || names.iter().any(is_it)
}

fn conversation_id(map: &Map) -> Option<&str> {
    let url = text(map, "titleUrl")?;
    let (_, after) = url.split_once("/c/")?;
    let is_id = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let end = after.find(|c| !is_id(c)).unwrap_or(after.len());
    after.get(..end).filter(|id| !id.is_empty())
}

/// Returns the texts by role: from `details`, from `userInteractions`, or from the title and its
/// HTML.
fn exchange(map: &Map) -> Option<Vec<(&'static str, String)>> {
    let mut said = Vec::new();
    for detail in objects(map, "details") {
        let role = match text(detail, "name") {
            Some("Request") => "user",
            Some("Response") => "assistant",
            _ => continue,
        };
        if let Some(value) = text(detail, "value") {
            said.push((role, value.to_owned()));
        }
    }
    for item in objects(map, "userInteractions") {
        let Some(item) = item.get("userInteraction").and_then(Value::as_map) else {
            continue;
        };
        for (name, role) in [("request", "user"), ("response", "assistant")] {
            if let Some(value) = text(item, name) {
                said.push((role, inner_text(value)));
            }
        }
    }
    if said.is_empty() {
        let title = text(map, "title")?;
        let verbs = ["Prompted ", "Asked ", "Said "];
        let prompt = verbs.iter().find_map(|verb| title.strip_prefix(verb));
        let html: Vec<String> = objects(map, "safeHtmlItem")
            .filter_map(|item| text(item, "html"))
            .map(plain)
            .collect();
        // A localised verb cannot be told from the prompt: with an answer, the title is a prompt.
        let prompt = prompt.or((!html.is_empty()).then_some(title))?;
        said.push(("user", prompt.to_owned()));
        if !html.is_empty() {
            said.push(("assistant", html.join("\n")));
        }
    }
    Some(said)
}

/// Returns whether all details of a record are questions and answers, as [`exchange`] reads them.
fn are_read(map: &Map) -> bool {
    let is_said = |detail: &&Map| {
        let is_named = matches!(text(detail, "name"), Some("Request" | "Response"));
        is_named && text(detail, "value").is_some()
    };
    let details = map.get("details").and_then(Value::as_array);
    let said = objects(map, "details").filter(is_said).count();
    details.unwrap_or_default().len() == said
}

/// Returns the text inside a JSON text, or the text itself.
fn inner_text(value: &str) -> String {
    let parsed = Value::from_json(value).ok();
    let found = parsed.as_ref().and_then(|value| first_text(value, 16));
    found.unwrap_or(value).to_owned()
}

fn first_text(value: &Value, depth_left: usize) -> Option<&str> {
    let below = depth_left.checked_sub(1)?;
    match value {
        Value::Map(map) => ["text", "content", "parts"].iter().find_map(|name| {
            let member = map.get(name)?;
            member.as_text().or_else(|| first_text(member, below))
        }),
        Value::Array(items) => items
            .iter()
            .find_map(|item| item.as_text().or_else(|| first_text(item, below))),
        _ => None,
    }
}

/// Returns the text of HTML: blocks end lines, tags go, entities become what they stand for.
fn plain(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find(['<', '&']) {
        let (before, found) = rest.split_at(at);
        text.push_str(before);
        let end = if found.starts_with('<') { '>' } else { ';' };
        let Some((token, after)) = found.split_once(end).filter(|(token, _)| {
            end == '>' || (token.len() <= ENTITY_LEN_MAX && !token.contains(' '))
        }) else {
            let mut chars = found.chars();
            text.extend(chars.next());
            rest = chars.as_str();
            continue;
        };
        if end == '>' {
            let name = token.trim_start_matches(['<', '/']).to_ascii_lowercase();
            let name = name.split(|c: char| !c.is_ascii_alphanumeric()).next();
            let ends_line = ["br", "p", "div", "li", "tr", "h1", "h2", "h3", "h4", "pre"];
            if name.is_some_and(|name| ends_line.contains(&name))
                && !text.is_empty()
                && !text.ends_with('\n')
            {
                text.push('\n');
            }
        } else {
            match entity(token) {
                Some(c) => text.push(c),
                None => {
                    text.push_str(token);
                    text.push(';');
                }
            }
        }
        rest = after;
    }
    text.push_str(rest);
    text.trim().to_owned()
}

fn entity(token: &str) -> Option<char> {
    let name = token.strip_prefix('&')?;
    let number = name
        .strip_prefix('#')
        .and_then(|digits| match digits.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok(),
            None => digits.parse().ok(),
        });
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "nbsp" => Some('\u{a0}'),
        _ => number.and_then(char::from_u32),
    }
}

const ENTITY_LEN_MAX: usize = 10;
/// After a pause of an hour another conversation begins.
const GAP_MS: i64 = 60 * 60 * 1000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_becomes_the_text_that_it_shows() {
        for (html, text) in [
            ("<p>a &amp; b</p><p>c<br/>d</p>", "a & b\nc\nd"),
            (
                "1 &lt; 2 &#233;&#x1f600; &bogus; & x; AT&T",
                "1 < 2 é😀 &bogus; & x; AT&T",
            ),
            ("<b>x</b> < y", "x < y"),
            ("&#xd800;&#99999999999;", "&#xd800;&#99999999999;"),
        ] {
            assert_eq!(plain(html), text);
        }
    }

    proptest::proptest! {
        #[test]
        fn the_records_of_each_conversation_alone_make_what_all_of_them_make(
            records in proptest::collection::vec((0_u32..12, 0_u8..4), 0..24),
        ) {
            let record = |(place, (slot, id)): (usize, (u32, u8))| {
                let url = match id {
                    // Most have none, and half an hour lies between two of these.
                    0 | 1 => String::new(),
                    id => format!(r#", "titleUrl": "https://x.example/c/id{id}""#),
                };
                let kind = if place == 5 { "Seen" } else { "Prompted" };
                let (hour, minute) = (slot.div_euclid(2), if slot % 2 == 0 { 0 } else { 59 });
                let text = format!(
                    r#"{{"time": "2026-01-01T{hour:02}:{minute:02}:00Z",
                        "title": "{kind} {place}"{url}}}"#
                );
                Value::from_json(&text).unwrap()
            };
            let records: Vec<Value> = records.into_iter().enumerate().map(record).collect();
            let said = |conversation: Conversation| {
                let ids = conversation.messages.into_iter().map(|message| (message.id, message.parent, message.text));
                (conversation.id, conversation.title, conversation.updated_at, ids.collect::<Vec<_>>())
            };
            let (all, skipped) = conversations(&records);
            let all: Vec<_> = all.into_iter().map(said).collect();
            let mut plan = Plan::default();
            for (start, record) in (0..).zip(&records) {
                plan.note(summarize(record), start);
            }
            proptest::prop_assert_eq!(plan.finish(), usize::try_from(skipped).unwrap());
            let (mut parts, mut together) = (Vec::new(), Vec::new());
            for number in &plan.order {
                together.extend(records.get(*number).cloned());
                if plan.is_last(*number) {
                    let (part, _) = conversations(&std::mem::take(&mut together));
                    proptest::prop_assert_eq!(part.len(), 1);
                    parts.extend(part.into_iter().map(said));
                }
            }
            proptest::prop_assert!(together.is_empty());
            proptest::prop_assert_eq!(parts, all);
        }
    }
}
