//! The turns of a transcript, from the last to the first.
//!
//! Claude Code and Codex append a JSON value a line. A text that a person typed or the agent answered
//! is a turn; the output of tools, instructions, side chains and summaries of a compaction are none.
//! A line that cannot be read is passed over: a transcript is read while it is written.

use std::collections::BTreeSet;

use grainstore::Time;
use grainstore::interchange::is_not_said;
use serde_json::Value;

/// One thing said.
#[derive(Debug, PartialEq)]
pub(super) struct Turn {
    /// The id of its line, if lines have ids.
    pub(super) id: Option<String>,
    pub(super) role: &'static str,
    pub(super) text: String,
    pub(super) time: Time,
    pub(super) model: Option<String>,
    pub(super) branch: Option<String>,
    /// The names of the tools that the agent used from here to the next turn.
    pub(super) tools: BTreeSet<String>,
}

/// Returns the turns, last first.
pub(super) fn turns_from_the_end(transcript: &str) -> impl Iterator<Item = Turn> {
    let mut tools = BTreeSet::new();
    let lines = transcript.lines().rev();
    lines.filter_map(move |line| {
        let line: Value = serde_json::from_str(line).ok()?;
        tools.extend(tools_of(&line));
        let mut turn = turn_of(&line)?;
        match turn.role {
            "assistant" => turn.tools = std::mem::take(&mut tools),
            // The tools that came after are of an answer that is not written yet.
            _ => tools.clear(),
        }
        Some(turn)
    })
}

fn turn_of(line: &Value) -> Option<Turn> {
    let time = Time::parse(line.get("timestamp")?.as_str()?).ok()?;
    let (role, text) = said_in_claude_code(line).or_else(|| said_in_codex(line))?;
    let text = text.trim();
    if text.is_empty() || is_not_said(text) {
        return None;
    }
    let own = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    Some(Turn {
        id: own(line.get("uuid")),
        role,
        text: text.to_owned(),
        time,
        model: own(line.pointer("/message/model")),
        branch: own(line.get("gitBranch")).filter(|branch| !branch.is_empty()),
        tools: BTreeSet::new(),
    })
}

fn said_in_claude_code(line: &Value) -> Option<(&'static str, String)> {
    let role = match line.get("type")?.as_str()? {
        "user" => "user",
        "assistant" => "assistant",
        _ => return None,
    };
    let is = |name: &str| line.get(name).and_then(Value::as_bool) == Some(true);
    if ["isSidechain", "isMeta", "isCompactSummary"]
        .into_iter()
        .any(is)
    {
        return None;
    }
    let text = match line.pointer("/message/content")? {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter(|block| is_type(block, "text"));
            let texts = texts.filter_map(|block| block.get("text")?.as_str());
            texts.collect::<Vec<_>>().join("\n\n")
        }
        _ => return None,
    };
    Some((role, text))
}

/// Codex writes a message of its events, and of late an item that is complete.
fn said_in_codex(line: &Value) -> Option<(&'static str, String)> {
    let payload = line.get("payload").filter(|_| is_type(line, "event_msg"))?;
    let item = payload.get("item").unwrap_or(payload);
    let role = match item.get("type")?.as_str()? {
        "user_message" | "UserMessage" => "user",
        "agent_message" | "AgentMessage" => "assistant",
        _ => return None,
    };
    if let Some(message) = item.get("message") {
        return Some((role, message.as_str()?.to_owned()));
    }
    let blocks = item.get("content")?.as_array()?.iter();
    let texts = blocks.filter_map(|block| block.get("text")?.as_str());
    Some((role, texts.collect::<Vec<_>>().join("\n\n")))
}

/// Returns the names of the tools that a line uses.
fn tools_of(line: &Value) -> Vec<String> {
    let name = |value: &Value| Some(value.get("name")?.as_str()?.to_owned());
    if line.get("isSidechain").and_then(Value::as_bool) == Some(true) {
        return Vec::new();
    }
    if let Some(Value::Array(blocks)) = line.pointer("/message/content") {
        let used = blocks.iter().filter(|block| is_type(block, "tool_use"));
        return used.filter_map(name).collect();
    }
    let payload = line
        .get("payload")
        .filter(|_| is_type(line, "response_item"));
    let used = payload.filter(|it| is_type(it, "function_call") || is_type(it, "custom_tool_call"));
    used.and_then(name).into_iter().collect()
}

fn is_type(value: &Value, name: &str) -> bool {
    value.get("type").and_then(Value::as_str) == Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(transcript: &str) -> Vec<String> {
        let turns = turns_from_the_end(transcript);
        let mut said: Vec<_> = turns
            .map(|turn| {
                let tools = turn.tools.iter().map(String::as_str).collect::<Vec<_>>();
                format!("{}: {} [{}]", turn.role, turn.text, tools.join(","))
            })
            .collect();
        said.reverse();
        said
    }

    #[test]
    fn of_claude_code_what_was_typed_and_answered_is_said() {
        let transcript = r#"{"type":"summary","summary":"x","leafUuid":"u"}
{"type":"user","timestamp":"2026-10-02T08:00:00.000Z","message":{"role":"user","content":"use pnpm"}}
{"type":"user","isMeta":true,"timestamp":"2026-10-02T08:00:00.000Z","message":{"role":"user","content":"meta"}}
{"type":"user","timestamp":"2026-10-02T08:00:01.000Z","message":{"role":"user","content":"<command-name>/clear</command-name>"}}
{"type":"assistant","timestamp":"2026-10-02T08:00:03.000Z","message":{"model":"m","content":[{"type":"thinking","thinking":"t"},{"type":"text","text":"I install."}]}}
{"type":"assistant","timestamp":"2026-10-02T08:00:04.000Z","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"pnpm i"}}]}}
{"type":"user","timestamp":"2026-10-02T08:00:05.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}}
{"type":"assistant","isSidechain":true,"timestamp":"2026-10-02T08:00:06.000Z","message":{"content":[{"type":"text","text":"aside"}]}}
{"type":"user","isCompactSummary":true,"timestamp":"2026-10-02T08:00:07.000Z","message":{"content":"summary"}}
{"type":"assistant","timestamp":"2026-10-02T08:00:08.000Z","message":{"content":[{"type":"text","text":"Done."}]}}
{"type":"assistant","timest"#;
        let expected = [
            "user: use pnpm []",
            "assistant: I install. [Bash]",
            "assistant: Done. []",
        ];
        assert_eq!(said(transcript), expected);
    }

    #[test]
    fn of_codex_the_messages_of_its_events_are_said() {
        let transcript = r#"{"timestamp":"2026-10-02T08:00:00.000Z","type":"session_meta","payload":{"id":"s"}}
{"timestamp":"2026-10-02T08:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"use pnpm"}]}}
{"timestamp":"2026-10-02T08:00:01.000Z","type":"event_msg","payload":{"type":"user_message","message":"use pnpm"}}
{"timestamp":"2026-10-02T08:00:02.000Z","type":"event_msg","payload":{"type":"agent_message","message":"I install."}}
{"timestamp":"2026-10-02T08:00:03.000Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{}"}}
{"timestamp":"2026-10-02T08:00:04.000Z","type":"event_msg","payload":{"type":"token_count"}}
{"timestamp":"2026-10-02T08:00:05.000Z","type":"event_msg","payload":{"type":"item_completed","item":{"type":"UserMessage","id":"i","content":[{"type":"text","text":"and now?"}]}}}
{"timestamp":"2026-10-02T08:00:06.000Z","type":"event_msg","payload":{"type":"item_completed","item":{"type":"AgentMessage","id":"m","content":[{"type":"Text","text":"Done."}]}}}
{"timestamp":"2026-10-02T08:00:06.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}}"#;
        let expected = [
            "user: use pnpm []",
            "assistant: I install. [shell]",
            "user: and now? []",
            "assistant: Done. []",
        ];
        assert_eq!(said(transcript), expected);
    }

    #[test]
    fn what_is_no_transcript_says_nothing() {
        for text in ["", "{", "null\n[]\n1", "{\"type\":\"user\"}", "\u{0}\n{}\n"] {
            assert!(said(text).is_empty(), "{text:?}");
        }
    }
}
