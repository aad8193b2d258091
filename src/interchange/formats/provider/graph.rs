//! The graph of a conversation, as ChatGPT and DeepSeek write it: nodes by their ids, each with the one
//! above it, of which some hold no message.

use crate::codec::{Map, Value};

use super::conversation::text;

/// The place of a node in its graph.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Above<'a> {
    /// The id of the nearest node above it with a message.
    pub(super) nearest: Option<&'a str>,
    /// How many nodes with messages are above it.
    pub(super) depth: usize,
}

/// A node, by its number among all.
#[derive(Clone, Copy)]
struct Node<'a> {
    /// The node above it.
    parent: Option<usize>,
    /// The id of its message; `None` for one without.
    message: Option<&'a str>,
    /// The walk that met it last.
    met: Option<usize>,
    place: Option<Above<'a>>,
}

/// Returns the places of the nodes in their order. Each node is looked at once: a conversation may be a
/// chain of a million, and a walk to the top from each would take that squared.
pub(super) fn places(nodes: &Map) -> Vec<Above<'_>> {
    let mut graph = Graph::of(nodes);
    let mut path = Vec::new();
    for start in 0..nodes.len() {
        let mut at = Some(start);
        while let Some(here) = at.filter(|here| graph.meet(*here, start)) {
            path.push(here);
            at = graph.parent(here);
        }
        // A circle ends where it began. The last node of it looks for its message on the circle itself.
        let closes = at.filter(|end| graph.get(*end).is_some_and(|it| it.met == Some(start)));
        let steps = path.len();
        while let Some(here) = path.pop() {
            let above = graph.parent(here);
            let place = match above {
                Some(end) if closes == above && !graph.is_placed(end) => Above {
                    nearest: graph.nearest_by_walk(here, steps),
                    depth: usize::from(graph.message(end).is_some()),
                },
                Some(above) => graph.below(above),
                None => Above::default(),
            };
            if let Some(node) = graph.0.get_mut(here) {
                node.place = Some(place);
            }
        }
    }
    let places = graph.0.into_iter();
    places.map(|it| it.place.unwrap_or_default()).collect()
}

struct Graph<'a>(Vec<Node<'a>>);

impl<'a> Graph<'a> {
    fn of(nodes: &'a Map) -> Self {
        let node = |(key, node): (&'a str, &'a Value)| Node {
            parent: parent(nodes, node),
            message: message_id(key, node),
            met: None,
            place: None,
        };
        Self(nodes.iter().map(node).collect())
    }

    fn get(&self, at: usize) -> Option<&Node<'a>> {
        self.0.get(at)
    }

    fn parent(&self, at: usize) -> Option<usize> {
        self.get(at)?.parent
    }

    fn message(&self, at: usize) -> Option<&'a str> {
        self.get(at)?.message
    }

    fn is_placed(&self, at: usize) -> bool {
        self.get(at).is_some_and(|it| it.place.is_some())
    }

    /// Notes that a walk met a node; returns whether it goes on from there.
    fn meet(&mut self, at: usize, walk: usize) -> bool {
        self.0.get_mut(at).is_some_and(|node| {
            let is_new = node.place.is_none() && node.met != Some(walk);
            node.met = if is_new { Some(walk) } else { node.met };
            is_new
        })
    }

    /// Returns the place of a node directly under one.
    fn below(&self, above: usize) -> Above<'a> {
        let place = self.get(above).and_then(|it| it.place);
        let place = place.unwrap_or_default();
        match self.message(above) {
            Some(id) => Above {
                nearest: Some(id),
                depth: place.depth.saturating_add(1),
            },
            None => place,
        }
    }

    fn nearest_by_walk(&self, from: usize, steps: usize) -> Option<&'a str> {
        let mut at = self.parent(from)?;
        for _ in 0..steps {
            if let Some(id) = self.message(at) {
                return Some(id);
            }
            at = self.parent(at)?;
        }
        None
    }
}

/// Returns the number of the node above one, where there is such a node.
fn parent(nodes: &Map, node: &Value) -> Option<usize> {
    let above = text(node.as_map()?, "parent")?;
    nodes.get(above)?.as_map()?;
    nodes.place_of(above)
}

/// Returns the id of the message of a node; `None` for one without.
fn message_id<'a>(key: &'a str, node: &'a Value) -> Option<&'a str> {
    let node = node.as_map()?;
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
            for (at, place) in places(&graph).into_iter().enumerate() {
                let expected = Graph::of(&graph).nearest_by_walk(at, graph.len());
                prop_assert_eq!(place.nearest, expected, "{} in {:?}", at, nodes);
            }
        }
    }

    #[test]
    fn a_chain_of_a_hundred_thousand_nodes_costs_its_length() {
        let nodes: Vec<_> = (0..100_000).map(|at| (at + 1, at % 2 == 0)).collect();
        let graph = graph(&nodes);
        let places = places(&graph);
        let place = |key| {
            let place = places.get(graph.place_of(key)?)?;
            Some((place.nearest, place.depth))
        };
        assert_eq!(place("n0"), Some((Some("n2"), 49_999)));
        assert_eq!(place("n99999"), Some((None, 0)));
    }
}
