//! `history`: the versions of a memory, newest last.

use grainstore::newest_versions;
use grainstore::render::escaped;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Answer, Effect, Item, Tool, resolve};
use crate::Scope;
use crate::http::ANSWER_LEN_MAX;
use crate::mcp::budget::Budget;
use crate::mcp::failure::Failure;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct History {
    /// Of any version.
    address: String,
    max_tokens: Option<u64>,
}

#[derive(Debug, Serialize)]
pub(super) struct Versions {
    /// The versions, oldest first.
    versions: Vec<StoredItem>,
    /// How many older versions did not fit.
    left_out: u64,
}

#[derive(Debug, Serialize)]
struct StoredItem {
    #[serde(flatten)]
    item: Item,
    /// When it was stored here.
    stored_at: String,
    /// DID of the author who stored it; absent for the owner of the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    stored_by: Option<String>,
}

impl Tool for History {
    const NAME: &'static str = "history";
    const TITLE: &'static str = "History of a memory";
    const ABOUT: &'static str = "Returns every version of a memory, with time and author.";
    const EFFECT: Effect = Effect::Reads;
    type Output = Versions;

    fn run(self, scope: &Scope) -> Result<Answer<Versions>, Failure> {
        let address = resolve(scope, &self.address)?;
        let store = scope.store();
        if store.get(&address)?.is_none() {
            return Err(Failure::not_found(address));
        }
        let (versions, more) = newest_versions(store, &address, ANSWER_LEN_MAX, |_| true)?;
        let mut budget = Budget::of(self.max_tokens);
        let (mut items, mut lines) = (Vec::new(), Vec::new());
        // The newest matter most.
        for version in versions.iter().rev() {
            let item = Item::of(scope, &version.grain, &version.status, budget.left() / 2)?;
            let item = item.signed(version.signature.as_ref());
            let (mut one, mut line) = (Vec::new(), String::new());
            if !item.add_to(&mut one, &mut line, &mut budget) {
                break;
            }
            lines.push(line);
            let stored_by = version.stored_by.as_deref();
            items.extend(one.into_iter().map(|item| StoredItem {
                item,
                stored_at: version.stored_at.to_string(),
                stored_by: stored_by.map(|by| escaped(by).into_owned()),
            }));
        }
        items.reverse();
        lines.reverse();
        let left_out = more + (versions.len() - items.len()) as u64;
        let mut text = lines.concat();
        if left_out > 0 {
            text.push_str(&format!(
                "\n{left_out} older versions did not fit: raise max_tokens.\n"
            ));
        }
        let output = Versions {
            versions: items,
            left_out,
        };
        Ok(Answer { text, output })
    }
}
