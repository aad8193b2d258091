//! The words of the revisions of OMS after 1.3, in archives and JSON lines: read, and written on request.
//!
//! A store keeps every grain as it came. 1.4 names a belief `fact` and an action `tool`, refuses the older
//! words, and has a graph for a workflow; 1.5 adds the type Recommendation. A grain that is written in these
//! words has another address, so the grains that name it are written anew too.

use std::collections::BTreeMap;

use crate::codec::{ContentAddress, Map, Profile, Value};
use crate::grain::{self, Draft, Grain, Type};

/// A revision of OMS that archives and JSON lines are written in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Revision {
    /// 1.3, the form of the store: each grain as it is.
    #[default]
    V1_3,
    /// 1.4, for readers that refuse the words of 1.3.
    V1_4,
    /// 1.5, which has Recommendations too.
    V1_5,
}

impl Revision {
    const ALL: [Self; 3] = [Self::V1_3, Self::V1_4, Self::V1_5];

    /// Returns the number.
    const fn name(self) -> &'static str {
        match self {
            Self::V1_3 => "1.3",
            Self::V1_4 => "1.4",
            Self::V1_5 => "1.5",
        }
    }

    /// Returns the revision of a number; without one, the form of the store.
    pub(crate) fn named(name: Option<&str>) -> Option<Self> {
        let name = name.unwrap_or(Self::default().name());
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    /// Returns whether a grain is of a type that the revision has, or that all of them leave to others.
    pub(crate) fn has(self, of: Type) -> bool {
        self != Self::V1_4 || of != RECOMMENDATION
    }
}

/// Reads a JSON grain in the words of a later revision; `None` for one in those of 1.3.
///
/// # Errors
/// As [`Draft::from_value`].
pub(crate) fn draft_of(value: &Value) -> Result<Option<Draft>, grain::Error> {
    let Some(map) = value.as_map() else {
        return Ok(None);
    };
    let word = map.get("type").and_then(Value::as_text);
    let word = word.unwrap_or_default();
    if let Some(later) = Type::of_later(word) {
        let set = |draft: Draft, (name, value): (&str, &Value)| match value {
            // A number that 1.5 has as a double, as those of our own table (ruling F8).
            Value::Int(int) if name == "proficiency" => draft.set(name, int.to_f64()),
            value => draft.set(name, value.clone()),
        };
        return Ok(Some(map.iter().fold(Draft::new(later), set)));
    }
    let is_tool = word == "tool" && map.contains("tool_phase") && !map.contains("action_phase");
    let is_graph = word == "workflow" && map.contains("nodes") && !map.contains("steps");
    if !is_tool && !is_graph {
        return Ok(None);
    }
    let mut map = map.clone();
    if is_graph {
        rename_in_edges(&mut map, ("max_cycles", "mxc"));
    } else if let Some(phase) = map.remove("tool_phase") {
        map.insert("action_phase", phase);
    }
    Draft::from_value(Value::Map(map)).map(Some)
}

/// Returns a grain as a JSON object in the words of the revisions after 1.3, if it can be read again from it.
pub(crate) fn later_json(grain: &Grain) -> Option<String> {
    let mut map = grain.fields().clone();
    if grain.text("type") == Some("tool")
        && let Some(phase) = map.remove("action_phase")
    {
        map.insert("tool_phase", phase);
    }
    rename_in_edges(&mut map, ("mxc", "max_cycles"));
    let json = Value::Map(map).to_json();
    let value = Value::from_json(&json).ok()?;
    let draft = draft_of(&value).transpose();
    let draft = draft.unwrap_or_else(|| Draft::from_value(value)).ok()?;
    let (copy, _) = draft.finish_foreign(Profile::Extended).ok()?;
    (copy == *grain).then_some(json)
}

/// How a grain is written in the words of a later revision.
pub(crate) enum Revised {
    /// As it is.
    Same,
    /// Anew, under another address.
    Anew(Box<Grain>),
    /// As it is, though its words or the addresses it names are of 1.3: a signature or a hash binds them.
    Bound,
}

/// Writes a grain in the words that 1.4 and 1.5 have in common; `renamed` returns the new address of a grain
/// that was written anew before.
pub(crate) fn revised(
    grain: &Grain,
    renamed: impl Fn(&ContentAddress) -> Option<ContentAddress>,
) -> Revised {
    let fields = grain.fields();
    let is_renamed = grain.named().iter().any(|it| renamed(it).is_some());
    let word = later_word(grain);
    let graph = later_graph(grain);
    if word.is_none() && graph.is_none() && !is_renamed {
        return Revised::Same;
    }
    let is_bound = grain.is_signed()
        || grain.is_encrypted()
        || matches!(grain.type_(), Type::Opaque(_))
        || BINDING.iter().any(|name| fields.contains(name));
    if is_bound {
        return Revised::Bound;
    }
    let mut draft = Draft::new(grain.type_())
        .encoding(grain.encoding())
        .sensitivity(grain.header().sensitivity());
    for (name, value) in fields.iter() {
        let mut value = value.clone();
        if !["content_refs", "embedding_refs"].contains(&name) {
            rename(&mut value, &renamed);
        }
        draft = draft.set(name, value);
    }
    draft = word
        .into_iter()
        .fold(draft, |draft, word| draft.set("type", word));
    let graph = graph.into_iter().flatten();
    draft = graph.fold(draft, |draft, (name, value)| draft.set(name, value));
    match draft.finish_foreign(Profile::Extended) {
        Ok((grain, _)) => Revised::Anew(Box::new(grain)),
        // It would exceed what a grain may be.
        Err(_) => Revised::Bound,
    }
}

/// Returns the word of a later revision for the type of a grain that has that of 1.3.
fn later_word(grain: &Grain) -> Option<&'static str> {
    match (grain.type_(), grain.text("type")?) {
        (Type::Belief, "belief") => Some("fact"),
        (Type::Action, "action") => Some("tool"),
        _ => None,
    }
}

/// Returns the graph of a workflow of 1.3: its steps, each followed by the next. They stay beside it, which a
/// later reader keeps and does not read.
fn later_graph(grain: &Grain) -> Option<Map> {
    if grain.type_() != Type::Workflow || grain.fields().contains("nodes") {
        return None;
    }
    let steps = grain.field("steps")?;
    let count = steps.texts().count();
    if count == 0 || count > STEPS_MAX {
        return None;
    }
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let mut nodes = Vec::new();
    for step in steps.texts() {
        let count = counts.entry(step).or_default();
        *count = count.saturating_add(1);
        // A node is named by its label, so two equal steps would be one.
        let is_taken = |node: &str| nodes.iter().any(|it| it == node);
        let mut node = step.to_owned();
        while is_taken(&node) {
            node = format!("{step} ({count})");
            *count = count.saturating_add(1);
        }
        nodes.push(node);
    }
    let edges = nodes.iter().zip(nodes.iter().skip(1)).map(|(from, to)| {
        let edge: Map = [("src", from.as_str()), ("dst", to)].into_iter().collect();
        Value::Map(edge)
    });
    let edges: Vec<_> = edges.collect();
    let mut graph = Map::new();
    if !edges.is_empty() {
        graph.insert("edges", edges);
    }
    graph.insert("nodes", nodes);
    if grain.text("relation") == Some("mg:requires_steps") {
        graph.insert("relation", "mg:has_graph");
    }
    Some(graph)
}

fn rename_in_edges(map: &mut Map, (from, to): (&str, &str)) {
    let Some(Value::Array(edges)) = map.get_mut("edges") else {
        return;
    };
    for edge in edges {
        if let Value::Map(edge) = edge
            && !edge.contains(to)
            && let Some(value) = edge.remove(from)
        {
            edge.insert(to, value);
        }
    }
}

fn rename(value: &mut Value, renamed: &impl Fn(&ContentAddress) -> Option<ContentAddress>) {
    match value {
        Value::Text(text) => {
            let address = ContentAddress::from_reference(text).ok();
            if let Some(new) = address.and_then(|address| renamed(&address)) {
                *text = new.to_string();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, renamed)),
        Value::Map(map) => map.iter_mut().for_each(|(_, item)| rename(item, renamed)),
        _ => {}
    }
}

const RECOMMENDATION: Type = Type::Opaque(0x0c);

/// Fields that prove something about the bytes of the grain: other bytes would break the proof.
const BINDING: [&str; 3] = ["_elided", "_disclosure_of", "supersession_auth"];

/// The names of more steps are not compared with one another.
const STEPS_MAX: usize = 4096;
