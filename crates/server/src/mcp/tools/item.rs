//! A grain as a line of an answer, and as data: its text, and where it comes from.

use grainstore::grain::Status;
use grainstore::policy::Trust;
use grainstore::query::Found;
use grainstore::render::{escaped, tokens};
use grainstore::store::{Signature, Version};
use grainstore::{Error, Grain, Page};
use serde::Serialize;
use serde_json::{Map, Value};

use super::address::short;
use crate::Scope;
use crate::mcp::budget::{Budget, shortened};

/// A grain in an answer: what it says and where it comes from.
#[derive(Debug, Clone, Serialize)]
pub(in crate::mcp) struct Item {
    /// The first digits of its address: the name of the grain, for the other tools.
    address: String,
    #[serde(rename = "type")]
    of: String,
    /// When it happened or was written.
    time: String,
    /// Its content, in one line.
    text: String,
    /// Characters of the text that did not fit; `get` has them.
    #[serde(skip_serializing_if = "is_zero")]
    text_left_out: usize,
    /// The person who said it, or else the role.
    #[serde(skip_serializing_if = "Option::is_none")]
    speaker: Option<String>,
    /// The person it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
    /// DID of the author.
    #[serde(skip_serializing_if = "Option::is_none")]
    author: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence: Option<f64>,
    /// How well it fits the question, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    /// False for a version that was superseded, retracted or contradicted.
    is_current: bool,
    /// The version that replaced it.
    #[serde(skip_serializing_if = "Option::is_none")]
    superseded_by: Option<String>,
    /// The time and the author of its entry in the ledger, in an answer to `changes_since`.
    #[serde(skip_serializing_if = "Option::is_none")]
    stored_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stored_by: Option<String>,
    /// DID of the signer.
    #[serde(skip_serializing_if = "Option::is_none")]
    signer: Option<String>,
    /// Whether this store trusts the signer; a signature by itself proves nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    is_signer_trusted: Option<bool>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that serde asks for"
)]
const fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl Item {
    /// Describes a grain, with up to `limit` tokens of its text.
    ///
    /// # Errors
    /// Storage errors.
    pub(in crate::mcp) fn of(
        scope: &Scope,
        grain: &Grain,
        status: &Status,
        limit: usize,
    ) -> Result<Self, Error> {
        let summary = grain.summary();
        let shown = escaped(&summary);
        let (text, text_left_out) = shortened(&shown, limit);
        let field = |name| grain.text(name).map(|text| escaped(text).into_owned());
        let of = grain.type_();
        Ok(Self {
            address: short(&grain.address()),
            of: of
                .name()
                .map_or_else(|| format!("0x{:02x}", of.byte()), str::to_owned),
            time: grain.event_time().to_string(),
            text: text.into_owned(),
            text_left_out,
            speaker: ["observer_id", "role", "tool_name"]
                .into_iter()
                .find_map(field),
            user: field("user_id"),
            session: field("session_id"),
            namespace: field("namespace"),
            author: field("author_did"),
            confidence: grain
                .field("confidence")
                .and_then(grainstore::codec::Value::as_f64),
            score: None,
            is_current: status.is_current(),
            superseded_by: scope.successor(status)?.map(|by| short(&by)),
            stored_at: None,
            stored_by: None,
            signer: None,
            is_signer_trusted: None,
        })
    }

    pub(in crate::mcp) fn signed(self, signature: Option<&Signature>) -> Self {
        Self {
            signer: signature.map(|signature| signature.signer.to_string()),
            is_signer_trusted: signature.map(|it| matches!(it.trust, Trust::Verified)),
            ..self
        }
    }

    /// Adds the time and the author of its entry in the ledger.
    pub(in crate::mcp) fn stored(self, version: &Version) -> Self {
        let by = version
            .stored_by
            .as_deref()
            .map(|by| escaped(by).into_owned());
        Self {
            stored_at: Some(version.stored_at.to_string()),
            stored_by: by,
            ..self
        }
    }

    fn scored(self, score: f64) -> Self {
        Self {
            score: Some(score),
            ..self
        }
    }

    /// Returns the line of the item.
    pub(in crate::mcp) fn line(&self) -> String {
        let minute = self.time.get(..16).unwrap_or(&self.time).replace('T', " ");
        let mut line = format!("- [{minute}] {}: ", self.of);
        if let Some(speaker) = &self.speaker {
            line.push_str(&format!("{speaker}: "));
        }
        line.push_str(&self.text);
        if self.text_left_out > 0 {
            line.push_str(&format!(" ({} characters left out)", self.text_left_out));
        }
        if !self.is_current {
            line.push_str(" (no longer current)");
        }
        if self.is_signer_trusted == Some(false) {
            line.push_str(" (untrusted signer)");
        }
        if let Some(at) = &self.stored_at {
            let minute = at.get(..16).unwrap_or(at).replace('T', " ");
            let by = self.stored_by.as_deref().unwrap_or("the owner");
            line.push_str(&format!(" (stored {minute} by {by})"));
        }
        line.push_str(&format!(" ({})\n", self.address));
        line
    }

    /// Adds the item to a list if it fits; returns whether it did.
    pub(in crate::mcp) fn add_to(
        self,
        items: &mut Vec<Self>,
        text: &mut String,
        budget: &mut Budget,
    ) -> bool {
        let line = self.line();
        let data = serde_json::to_string(&self).unwrap_or_default();
        let fits = budget.take(tokens(&line).max(tokens(&data)));
        if fits {
            text.push_str(&line);
            items.push(self);
        }
        fits
    }
}

/// The items of an envelope that fit, best first, and their lines.
///
/// # Errors
/// Storage errors.
pub(super) fn items_of(
    scope: &Scope,
    envelope: &Page,
    budget: &mut Budget,
    is_ranked: bool,
) -> Result<(Vec<Item>, String), Error> {
    let (mut items, mut text) = (Vec::new(), String::new());
    for Found {
        grain,
        status,
        signature,
        score,
        ..
    } in &envelope.results
    {
        // A text takes half of the room at most, so that an answer shows more than one.
        let item = Item::of(scope, grain, status, budget.left() / 2)?;
        let item = item.signed(signature.as_ref());
        let item = if is_ranked { item.scored(*score) } else { item };
        if !item.add_to(&mut items, &mut text, budget) {
            break;
        }
    }
    Ok((items, text))
}

/// Returns the fields of a grain that fit, the short ones whole and a long text shortened, and the
/// names of those that are not there whole.
pub(in crate::mcp) fn fields_within(
    grain: &Grain,
    budget: &mut Budget,
) -> (Map<String, Value>, Vec<String>) {
    let parsed = serde_json::to_value(grain);
    let Ok(Value::Object(fields)) = parsed else {
        return (Map::new(), vec!["all".to_owned()]);
    };
    let mut fields: Vec<_> = fields.into_iter().collect();
    fields.sort_by_cached_key(|(_, value)| tokens(&value.to_string()));
    let (mut kept, mut cut) = (Map::new(), Vec::new());
    for (name, value) in fields {
        let cost = tokens(&name) + tokens(&value.to_string()) + 2;
        if cost <= budget.left() && budget.take(cost) {
            kept.insert(name, value);
        } else if let Value::String(text) = &value {
            let (text, _) = shortened(text, budget.left());
            budget.take(budget.left());
            kept.insert(name.clone(), Value::String(text.into_owned()));
            cut.push(name);
        } else {
            cut.push(name);
        }
    }
    (kept, cut)
}
