//! An item as the models of OpenAI take and give it: a message, a thought, a call, or its result.

use crate::codec::{Map, Value};
use crate::interchange::formats::members::{parsed, rest, text};
use crate::interchange::formats::neighbour::builder::Builder;

use super::super::blocks::{Content, call, result, thought};

/// Returns the role and the content of an item; one that is neither is counted.
pub(super) fn read(item: &Map, builder: &mut Builder<'_>) -> Option<(&'static str, Content)> {
    let is_message = text(item, "role").is_some();
    let kind = text(item, "type").unwrap_or(if is_message { "message" } else { "item" });
    let id = text(item, "call_id").or_else(|| text(item, "id"));
    let nil = Value::Nil;
    Some(match kind {
        "message" => {
            let role = match text(item, "role") {
                Some("user") => "user",
                Some("assistant") => "assistant",
                // The instructions of the program.
                _ => {
                    builder.lose("instructions");
                    return None;
                }
            };
            let content = Content::read(item.get("content").unwrap_or(&nil), builder);
            (role, content)
        }
        "reasoning" => {
            let said = Content::read(item.get("summary").unwrap_or(&nil), builder);
            if said.is_empty() {
                builder.lose("reasoning");
                return None;
            }
            if item.contains("encrypted_content") {
                builder.lose("encrypted_content");
            }
            ("assistant", Content::of_block(thought(&said.text)))
        }
        "function_call" | "custom_tool_call" | "local_shell_call" => {
            let name = text(item, "name").unwrap_or("shell");
            let given = ["arguments", "input", "action"];
            let input = given
                .into_iter()
                .find_map(|name| item.get(name))
                .map(parsed);
            (
                "assistant",
                Content::of_block(call(id, name, input.as_deref())),
            )
        }
        "function_call_output" | "custom_tool_call_output" => {
            let output = item.get("output").unwrap_or(&nil);
            let inner = output.as_map().and_then(|map| map.get("content"));
            let said = Content::read(inner.unwrap_or(output), builder);
            ("tool", Content::of_block(result(id, &said.text)))
        }
        kind => {
            builder.lose(kind);
            return None;
        }
    })
}

/// Returns the members of an item without a place of their own.
pub(super) fn rest_of(item: &Map) -> Map {
    let placed = [
        "type",
        "role",
        "content",
        "name",
        "arguments",
        "input",
        "action",
        "output",
        "call_id",
        "summary",
        "timestamp",
        // Thoughts in a form that only the provider reads.
        "encrypted_content",
    ];
    rest(item, &placed)
}
