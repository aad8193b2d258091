//! The blocks of a message of an agent's log (OMS 6.2): its texts, thoughts, calls of tools and their
//! results.

use crate::codec::{Map, Value};
use crate::interchange::formats::members::{object, text};

use crate::interchange::formats::neighbour::builder::Builder;

/// The content of a message.
#[derive(Default)]
pub(super) struct Content {
    pub(super) text: String,
    /// Empty where there is only text.
    pub(super) blocks: Vec<Value>,
    /// Whether it has results of tools and nothing else.
    pub(super) is_result: bool,
}

impl Content {
    /// Reads a text, or blocks as the messages of Anthropic and OpenAI have them.
    pub(super) fn read(value: &Value, builder: &mut Builder<'_>) -> Self {
        if let Some(said) = value.as_text() {
            return Self::of_text(said);
        }
        let mut texts = Vec::new();
        let mut blocks = Vec::new();
        let (mut has_more, mut is_result) = (false, true);
        for block in value.as_array().unwrap_or_default() {
            let Some(block) = block.as_map() else {
                match block.as_text() {
                    Some(said) => texts.push(said),
                    None => builder.lose("block"),
                }
                continue;
            };
            let kind = text(block, "type").unwrap_or_default();
            is_result &= kind == "tool_result";
            match (text(block, "text"), kind) {
                (
                    Some(said),
                    "" | "text" | "input_text" | "output_text" | "Text" | "summary_text",
                ) => {
                    texts.push(said);
                    blocks.push(of(&[("type", "text"), ("text", said)]));
                }
                _ => {
                    has_more = true;
                    let other = other(block, kind, builder);
                    if other.is_none() {
                        builder.lose(if kind.is_empty() { "block" } else { kind });
                    }
                    blocks.extend(other);
                }
            }
        }
        is_result &= has_more;
        Self {
            text: texts.join("\n\n"),
            blocks: if has_more { blocks } else { Vec::new() },
            is_result,
        }
    }

    pub(super) fn of_text(said: &str) -> Self {
        Self {
            text: said.trim().to_owned(),
            ..Self::default()
        }
    }

    /// Returns the content that is one block.
    pub(super) fn of_block(block: Value) -> Self {
        Self {
            blocks: vec![block],
            ..Self::default()
        }
    }

    /// Adds a text behind what is there.
    pub(super) fn say(&mut self, said: &str) {
        if !self.blocks.is_empty() {
            self.blocks.push(of(&[("type", "text"), ("text", said)]));
        }
        if !self.text.is_empty() {
            self.text.push_str("\n\n");
        }
        self.text.push_str(said);
    }

    /// Adds a block behind the text.
    pub(super) fn add(&mut self, block: Value) {
        if self.blocks.is_empty() && !self.text.is_empty() {
            self.blocks
                .push(of(&[("type", "text"), ("text", &self.text)]));
        }
        self.blocks.push(block);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.trim().is_empty() && self.blocks.is_empty()
    }
}

fn other(block: &Map, kind: &str, builder: &mut Builder<'_>) -> Option<Value> {
    Some(match kind {
        "thinking" => {
            if block.contains("signature") {
                builder.lose("signature");
            }
            thought(text(block, "thinking")?)
        }
        "tool_use" => call(text(block, "id"), text(block, "name")?, block.get("input")),
        // As Pi has it.
        "toolCall" => call(
            text(block, "id"),
            text(block, "name")?,
            block.get("arguments"),
        ),
        "tool_result" => {
            let said = Content::read(block.get("content").unwrap_or(&Value::Nil), builder);
            result(text(block, "tool_use_id"), &said.text)
        }
        // Its bytes are no memory; that there was one is.
        "image" | "input_image" | "document" => {
            builder.lose(kind);
            of(&[("type", kind)])
        }
        _ => return None,
    })
}

/// Returns the block of a call.
pub(super) fn call(id: Option<&str>, name: &str, input: Option<&Value>) -> Value {
    object([
        ("type", Some("tool_use".into())),
        ("id", id.map(Value::from)),
        ("name", Some(name.into())),
        ("input", input.cloned()),
    ])
}

/// Returns the block of a result.
pub(super) fn result(id: Option<&str>, said: &str) -> Value {
    object([
        ("type", Some("tool_result".into())),
        ("tool_use_id", id.map(Value::from)),
        ("content", Some(said.into())),
    ])
}

/// Returns the block of a thought.
pub(super) fn thought(said: &str) -> Value {
    of(&[("type", "thinking"), ("thinking", said)])
}

fn of(members: &[(&str, &str)]) -> Value {
    let members = members.iter();
    object(members.map(|(name, text)| (*name, Some(Value::from(*text)))))
}

/// Returns whether a text in the place of a user's is one that the agent itself wrote there.
pub fn is_not_said(text: &str) -> bool {
    let text = text.trim_start();
    NOT_SAID.iter().any(|start| text.starts_with(start))
}

/// The beginnings of texts in the place of a user's that the agent itself writes there.
const NOT_SAID: &[&str] = &[
    "<command-name>",
    "<command-message>",
    "<local-command",
    "<system-reminder>",
    "<environment_context>",
    "<user_instructions>",
    "Caveat: The messages below were generated by the user while running local commands",
];
