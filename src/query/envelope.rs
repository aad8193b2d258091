use crate::codec::{ContentAddress, Map, Value};
use crate::grain::{Grain, Status};
use crate::policy::Trust;
use crate::store::Signature;

use super::Cursor;

/// An answer in the standard form (OMS 28.1).
#[derive(Debug, Clone, Default)]
pub struct Envelope {
    /// What was found: best first of a search, oldest first of a query.
    pub results: Vec<Found>,
    /// How many grains match in all.
    pub total: u64,
    /// Whether counting stopped at `total`.
    pub total_is_lower_bound: bool,
    /// What to pass to go on; none at the end.
    pub next_cursor: Option<Cursor>,
}

/// One grain of an answer.
#[derive(Debug, Clone)]
pub struct Found {
    pub(super) row: u64,
    /// The grain.
    pub grain: Grain,
    /// Its address.
    pub address: ContentAddress,
    /// Its status when the question was asked.
    pub status: Status,
    /// Who signed it, if it is signed, and how far that is to be believed.
    pub signature: Option<Signature>,
    /// How well it fits, in [0, 1]: 1 for every row of a query; of a search see
    /// [`Hit::relevance`](crate::text::Hit::relevance). Not how far it is to be believed.
    pub score: f64,
    /// The fields that made it fit.
    pub matched_fields: Vec<&'static str>,
}

impl Envelope {
    /// Returns the answer as the JSON object of OMS 28.1.
    ///
    /// Beside the specification's members, `total_is_lower_bound` is there when it is true,
    /// `superseded_by` on results that are, and `signature` on those that are signed.
    pub fn to_json(&self) -> String {
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
        Value::Map(map).to_json()
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
        if let Some(signature) = &self.signature {
            map.insert("signature", signature_value(signature));
        }
        Value::Map(map)
    }
}

/// Returns who signed and whether he is trusted: a signature alone proves nothing (OMS 20.1).
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
