//! The graph of a conversation, as ChatGPT and DeepSeek write it: nodes by their ids, each with the one
//! above it, of which some hold no message.

use std::collections::{HashMap, HashSet};

use crate::codec::{Map, Value};

use super::conversation::text;

/// The place of a node in its graph.
#[derive(Clone, Copy, Default)]
pub(super) struct Above<'a> {
    /// The id of the nearest node above it with a message.
    pub(super) nearest: Option<&'a str>,
    /// How many nodes with messages are above it.
    pub(super) depth: usize,
}

/// Returns the place of every node by its key. Each node is looked at once: a conversation may be a
/// chain of a million, and a walk to the top from each would take that squared.
pub(super) fn places(nodes: &Map) -> HashMap<&str, Above<'_>> {
    let mut places: HashMap<&str, Above<'_>> = HashMap::with_capacity(nodes.len());
    for (key, _) in nodes.iter() {
        let (mut path, mut met, mut at) = (Vec::new(), HashSet::new(), Some(key));
        while let Some(here) = at.filter(|here| !places.contains_key(here) && met.insert(*here)) {
            path.push(here);
            at = parent(nodes, here);
        }
        // A circle ends where it began. The last node of it looks for its message on the circle itself.
        let closes = at.filter(|end| met.contains(end));
        while let Some(here) = path.pop() {
            let above = parent(nodes, here);
            let place = match above {
                Some(end) if closes == above && !places.contains_key(end) => Above {
                    nearest: nearest_by_walk(nodes, here, met.len()),
                    depth: usize::from(message_id(nodes, end).is_some()),
                },
                Some(above) => below(nodes, above, places.get(above).copied().unwrap_or_default()),
                None => Above::default(),
            };
            places.insert(here, place);
        }
    }
    places
}

/// Returns the place of a node directly under one.
fn below<'a>(nodes: &'a Map, above: &'a str, place: Above<'a>) -> Above<'a> {
    match message_id(nodes, above) {
        Some(id) => Above {
            nearest: Some(id),
            depth: place.depth.saturating_add(1),
        },
        None => place,
    }
}

fn nearest_by_walk<'a>(nodes: &'a Map, from: &str, steps: usize) -> Option<&'a str> {
    let mut at = parent(nodes, from)?;
    for _ in 0..steps {
        if let Some(id) = message_id(nodes, at) {
            return Some(id);
        }
        at = parent(nodes, at)?;
    }
    None
}

/// Returns the key of the node above one, where there is such a node.
fn parent<'a>(nodes: &'a Map, key: &str) -> Option<&'a str> {
    let above = text(nodes.get(key)?.as_map()?, "parent")?;
    nodes.get(above)?.as_map().map(|_| above)
}

/// Returns the id of the message of a node; `None` for one without.
fn message_id<'a>(nodes: &'a Map, key: &'a str) -> Option<&'a str> {
    let node = nodes.get(key)?.as_map()?;
    node.get("message").and_then(Value::as_map)?;
    Some(text(node, "id").unwrap_or(key))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn graph(nodes: &[(usize, bool)]) -> Map {
        let nodes = nodes
            .iter()
            .enumerate()
            .map(|(key, (parent, has_message))| {
                let mut node = Map::new();
                node.insert("parent", format!("n{parent}"));
                if *has_message {
                    node.insert("message", Map::new());
                }
                (format!("n{key}"), Value::Map(node))
            });
        Map::from_pairs(nodes.collect()).unwrap()
    }

    proptest! {
        #[test]
        fn the_nearest_message_above_is_the_one_that_a_walk_meets_first(
            nodes in proptest::collection::vec((0_usize..8, any::<bool>()), 1..7),
        ) {
            let graph = graph(&nodes);
            for (key, place) in places(&graph) {
                let expected = nearest_by_walk(&graph, key, graph.len());
                prop_assert_eq!(place.nearest, expected, "{} in {:?}", key, nodes);
            }
        }
    }

    #[test]
    fn a_chain_of_a_hundred_thousand_nodes_costs_its_length() {
        let nodes: Vec<_> = (0..100_000).map(|at| (at + 1, at % 2 == 0)).collect();
        let graph = graph(&nodes);
        let places = places(&graph);
        let place = |key| places.get(key).map(|place| (place.nearest, place.depth));
        assert_eq!(place("n0"), Some((Some("n2"), 49_999)));
        assert_eq!(place("n99999"), Some((None, 0)));
    }
}
