//! The result envelope of OMS 28.1 and its JSON form.
//!
//! It holds results as they were in the snapshot of the query, and reads nothing.

use std::collections::HashMap;

use crate::codec::{ContentAddress, Map, Value};
use crate::grain::{Grain, Status};
use crate::ledger::EntryId;
use crate::policy::Trust;
use crate::store::Signature;

use super::Cursor;

/// The result of a query or search in the standard form (OMS 28.1).
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// The results: best first for a search, oldest first for a query.
    pub results: Vec<Found>,
    /// The total number of matching grains.
    pub total: u64,
    /// Whether `total` is a lower bound.
    pub total_is_lower_bound: bool,
    /// Whether the search ended at [`Options::search_deadline`](crate::Options::search_deadline).
    pub is_partial: bool,
    /// The number of results that were left out as less relevant
    /// ([`Ranking::share`](crate::text::Ranking::share)); 0 for a narrowed handle, which is not told.
    pub less_relevant: u64,
    /// Words that no grain has, each with what it was read as: the word spelt most like it, or by an
    /// alias.
    pub read_as: Vec<(String, String)>,
    /// The cursor of the next page; `None` on the last page.
    pub next_cursor: Option<Cursor>,
    /// Whether it ended at [`Filter::up_to_bytes`](crate::Filter::up_to_bytes), so that some of the
    /// best results may be missing.
    pub is_cut: bool,
}

/// One result.
#[derive(Debug, Clone)]
pub struct Found {
    pub(super) row: EntryId,
    /// The grain.
    pub grain: Grain,
    /// Its address.
    pub address: ContentAddress,
    /// The status of the grain in the snapshot of the query.
    pub status: Status,
    /// The signer of a signed grain, and whether the signer is trusted.
    pub signature: Option<Signature>,
    /// The relevance in [0, 1]: 1 for every result of a query; for a search see
    /// [`Hit::relevance`](crate::text::Hit::relevance). It does not express confidence or trust.
    pub score: f64,
    /// The fields that matched.
    pub matched_fields: Vec<&'static str>,
    /// The name and value of each rule of a ranking that changed the score, if
    /// [`Ranking::explains`](crate::text::Ranking::explains): the score, before it is mapped to [0, 1), is the sum of `words`,
    /// `meaning`, `within`, `neighbours`, `answer` and `session`, times the others.
    pub explanation: Vec<(&'static str, f64)>,
    /// The excerpt with the most matches, if it was asked for ([`Search::snippets`](super::Search::snippets)).
    #[cfg(feature = "text")]
    pub snippet: Option<crate::text::Snippet>,
}

impl Page {
    /// Returns the results by observer, `observer_type` and `observer_id`, in the order of the first
    /// result of each (OMS 17.3, 24).
    ///
    /// ```
    /// use grainstore::{Draft, Filter, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// store.put(Draft::observation("cam-1", "camera"))?;
    /// store.put(Draft::event("a note"))?;
    /// let found = store.query(&Filter::new(), 10, None)?;
    /// let observers: Vec<_> = found.by_observer().into_iter().map(|(by, _)| by).collect();
    /// assert_eq!(observers, [[Some("camera"), Some("cam-1")], [None, None]]);
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    pub fn by_observer(&self) -> Vec<([Option<&str>; 2], Vec<&Found>)> {
        let mut groups: Vec<([Option<&str>; 2], Vec<&Found>)> = Vec::new();
        let mut places = HashMap::new();
        for found in &self.results {
            let observer = ["observer_type", "observer_id"].map(|field| found.grain.text(field));
            let place = *places.entry(observer).or_insert_with(|| {
                groups.push((observer, Vec::new()));
                groups.len() - 1
            });
            if let Some((_, group)) = groups.get_mut(place) {
                group.push(found);
            }
        }
        groups
    }

    /// Returns the JSON object of OMS 28.1.
    ///
    /// Besides the members of the specification it has `total_is_lower_bound` and `partial` if true,
    /// `less_relevant` and `read_as` if there are any,
    /// `superseded_by` on superseded grains, `explanation` if it was asked for, and `signature` on
    /// signed grains.
    pub fn to_json(&self) -> String {
        Value::Map(self.members()).to_json()
    }

    fn members(&self) -> Map {
        let results: Vec<Value> = self.results.iter().map(Found::to_value).collect();
        let next = self.next_cursor.map(|cursor| cursor.to_string());
        let mut map = Map::from_iter([
            ("results", Value::Array(results)),
            ("total", self.total.into()),
            ("next_cursor", next.map_or(Value::Nil, Value::Text)),
        ]);
        if self.total_is_lower_bound {
            map.insert("total_is_lower_bound", true);
        }
        if self.less_relevant > 0 {
            map.insert("less_relevant", self.less_relevant);
        }
        if !self.read_as.is_empty() {
            let words = self.read_as.iter().cloned();
            map.insert("read_as", Map::from_iter(words));
        }
        if self.is_partial {
            map.insert("partial", "deadline");
        }
        map
    }
}

/// As [`Page::to_json`] writes it.
impl serde::Serialize for Page {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.members().serialize(serializer)
    }
}

impl Found {
    fn to_value(&self) -> Value {
        let mut map = Map::from_iter([
            ("grain", Value::Map(self.grain.fields().clone())),
            ("score", Value::Float(self.score)),
            ("matched_fields", self.matched_fields.clone().into()),
            ("content_address", self.address.into()),
        ]);
        if let Some(by) = self.status.superseded_by {
            map.insert("superseded_by", by);
        }
        if !self.explanation.is_empty() {
            let parts = self.explanation.iter();
            let parts = parts.map(|(name, value)| (*name, Value::Float(*value)));
            map.insert("explanation", Map::from_iter(parts));
        }
        if let Some(signature) = &self.signature {
            map.insert("signature", signature_value(signature));
        }
        Value::Map(map)
    }
}

/// Returns the signer and the trust in the signer: a signature alone proves nothing (OMS 20.1).
fn signature_value(signature: &Signature) -> Map {
    let mut map = Map::from_iter([
        ("signer", signature.signer.as_str()),
        ("trust", signature.trust.name()),
    ]);
    if let Trust::Untrusted(doubt) = signature.trust {
        map.insert("doubt", doubt.name());
    }
    map
}
