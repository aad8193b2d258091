//! Recalled passages as JSON.

use crate::codec::{Map, Value};

use super::lines::Shown;
use super::{Line, Passage, Recollection};

/// Returns one object with every detail.
pub(super) fn render(recollection: &Recollection, shown: Shown) -> String {
    let passages: Vec<Value> = recollection
        .passages
        .iter()
        .map(|it| passage(it, shown))
        .collect();
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

fn passage(passage: &Passage, shown: Shown) -> Value {
    let lines: Vec<Value> = passage.lines.iter().map(|it| line(it, shown)).collect();
    let mut map = Map::from_iter([("lines", Value::Array(lines))]);
    if let Some(session) = &passage.session {
        map.insert("session_id", &*shown(session));
    }
    Value::Map(map)
}

fn line(line: &Line, shown: Shown) -> Value {
    let mut map = Map::from_iter([
        ("content_address", Value::from(line.address)),
        ("time", line.time.ms().into()),
        ("text", (&*shown(&line.text)).into()),
    ]);
    if let Some(speaker) = &line.speaker {
        map.insert("speaker", &*shown(speaker));
    }
    if let Some(score) = line.score {
        map.insert("score", Value::Float(score));
    }
    Value::Map(map)
}
