//! The links of a grain to others, for the index and for walks of a history.

use crate::codec::{ContentAddress, Value};

use super::Grain;

/// A (subject, relation, object) statement; parts that a grain lacks are absent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Triple {
    /// The thing that it is about.
    pub subject: Option<String>,
    /// How subject and object relate.
    pub relation: Option<String>,
    /// The value; a map is written as its JSON.
    pub object: Option<String>,
}

impl Grain {
    /// Returns the statement this grain makes, if it has any part of one.
    ///
    /// ```
    /// # use grainstore::grain::{Draft, Time};
    /// let belief = Draft::belief("user", "prefers", "dark mode").confidence(0.9);
    /// let grain = belief.created_at(Time::from_ms(0)).finish(Default::default())?;
    /// assert_eq!(grain.triple().unwrap().object.as_deref(), Some("dark mode"));
    /// # Ok::<(), grainstore::grain::Error>(())
    /// ```
    #[doc(hidden)]
    pub fn triple(&self) -> Option<Triple> {
        let part = |name| match self.field(name) {
            Some(Value::Text(text)) => Some(text.clone()),
            Some(other) => Some(other.to_json()),
            None => None,
        };
        // Revision 1.6, 28.4.4: a grain with a subject alone must be found through it.
        let triple = Triple {
            subject: part("subject"),
            relation: part("relation"),
            object: part("object"),
        };
        let is_empty =
            triple.subject.is_none() && triple.relation.is_none() && triple.object.is_none();
        (!is_empty).then_some(triple)
    }

    /// Returns the grains that `derived_from` names; citations are not among them.
    pub fn derived_from(&self) -> impl Iterator<Item = ContentAddress> {
        let sources = self.field("derived_from");
        let sources = sources.into_iter().flat_map(Value::texts);
        sources.filter_map(|text| ContentAddress::from_reference(text).ok())
    }

    /// Returns the grains that `related_to` names.
    pub fn related_to(&self) -> impl Iterator<Item = ContentAddress> {
        let links = self.field("related_to").and_then(Value::as_array);
        let maps = links.unwrap_or_default().iter().filter_map(Value::as_map);
        maps.filter_map(|link| {
            let hash = link.get("hash").and_then(Value::as_text)?;
            ContentAddress::from_reference(hash).ok()
        })
    }

    /// Returns the addresses that any field names, at any depth; hashes of files are not among them.
    ///
    /// ```
    /// use grainstore::{ContentAddress, Draft, Time};
    ///
    /// let of = ContentAddress::of(b"a grain");
    /// let draft = Draft::event("hello").derived_from(of).created_at(Time::from_ms(1));
    /// assert_eq!(draft.finish(Default::default())?.named(), [of]);
    /// # Ok::<(), grainstore::grain::Error>(())
    /// ```
    pub fn named(&self) -> Vec<ContentAddress> {
        let fields = self.fields().iter();
        let fields = fields.filter(|(name, _)| !["content_refs", "embedding_refs"].contains(name));
        let mut named = Vec::new();
        fields.for_each(|(_, value)| collect(value, &mut named));
        named
    }

    /// Returns the address a text field holds, if it holds one.
    ///
    /// For `processing_basis` this distinguishes a Consent grain from a legal basis (ruling T8).
    pub fn link(&self, name: &str) -> Option<ContentAddress> {
        ContentAddress::from_reference(self.text(name)?).ok()
    }
}

fn collect(value: &Value, found: &mut Vec<ContentAddress>) {
    match value {
        Value::Text(text) => found.extend(ContentAddress::from_reference(text)),
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Map(map) => map.iter().for_each(|(_, item)| collect(item, found)),
        _ => {}
    }
}
