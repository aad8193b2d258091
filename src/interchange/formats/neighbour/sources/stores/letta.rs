//! Letta: an agent file (`.af`) with blocks and messages, or the pages of an agent's archival memory, which
//! the file does not have.

use crate::codec::{Map, Value};
use crate::grain::Time;
use crate::interchange::Format;
use crate::interchange::formats::members::{moment, parsed, rest, stable_id, text};
use crate::interchange::formats::neighbour::builder::Builder;
use crate::interchange::formats::neighbour::item::Item;
use crate::interchange::formats::neighbour::source::{Reader, Source};

use super::super::blocks::{Content, call, result};
use super::super::conversation::{Conversation, Message, role};

/// An agent file.
pub(in crate::interchange::formats::neighbour) static SOURCE: Source = Source::of_json(
    Format::Letta,
    &[
        ("agents", None),
        ("blocks", None),
        ("created_at", None),
        ("metadata", None),
        ("tags", None),
        ("text", None),
        ("tools", None),
    ],
    |head| {
        let is_file = head.has_all(&["agents", "blocks", "tools"]) && !head.is_array;
        let passage = ["text", "created_at", "tags", "metadata"];
        let is_archive = head.is_array && head.has_all(&passage);
        (is_file || is_archive).then_some(Format::Letta)
    },
    &["agents", "blocks", ""],
    || Box::new(Letta::default()),
)
.in_order();

#[derive(Default)]
struct Letta {
    /// The blocks, each with the name of its agent.
    owners: Vec<(String, String)>,
    /// When the file was written: blocks have no time of their own.
    written: Option<Time>,
}

impl Reader for Letta {
    fn element(&mut self, element: &Value, array: &str, builder: &mut Builder<'_>) -> bool {
        let Some(map) = element.as_map() else {
            return false;
        };
        match array {
            "agents" => self.agent(map, builder),
            "blocks" => self.block(map, builder),
            _ => passage(map, builder),
        }
    }

    fn envelope(&mut self, members: &Map) -> &'static [&'static str] {
        self.written = members.get("created_at").and_then(moment);
        // About the file, and not of it.
        &["metadata", "created_at"]
    }
}

impl Letta {
    fn agent(&mut self, map: &Map, builder: &mut Builder<'_>) -> bool {
        let name = text(map, "name").or_else(|| text(map, "id"));
        let Some(name) = name else {
            return false;
        };
        let blocks = map.get("block_ids").into_iter().flat_map(Value::texts);
        let owners = blocks.map(|block| (block.to_owned(), name.to_owned()));
        self.owners.extend(owners);
        let mut conversation = Conversation {
            agent: "letta",
            session: name.to_owned(),
            ..Conversation::default()
        };
        for message in builder.objects(map, "messages", "event") {
            match read(message, builder) {
                Some(message) => conversation.say(message, builder),
                None => builder.lose("event"),
            }
        }
        // How it is run, and not what it knows.
        let settings = ["system", "llm_config", "embedding_config", "tool_rules"];
        for name in settings.into_iter().filter(|name| map.contains(name)) {
            builder.lose(name);
        }
        true
    }

    fn block(&self, map: &Map, builder: &mut Builder<'_>) -> bool {
        let (Some(label), Some(said)) = (text(map, "label"), text(map, "value")) else {
            return false;
        };
        let id = text(map, "id").unwrap_or_default();
        let owner = self.owners.iter().find(|(block, _)| block == id);
        let owner = owner.map_or("", |(_, name)| name.as_str());
        // The ids of a file begin at 0 in each.
        let id = Value::from(vec![owner, label]).to_json();
        let mut item = match label {
            // It describes the agent.
            "persona" if !owner.is_empty() => Item::triple(id, owner, "note", said),
            _ => Item::note(id, said),
        };
        item.created = map.get("created_at").and_then(moment).or(self.written);
        item.updated = map.get("updated_at").and_then(moment);
        let tags = map.get("tags").into_iter().flat_map(Value::texts);
        item.tags = tags.chain([label]).map(str::to_owned).collect();
        item.record = rest(
            map,
            &["id", "label", "value", "tags", "created_at", "updated_at"],
        );
        if !owner.is_empty() {
            item.record.insert("agent", owner);
        }
        builder.push(item);
        true
    }
}

/// Reads a message; `None` for an event that the program itself wrote.
fn read(map: &Map, builder: &mut Builder<'_>) -> Option<Message> {
    let role = text(map, "role")
        .and_then(role)
        .filter(|role| *role != "system")?;
    let mut content = Content::read(map.get("content").unwrap_or(&Value::Nil), builder);
    // The words of a person come in an envelope, and so do logins and heartbeats.
    if let Some(envelope) = parsed(&Value::from(content.text.as_str())).as_map() {
        if role == "tool" {
            content.text = text(envelope, "message")
                .unwrap_or(&content.text)
                .to_owned();
        } else if let Some(kind) = text(envelope, "type") {
            let said = text(envelope, "message").filter(|_| kind == "user_message")?;
            content.text = said.to_owned();
        }
    }
    for tool in builder.objects(map, "tool_calls", "tool call") {
        let function = tool.get("function").and_then(Value::as_map).unwrap_or(tool);
        let input = function.get("arguments").map(parsed);
        if let Some(name) = text(function, "name") {
            content.add(call(text(tool, "id"), name, input.as_deref()));
        }
    }
    if role == "tool" {
        let said = std::mem::take(&mut content.text);
        content.blocks.clear();
        content.add(result(text(map, "tool_call_id"), &said));
    }
    let at = map.get("created_at").and_then(moment);
    let time = at.map(|at| at.to_string()).unwrap_or_default();
    let blocks = Value::from(content.blocks.clone()).to_json();
    let id = stable_id(&["letta", &time, role, &content.text, &blocks]);
    Some(Message {
        // The ids of a file begin at 0 in each.
        id: Some(id),
        role,
        content,
        at,
        model: text(map, "model").map(str::to_owned),
        ..Message::default()
    })
}

fn passage(map: &Map, builder: &mut Builder<'_>) -> bool {
    let Some(said) = text(map, "text") else {
        return false;
    };
    let id = text(map, "id").map(str::to_owned);
    let mut item = Item::note(id.unwrap_or_else(|| stable_id(&["passage", said])), said);
    item.created = map.get("created_at").and_then(moment);
    item.updated = map.get("updated_at").and_then(moment);
    let tags = map.get("tags").into_iter().flat_map(Value::texts);
    item.tags = tags.map(str::to_owned).collect();
    let placed = [
        "id",
        "text",
        "tags",
        "created_at",
        "updated_at",
        "embedding",
        "embedding_config",
    ];
    item.record = rest(map, &placed);
    if map.contains("embedding") {
        builder.lose("embedding");
    }
    builder.push(item);
    true
}
