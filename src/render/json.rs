//! Recalled passages as JSON.

use crate::codec::{Map, Value};

use super::{Line, Passage, Recollection};

/// Returns one object with every detail.
pub(super) fn render(recollection: &Recollection) -> String {
    let passages: Vec<Value> = recollection.passages.iter().map(passage).collect();
    let mut map = Map::from_iter([
        ("passages", Value::Array(passages)),
        ("tokens", (recollection.tokens as u64).into()),
        ("is_cut", recollection.is_cut.into()),
    ]);
    if recollection.is_partial {
        map.insert("partial", "deadline");
    }
    Value::Map(map).to_json()
}

fn passage(passage: &Passage) -> Value {
    let lines: Vec<Value> = passage.lines.iter().map(line).collect();
    let mut map = Map::from_iter([("lines", Value::Array(lines))]);
    if let Some(session) = &passage.session {
        map.insert("session_id", session.as_str());
    }
    Value::Map(map)
}

fn line(line: &Line) -> Value {
    let mut map = Map::from_iter([
        ("content_address", Value::from(line.address)),
        ("created_at", line.time.ms().into()),
        ("text", line.text.as_str().into()),
    ]);
    if let Some(speaker) = &line.speaker {
        map.insert("speaker", speaker.as_str());
    }
    if let Some(score) = line.score {
        map.insert("score", Value::Float(score));
    }
    Value::Map(map)
}
