//! A message of a conversation document.

use crate::codec::{ContentAddress, Map, Profile, Value};
use crate::grain::{Draft, Time};
use crate::interchange::Error;

use super::super::code;
use super::super::schema::tables::ROLES;
use super::super::types::owner::Owner;
use super::super::write::embedded_memory::EXTENSION;
use super::object::Object;
use super::residual::{RESIDUAL, message_residual};
use crate::interchange::model::embedded_grain::{self, Unpacked};
use crate::interchange::model::normalize::{normalize_text, normalize_value, normalized_text};

/// A message of a conversation document (PAM 25).
pub(crate) struct Message<'a> {
    pub(crate) object: Object<'a>,
    pub(crate) id: &'a str,
    pub(crate) parent_id: Option<&'a str>,
    role: &'a str,
    created_at: Time,
    model: Option<&'a str>,
    is_thought: bool,
    /// Whether the content is one text, which is then the content of the grain.
    is_plain: bool,
    text: Option<&'a str>,
    parts: Vec<Object<'a>>,
    tool_calls: Vec<Object<'a>>,
}

impl<'a> Message<'a> {
    pub(crate) fn read(object: Object<'a>) -> Result<Self, Error> {
        let role = object.required_text("role")?;
        if !ROLES.contains(&role) {
            let message = format!("\"{role}\" is none of user, assistant, system, tool");
            return Err(object.member_fault("role", code::SCHEMA, message));
        }
        let content = object.object("content")?;
        let (mut is_plain, mut text, mut parts) = (false, None, Vec::new());
        if let Some(content) = content {
            is_plain = match content.required_text("type")? {
                "text" => true,
                "multipart" => false,
                _ => {
                    let message = "must be text or multipart";
                    return Err(content.member_fault("type", code::SCHEMA, message));
                }
            };
            text = content.text("text")?.filter(|text| !text.is_empty());
            parts = content.objects("parts")?;
        }
        for part in &parts {
            part.required_text("type")?;
        }
        let tool_calls = object.objects("tool_calls")?;
        for call in &tool_calls {
            call.required_text("name")?;
        }
        Ok(Self {
            id: object.required_text("id")?,
            parent_id: object.text("parent_id")?,
            role,
            created_at: object.required_time("created_at")?,
            model: object.text("model")?,
            is_thought: object.flag("is_thought")? == Some(true),
            is_plain,
            text,
            parts,
            tool_calls,
            object,
        })
    }

    /// Returns whether it embeds a turn that came in no file.
    pub(crate) fn is_own(&self) -> bool {
        let raw = self.object.get("raw_metadata").and_then(Value::as_map);
        raw.is_some_and(|raw| raw.contains(EXTENSION))
    }

    /// Returns the turn that this message embeds, which says the same.
    pub(crate) fn unpack(&self, profile: Profile) -> Option<Unpacked> {
        let raw = self.object.get("raw_metadata")?.as_map()?;
        let text = self.text.filter(|_| self.is_plain);
        embedded_grain::unpack_turn(raw.get(EXTENSION)?, (self.role, text), profile)
    }

    /// Returns the grain of this message; `parent` is the address of the message it answers, and
    /// `answers` are the ids of those that answer it. A list of these says nothing of its own: with
    /// it, each answer would make another version of the message.
    pub(crate) fn draft(
        &self,
        owner: &Owner<'_>,
        conversation: &str,
        platform: &str,
        parent: Option<ContentAddress>,
        answers: &[&str],
    ) -> Result<Draft, Error> {
        let content = self.content()?;
        let plain = content.as_deref().filter(|_| self.is_plain);
        let listed = self.object.get("children_ids").and_then(Value::as_array);
        let are_derived = listed.is_some_and(|listed| {
            let listed = listed.iter().map(Value::as_text);
            listed.eq(answers.iter().copied().map(Some))
        });
        let residual = message_residual(self.object.map, plain, are_derived);
        let context: Map = [(RESIDUAL, residual)].into_iter().collect();
        let blocks = self.blocks()?;
        let draft = Draft::new(crate::grain::Type::Event);
        let mut draft = owner
            .mark(draft)
            .created_at(self.created_at)
            .session(normalize_text(conversation))
            .source("imported")
            .set("role", self.role)
            .set("origin_namespace", platform)
            .set("context", context);
        // OMS 8.2 wants content or blocks; an empty message has an empty array of blocks.
        if !blocks.is_empty() || content.is_none() {
            draft = draft.set("content_blocks", blocks);
        }
        if let Some(content) = content {
            draft = draft.set("content", content);
        }
        if let Some(model) = self.model {
            draft = draft.set("model_id", normalize_text(model));
        }
        if let Some(parent) = parent {
            draft = draft.set("parent_message_id", parent);
        }
        Ok(draft)
    }

    /// Returns the text of the message; several parts are joined by line feeds.
    fn content(&self) -> Result<Option<String>, Error> {
        let mut lines: Vec<&str> = self.text.into_iter().collect();
        if !self.is_plain {
            for part in &self.parts {
                lines.extend(part.text("text")?);
            }
        }
        let text = match lines.as_slice() {
            [one] => normalize_text(one),
            lines => normalized_text(lines.join("\n")),
        };
        Ok((!text.is_empty()).then_some(text))
    }

    /// Returns the blocks of OMS 6.2; a message of text alone needs none.
    fn blocks(&self) -> Result<Vec<Value>, Error> {
        let mut blocks = Vec::new();
        let is_only_text = self.parts.is_empty() && self.tool_calls.is_empty() && !self.is_thought;
        if is_only_text {
            return Ok(blocks);
        }
        if let Some(text) = self.text {
            blocks.push(self.text_block(text));
        }
        for part in &self.parts {
            blocks.push(self.part_block(part)?);
        }
        for call in &self.tool_calls {
            tool_blocks(call, &mut blocks)?;
        }
        Ok(blocks)
    }

    fn text_block(&self, text: &str) -> Value {
        let kind = if self.is_thought { "thinking" } else { "text" };
        block(kind, [(kind, Value::from(normalize_text(text)))])
    }

    fn part_block(&self, part: &Object<'_>) -> Result<Value, Error> {
        let kind = part.required_text("type")?;
        if kind == "text" {
            return Ok(self.text_block(part.text("text")?.unwrap_or_default()));
        }
        let mut members = Vec::new();
        for name in ["text", "language", "mime_type", "ref"] {
            if let Some(text) = part.text(name)? {
                members.push((name, Value::from(normalize_text(text))));
            }
        }
        if kind == "image" {
            let source: Map = members.into_iter().collect();
            return Ok(block(kind, [("source", Value::Map(source))]));
        }
        // OMS 6.2 leaves further types to implementations; these are PAM's.
        Ok(block(&normalize_text(kind), members))
    }
}

/// One PAM tool call may hold the call, its result, or both.
fn tool_blocks(call: &Object<'_>, blocks: &mut Vec<Value>) -> Result<(), Error> {
    let id = call.text("id")?.map(|id| Value::from(normalize_text(id)));
    let output = call.text("output")?;
    if call.get("input").is_some() || output.is_none() {
        let name = Value::from(normalize_text(call.required_text("name")?));
        let input = call
            .get("input")
            .map(|input| ("input", normalize_value(input)));
        let id = id.clone().map(|id| ("id", id));
        let members = [("name", name)].into_iter().chain(id).chain(input);
        blocks.push(block("tool_use", members));
    }
    if let Some(output) = output {
        let content = Value::from(normalize_text(output));
        let id = id.map(|id| ("tool_use_id", id));
        blocks.push(block(
            "tool_result",
            [("content", content)].into_iter().chain(id),
        ));
    }
    Ok(())
}

fn block<'a>(kind: &str, members: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    let kind = ("type", Value::from(kind));
    Value::Map(members.into_iter().chain([kind]).collect())
}
