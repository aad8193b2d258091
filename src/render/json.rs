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
    if let Some(left_out) = recollection.left_out {
        let counts = [("facts", left_out.facts), ("messages", left_out.messages)];
        let counts = counts.map(|(name, count)| (name, count as u64));
        map.insert("left_out", Map::from_iter(counts));
    }
    if let [first, .., last] = recollection.told.as_slice() {
        let told = [
            ("count", Value::from(recollection.told.len() as u64)),
            ("first", first.ms().into()),
            ("last", last.ms().into()),
        ];
        map.insert("told", Map::from_iter(told));
    }
    if recollection.less_relevant > 0 {
        map.insert("less_relevant", recollection.less_relevant as u64);
    }
    if !recollection.read_as.is_empty() {
        let words = recollection.read_as.iter();
        let words =
            words.map(|(word, other)| (shown(word).into_owned(), shown(other).into_owned()));
        map.insert("read_as", Map::from_iter(words));
    }
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
        ("sentence", (&*shown(&line.sentence)).into()),
    ]);
    if line.is_cut {
        map.insert("is_cut", true);
    }
    if !line.tags.is_empty() {
        let tags = line.tags.iter().map(|tag| Value::from(&*shown(tag)));
        map.insert("tags", Value::Array(tags.collect()));
    }
    if let Some(standing) = line.standing.name() {
        map.insert("standing", standing);
    }
    if !line.contradicts.is_empty() {
        let addresses = line.contradicts.iter().copied().map(Value::from);
        map.insert("contradicts", Value::Array(addresses.collect()));
    }
    if let Some(speaker) = &line.speaker {
        map.insert("speaker", &*shown(speaker));
    }
    if let Some(score) = line.score {
        map.insert("score", Value::Float(score));
    }
    Value::Map(map)
}
