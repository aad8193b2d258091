//! A conversation: its entry in the index (PAM 14), its document (PAM 25), and the grain of it.

use std::collections::HashMap;

use crate::codec::{Map, Value};
use crate::grain::{Draft, Time};
use crate::interchange::Error;

use super::super::code;
use super::super::names::CONVERSATION;
use super::super::order::order;
use super::super::types::owner::Owner;
use super::message::Message;
use super::object::Object;
use super::residual::{DOCUMENT_RESIDUAL, RESIDUAL, residual_without};
use crate::interchange::model::normalize::normalize_text;

/// An entry of the conversations index (PAM 14).
pub(crate) struct IndexEntry<'a> {
    pub(crate) object: Object<'a>,
    pub(crate) id: &'a str,
    platform: &'a str,
    title: Option<&'a str>,
    created_at: Time,
    /// The place of the messages; `None` if the entry names none.
    pub(crate) storage: Option<Storage<'a>>,
}

/// The place of the messages of a conversation.
pub(crate) enum Storage<'a> {
    File { reference: &'a str, at: String },
    Elsewhere,
}

/// A conversation document (PAM 25).
pub(crate) struct Conversation<'a> {
    object: Object<'a>,
    pub(crate) platform: &'a str,
    /// The messages, each after the one it answers.
    pub(crate) messages: Vec<Message<'a>>,
    /// The id of the last message in the file, turns of an agent aside.
    pub(crate) tail: Option<&'a str>,
}

impl<'a> IndexEntry<'a> {
    pub(crate) fn read(object: Object<'a>) -> Result<Self, Error> {
        let storage = match object.object("storage")? {
            None => None,
            Some(storage) => Some(match storage.required_text("type")? {
                "file" => Storage::File {
                    reference: storage.required_text("ref")?,
                    at: format!("{}/ref", storage.at),
                },
                _ => Storage::Elsewhere,
            }),
        };
        Ok(Self {
            id: object.required_text("id")?,
            platform: object.platform("platform")?,
            title: object.text("title")?,
            created_at: object
                .required_object("temporal")?
                .required_time("created_at")?,
            storage,
            object,
        })
    }

    /// Returns the grain of the conversation; `tail` is the address of its last message.
    pub(crate) fn draft(
        &self,
        owner: &Owner<'_>,
        document: Option<&Conversation<'_>>,
        tail: Option<Value>,
    ) -> Draft {
        let mut context = Map::new();
        context.insert("platform", self.platform);
        context.insert(RESIDUAL, residual_without(self.object.map, &[]));
        if let Some(title) = self.title {
            context.insert("title", normalize_text(title));
        }
        if let Some(document) = document {
            let residual = residual_without(document.object.map, &["messages"]);
            context.insert(DOCUMENT_RESIDUAL, residual);
        }
        if let Some(tail) = tail {
            context.insert("messages_tail", tail);
        }
        let draft = Draft::state(context);
        owner
            .mark(draft)
            .created_at(self.created_at)
            .session(normalize_text(self.id))
            .source("imported")
            .set("origin_namespace", self.platform)
    }
}

impl<'a> Conversation<'a> {
    /// Reads the document of an index entry.
    pub(crate) fn read(
        value: &'a Value,
        at: &str,
        entry: &IndexEntry<'_>,
        version: &str,
    ) -> Result<Self, Error> {
        let object = Object::new(value, at.to_owned())?;
        if object.text("schema")? != Some(CONVERSATION) {
            let message = "is not portable-ai-memory-conversation";
            return Err(object.member_fault("schema", code::SCHEMA_ID, message));
        }
        if object.text("schema_version")? != Some(version) {
            let message = format!("is not {version} as in the store");
            return Err(object.member_fault("schema_version", code::VERSION, message));
        }
        if object.required_text("id")? != entry.id {
            let message = "is not the id in the index";
            return Err(object.member_fault("id", code::CONVERSATION_REF, message));
        }
        if object.get("messages").is_none() {
            return Err(object.missing("messages"));
        }
        let platform = object.required_object("provider")?.platform("name")?;
        let messages = object.objects("messages")?;
        let messages: Vec<_> = messages
            .into_iter()
            .map(Message::read)
            .collect::<Result<_, _>>()?;
        // A turn of an agent that was said since is no part of what the export had.
        let tail = messages.iter().rfind(|message| !message.is_own());
        let tail = tail.map(|message| message.id);
        Ok(Self {
            object,
            platform,
            messages: parents_first(messages)?,
            tail,
        })
    }
}

fn parents_first(messages: Vec<Message<'_>>) -> Result<Vec<Message<'_>>, Error> {
    let mut numbers = HashMap::new();
    for (number, message) in messages.iter().enumerate() {
        if numbers.insert(message.id, number).is_some() {
            let message_fault = "another message has this id";
            return Err(message
                .object
                .member_fault("id", code::DUPLICATE_ID, message_fault));
        }
    }
    let mut pairs = Vec::new();
    for (number, message) in messages.iter().enumerate() {
        if let Some(parent) = message.parent_id {
            let Some(parent) = numbers.get(parent) else {
                let unknown = "no message of this conversation has this id";
                return Err(message
                    .object
                    .member_fault("parent_id", code::MESSAGE_DAG, unknown));
            };
            pairs.push((*parent, number));
        }
    }
    let ordered = order(messages.len(), &pairs).map_err(|stuck| {
        let stuck = messages.get(stuck).map(|message| message.object.clone());
        let message = "the messages answer each other in a circle";
        stuck.map_or_else(
            || super::object::fault(code::CYCLE, String::new(), message),
            |object| object.member_fault("parent_id", code::CYCLE, message),
        )
    })?;
    let mut slots: Vec<_> = messages.into_iter().map(Some).collect();
    let read_in_order = ordered
        .into_iter()
        .filter_map(|number| slots.get_mut(number)?.take());
    Ok(read_in_order.collect())
}
