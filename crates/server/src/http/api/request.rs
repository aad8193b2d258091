//! The documents that routes take, from which the description of the interface is made too.

use grainstore::query::{Sort, SortBy};
use grainstore::{ContentAddress, ErrorCode, Filter};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::http::failure::Failure;
use crate::wire::{CalendarBody, FilterBody, Moment};

/// A grain: its fields, or `{"blob": HEX}` or `{"envelope": …}` of one that is encoded already.
pub(crate) type GrainBody = Map<String, Value>;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BatchBody {
    /// Grains that are stored together, or none of them.
    #[schemars(length(max = 1_000))]
    pub(crate) grains: Vec<GrainBody>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AddressesBody {
    /// Content addresses, 64 hexadecimal digits each.
    #[schemars(length(max = 1_000))]
    pub(crate) addresses: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SupersedeBody {
    /// The new version.
    pub(crate) grain: GrainBody,
    /// Why, for the record.
    #[serde(default)]
    pub(crate) justification: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ContradictBody {
    /// Why, for the record.
    #[serde(default)]
    pub(crate) justification: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeleteBody {
    /// Why the grain is erased; it must not repeat the content.
    pub(crate) reason: String,
    /// The authority that decided.
    pub(crate) authority: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct QueryBody {
    #[serde(default)]
    pub(crate) filter: FilterBody,
    /// time, valid_from, confidence, importance and so on; by default as the filter asks.
    #[serde(default)]
    pub(crate) sort: Option<String>,
    #[serde(default)]
    pub(crate) descending: bool,
    /// At most 1,000.
    #[serde(default = "page")]
    #[schemars(range(min = 1, max = 1_000))]
    pub(crate) limit: usize,
    /// The `next_cursor` of the page before.
    #[serde(default)]
    pub(crate) cursor: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchBody {
    /// Words, "phrases", -exclusions.
    pub(crate) question: String,
    /// Adds to each result an excerpt, in parts that match or do not.
    #[serde(default)]
    pub(crate) with_snippets: bool,
    /// Adds to each result how each rule of the ranking changed its score.
    #[serde(default)]
    pub(crate) with_explanation: bool,
    /// Ranks by the words of each grain alone: no conversation, no meaning, no other spelling.
    #[serde(default)]
    pub(crate) by_words: bool,
    /// Leaves out results below this share of the score of the best one, such as 0.9.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub(crate) share: f64,
    #[serde(default)]
    pub(crate) calendar: CalendarBody,
    #[serde(default)]
    pub(crate) filter: FilterBody,
    /// At most 1,000.
    #[serde(default = "page")]
    #[schemars(range(min = 1, max = 1_000))]
    pub(crate) limit: usize,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CancelBody {
    /// The `assembly_id` of the first event.
    pub(crate) assembly_id: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExecuteBody {
    /// The token of a prepared change.
    pub(crate) token: String,
    /// The namespace in which it was prepared, where the token of the caller has several.
    #[serde(default)]
    pub(crate) namespace: Option<String>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CalBody {
    /// The statement, such as `RECALL beliefs ABOUT "mira" | LIMIT 5 AS sml`.
    #[serde(default)]
    pub(crate) cal: Option<String>,
    /// The JSON form of the statement, in place of the text.
    #[serde(default)]
    pub(crate) query: Option<Value>,
    /// The values of the parameters, by their names without the sign.
    #[serde(default)]
    pub(crate) parameters: Map<String, Value>,
    /// The namespace, where the token has several.
    #[serde(default)]
    pub(crate) namespace: Option<String>,
    /// The moment to which words such as "yesterday" refer; by default the clock of the server.
    #[serde(default)]
    pub(crate) now: Option<Moment>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PersonBody {
    /// The person: their user_id.
    pub(crate) user: String,
    /// Other names of the same person, as a DID.
    #[serde(default)]
    pub(crate) also: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AliasBody {
    /// The person: their user_id.
    pub(crate) user: String,
    /// Another user_id of the same person.
    pub(crate) other: String,
    /// Why, for the record.
    #[serde(default)]
    pub(crate) reason: String,
    /// The authority that decided.
    #[serde(default)]
    pub(crate) authority: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ErasePersonBody {
    /// The person: their user_id.
    pub(crate) user: String,
    /// Other names of the same person, as a DID.
    #[serde(default)]
    pub(crate) also: Vec<String>,
    /// Grains that only mention the person too.
    #[serde(default)]
    pub(crate) mentions: bool,
    /// The others, if a rule keeps some.
    #[serde(default)]
    pub(crate) except_kept: bool,
    /// Only says what would be erased.
    #[serde(default)]
    pub(crate) preview: bool,
    /// Why, for the record; it must not name the person.
    #[serde(default)]
    pub(crate) reason: String,
    /// The authority that decided.
    #[serde(default)]
    pub(crate) authority: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AuditBody {
    #[serde(default)]
    pub(crate) from: Option<Moment>,
    #[serde(default)]
    pub(crate) to: Option<Moment>,
    /// An author; the empty text for the owner.
    #[serde(default)]
    pub(crate) by: Option<String>,
    /// store, supersede, deny, erase, import and so on.
    #[serde(default)]
    pub(crate) operation: Option<String>,
    #[serde(default)]
    pub(crate) address: Option<String>,
    /// Entries about the grains of this person.
    #[serde(default)]
    pub(crate) person: Option<String>,
    /// The `next` of the page before.
    #[serde(default)]
    pub(crate) after: Option<u64>,
    #[serde(default)]
    pub(crate) newest_first: bool,
    /// At most 1,000.
    #[serde(default = "page")]
    #[schemars(range(min = 1, max = 1_000))]
    pub(crate) limit: usize,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GrowthBody {
    #[serde(default)]
    pub(crate) filter: FilterBody,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GroupsBody {
    /// type, session_id or user_id.
    pub(crate) by: String,
    #[serde(default)]
    pub(crate) filter: FilterBody,
    /// The groups of the pages before.
    #[serde(default)]
    #[schemars(range(max = 1_000_000))]
    pub(crate) skip: usize,
    /// At most 1,000.
    #[serde(default = "page")]
    #[schemars(range(min = 1, max = 1_000))]
    pub(crate) limit: usize,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SettleBody {
    /// The grain that is right.
    pub(crate) keep: String,
    /// Why, for the record.
    #[serde(default)]
    pub(crate) justification: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecallBody {
    pub(crate) question: String,
    /// Only what is relevant: nearly as good as the best that cover enough of the question.
    #[serde(default)]
    pub(crate) precise: bool,
    #[serde(default)]
    pub(crate) calendar: CalendarBody,
    #[serde(default)]
    pub(crate) filter: FilterBody,
    /// The most tokens that the answer may have.
    #[serde(default = "budget")]
    #[schemars(range(min = 1, max = 100_000))]
    pub(crate) budget: usize,
    /// markdown, text or json.
    #[serde(default)]
    pub(crate) format: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExportBody {
    /// jsonl, mg, pam, aimem, aimem-ndjson, omi or omi-jsonl.
    pub(crate) format: String,
    #[serde(default)]
    pub(crate) filter: FilterBody,
    #[serde(default)]
    pub(crate) with_embeddings: bool,
}

impl QueryBody {
    /// Returns the order of the pages.
    ///
    /// # Errors
    /// `ERR_FILTER` for the name of no order.
    pub(crate) fn sort(&self, filter: &Filter) -> Result<Sort, Failure> {
        let sort = match &self.sort {
            None => Sort::of(filter),
            Some(name) => Sort::by(
                SortBy::named(name)
                    .ok_or_else(|| Failure::of(ErrorCode::Filter, format!("{name} is no sort")))?,
            ),
        };
        Ok(if self.descending {
            sort.descending()
        } else {
            sort
        })
    }
}

/// Returns the filter of a request, in which an address is whole.
///
/// # Errors
/// `ERR_FILTER` for a value without a meaning, the codes of addresses.
pub(crate) fn filter_of(body: &FilterBody) -> Result<Filter, Failure> {
    body.filter(|address| Ok(address.parse::<ContentAddress>()?))
}

/// Returns a limit that a page may have.
///
/// # Errors
/// `ERR_USAGE` for another.
pub(crate) fn limited(limit: usize, max: usize) -> Result<usize, Failure> {
    match (1..=max).contains(&limit) {
        true => Ok(limit),
        false => Err(Failure::usage(format!(
            "a limit is from 1 to {max}, not {limit}"
        ))),
    }
}

const fn page() -> usize {
    50
}

const fn budget() -> usize {
    2_000
}

pub(crate) const PAGE_MAX: usize = 1_000;
