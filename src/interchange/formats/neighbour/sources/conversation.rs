//! A conversation on its way to turns: each message answers the one that it names, else the one before.

use std::collections::{BTreeMap, BTreeSet};

use crate::codec::{Map, Value};
use crate::grain::Time;
use crate::interchange::formats::members::stable_id;
use crate::interchange::formats::neighbour::builder::Builder;
use crate::interchange::formats::neighbour::item::{Item, Said, Turn};

use super::blocks::Content;

/// The conversation that messages are of.
#[derive(Default)]
pub(super) struct Conversation {
    /// The program that it was held with.
    pub(super) agent: &'static str,
    pub(super) user: Option<String>,
    pub(super) session: String,
    pub(super) title: Option<String>,
    /// The time of a message that has none.
    pub(super) created: Option<Time>,
    pub(super) directory: Option<String>,
    pub(super) model: Option<String>,
    /// The message before.
    pub(super) last: Option<String>,
}

/// One message.
#[derive(Default)]
pub(super) struct Message {
    pub(super) id: Option<String>,
    pub(super) role: &'static str,
    pub(super) content: Content,
    pub(super) at: Option<Time>,
    /// The message that it answers; `None`: the one before.
    pub(super) parent: Option<Option<String>>,
    pub(super) model: Option<String>,
    pub(super) record: Map,
}

impl Conversation {
    /// Begins another conversation where a message is of another session than the one before it.
    pub(super) fn go_on(&mut self, agent: &'static str, session: &str) {
        if session != self.session {
            *self = Self {
                agent,
                session: session.to_owned(),
                ..Self::default()
            };
        }
    }

    /// Builds a message; one without content is counted, and those that answer it answer what it answered.
    pub(super) fn say(&mut self, message: Message, builder: &mut Builder<'_>) {
        let Message {
            id,
            role,
            content,
            at,
            parent,
            model,
            record,
        } = message;
        let created = at.or(self.created);
        let id = id.unwrap_or_else(|| {
            let time = created.map(|time| time.to_string()).unwrap_or_default();
            let said = Value::from(content.blocks.clone()).to_json();
            stable_id(&[self.agent, &self.session, &time, role, &content.text, &said])
        });
        let parent = parent.unwrap_or_else(|| self.last.clone());
        if content.is_empty() {
            if let Some(parent) = &parent {
                builder.pass_on(&self.session, &id, parent);
            }
            return builder.lose("empty message");
        }
        self.last = Some(id.clone());
        let mut context = Map::new();
        context.insert("agent", self.agent);
        for (name, value) in [("directory", &self.directory), ("title", &self.title)] {
            if let Some(value) = value {
                context.insert(name, value.as_str());
            }
        }
        let is_answer = role == "assistant";
        builder.push(Item {
            id,
            user: self.user.clone(),
            session: Some(self.session.clone()).filter(|session| !session.is_empty()),
            created,
            said: Said::Turn(Turn {
                role: Some(role),
                text: content.text,
                blocks: content.blocks,
                parent,
                model: model.or_else(|| self.model.clone().filter(|_| is_answer)),
                context,
            }),
            record,
            ..Item::default()
        });
    }

    /// Builds the results of the tools that a message called, if there are any.
    pub(super) fn give(
        &mut self,
        of: Option<&str>,
        results: Vec<Value>,
        at: Option<Time>,
        builder: &mut Builder<'_>,
    ) {
        if results.is_empty() {
            return;
        }
        let mut content = Content::default();
        results.into_iter().for_each(|it| content.add(it));
        let message = Message {
            id: of.map(|id| format!("{id}/results")),
            role: "tool",
            content,
            at,
            ..Message::default()
        };
        self.say(message, builder);
    }
}

/// Returns the role of a word for it.
pub(super) fn role(word: &str) -> Option<&'static str> {
    Some(match word.to_ascii_lowercase().as_str() {
        "user" | "human" => "user",
        "assistant" | "ai" | "model" | "gemini" | "bot" => "assistant",
        "system" | "developer" => "system",
        "tool" | "toolresult" | "function" => "tool",
        _ => return None,
    })
}

/// A message of a tree: its id, and that of the one it answers.
pub(super) type Node<'a> = (&'a str, Option<&'a str>, &'a Map);

/// Returns the messages of a tree so that each comes behind the one it answers, and the number of those that
/// no root leads to.
pub(super) fn in_order<'a>(nodes: &[Node<'a>]) -> (Vec<Node<'a>>, usize) {
    let ids: BTreeSet<&str> = nodes.iter().map(|(id, ..)| *id).collect();
    let mut below: BTreeMap<Option<&str>, Vec<Node<'a>>> = BTreeMap::new();
    for (id, parent, map) in nodes.iter().rev() {
        let parent = parent.filter(|parent| ids.contains(parent));
        below.entry(parent).or_default().push((id, parent, map));
    }
    // Last first, so that the first is on top.
    let mut stack = below.remove(&None).unwrap_or_default();
    let mut ordered = Vec::new();
    while let Some(node) = stack.pop() {
        ordered.push(node);
        stack.extend(below.remove(&Some(node.0)).unwrap_or_default());
    }
    let left = below.values().map(Vec::len).sum();
    (ordered, left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_comes_behind_the_one_it_answers() {
        let map = Map::new();
        let of = |nodes: &[(&'static str, Option<&'static str>)]| {
            let nodes: Vec<_> = nodes.iter().map(|(id, up)| (*id, *up, &map)).collect();
            let (ordered, left) = in_order(&nodes);
            let ids: Vec<_> = ordered.into_iter().map(|(id, ..)| id).collect();
            (ids.join(" "), left)
        };
        let tree = [
            ("c", Some("b")),
            ("a", None),
            ("b", Some("a")),
            ("d", Some("a")),
        ];
        assert_eq!(of(&tree), ("a b c d".to_owned(), 0));
        assert_eq!(of(&[("a", Some("gone"))]), ("a".to_owned(), 0));
        assert_eq!(
            of(&[("a", Some("b")), ("b", Some("a")), ("c", None)]),
            ("c".to_owned(), 2)
        );
    }
}
