//! Claude: `memories.json` and `projects.json`, the facts that it learnt and those it was given.

use crate::codec::{Map, Value};

use super::super::conversation::{objects, rest, text, time};
use super::super::fact::{Fact, titled};

/// Reads one object of `memories.json`; `None` if it is another.
pub(in crate::interchange::formats::provider) fn memories(map: &Map) -> Option<Vec<Fact>> {
    if !map.contains("conversations_memory") && !map.contains("project_memories") {
        return None;
    }
    let account = text(map, "account_uuid").unwrap_or("local");
    let mut facts = Vec::new();
    let general = text(map, "conversations_memory").unwrap_or_default();
    if let Some(mut fact) = Fact::new(format!("memory:{account}"), "context", general) {
        let placed = ["conversations_memory", "project_memories", "account_uuid"];
        fact.raw = rest(map, &placed);
        facts.push(fact);
    }
    let projects = map.get("project_memories").and_then(Value::as_map);
    for (project, known) in projects.into_iter().flat_map(Map::iter) {
        let id = format!("project_memory:{project}");
        facts.extend(Fact::new(
            id,
            "project",
            known.as_text().unwrap_or_default(),
        ));
    }
    Some(facts)
}

/// Returns how many documents of a project are none.
pub(in crate::interchange::formats::provider) fn no_documents(map: &Value) -> usize {
    let docs = map.as_map().and_then(|map| map.get("docs")?.as_array());
    let docs = docs.unwrap_or_default().iter();
    docs.filter(|it| it.as_map().is_none()).count()
}

/// Reads one project; `None` if the object is none.
pub(in crate::interchange::formats::provider) fn project(map: &Map) -> Option<Vec<Fact>> {
    if !map.contains("prompt_template") && !map.contains("docs") {
        return None;
    }
    let id = text(map, "uuid")?;
    let name = text(map, "name").unwrap_or("project");
    let times = |fact: &mut Fact, map: &Map| {
        fact.created_at = time(map, "created_at");
        fact.updated_at = time(map, "updated_at");
    };
    let mut facts = Vec::new();
    if let Some(mut fact) = Fact::new(
        id.to_owned(),
        "project",
        &titled(map, "name", "description"),
    ) {
        let placed = [
            "uuid",
            "name",
            "description",
            "prompt_template",
            "docs",
            "created_at",
            "updated_at",
        ];
        fact.raw = rest(map, &placed);
        times(&mut fact, map);
        facts.push(fact);
    }
    let instructions = text(map, "prompt_template").unwrap_or_default();
    if let Some(mut fact) = Fact::new(format!("{id}:instructions"), "instruction", instructions) {
        fact.summary = Some(name.to_owned());
        times(&mut fact, map);
        facts.push(fact);
    }
    for (index, doc) in objects(map, "docs").enumerate() {
        let file = text(doc, "filename");
        let converter = || {
            format!(
                "{id}:{}",
                file.map_or_else(|| index.to_string(), str::to_owned)
            )
        };
        let doc_id = text(doc, "uuid").map_or_else(converter, str::to_owned);
        let content = text(doc, "content").unwrap_or_default();
        if let Some(mut fact) = Fact::new(doc_id, "project", content) {
            fact.summary = Some(format!("{name}: {}", file.unwrap_or("document")));
            fact.raw = rest(
                doc,
                &["uuid", "filename", "content", "created_at", "updated_at"],
            );
            times(&mut fact, doc);
            facts.push(fact);
        }
    }
    Some(facts)
}
