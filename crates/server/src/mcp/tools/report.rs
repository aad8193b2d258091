//! `report`: everything that the store holds about a person (GDPR Art. 15).

use grainstore::store::{Person, PersonGrain};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Answer, Effect, Item, Tool};
use crate::Scope;
use crate::http::Operation;
use crate::mcp::budget::Budget;
use crate::mcp::failure::Failure;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Report {
    user: Option<String>,
    /// Other names of the same person.
    #[serde(default)]
    also: Vec<String>,
    max_tokens: Option<u64>,
}

#[derive(Debug, Serialize)]
pub(super) struct Known {
    user: String,
    /// Grains about the person, with every version.
    about: Vec<Item>,
    about_total: u64,
    /// Grains of others that name the person.
    mentions: Vec<Item>,
    mentions_total: u64,
    /// How many of the grains a rule keeps from being erased now.
    kept: u64,
    /// How many other persons are locked: what they say of this one was not looked into.
    locked_persons: u64,
    /// How many entries were written in the person's name.
    written: u64,
    /// How many grains did not fit.
    left_out: u64,
}

impl Tool for Report {
    const NAME: &'static str = "report";
    const TITLE: &'static str = "Report on a person";
    const ABOUT: &'static str =
        "Returns all that is held about a person, with old versions and mentions.";
    const EFFECT: Effect = Effect::Reads;
    const NEEDS: Operation = Operation::Export;
    type Output = Known;

    fn run(self, scope: &Scope) -> Result<Answer<Known>, Failure> {
        let user = self.user.as_deref().or(scope.user());
        let user = user.ok_or_else(|| Failure::usage("name the person: user"))?;
        let person = self.also.iter().fold(Person::new(user), Person::also);
        let report = scope.admin()?.person_report(&person)?;
        let mut budget = Budget::of(self.max_tokens);
        let mut text = format!("# About {user}\n\n");
        let about = listed(scope, &report.about, &mut text, &mut budget)?;
        let mut mentions = Vec::new();
        let named = &*report.mentions;
        if !named.is_empty() {
            text.push_str("\n# Named by others\n\n");
            mentions = listed(scope, named, &mut text, &mut budget)?;
        }
        let all = report.about.iter().chain(named);
        let kept = all.filter(|grain| grain.kept.is_some()).count();
        let total = report.about.len() + named.len();
        let left_out = total - about.len() - mentions.len();
        text.push_str(&format!(
            "\n{total} grains, {kept} of them kept by a rule.\n"
        ));
        let locked_persons = report.locked_persons;
        if locked_persons > 0 {
            text.push_str(&format!(
                "{locked_persons} other persons are locked: what they say of {user} was not looked into.\n"
            ));
        }
        if left_out > 0 {
            text.push_str(&format!(
                "{left_out} did not fit: raise max_tokens, or use query.\n"
            ));
        }
        let output = Known {
            user: user.to_owned(),
            about,
            about_total: report.about.len() as u64,
            mentions,
            mentions_total: named.len() as u64,
            kept: kept as u64,
            locked_persons,
            written: report.written,
            left_out: left_out as u64,
        };
        Ok(Answer { text, output })
    }
}

/// Returns the grains that fit.
fn listed(
    scope: &Scope,
    grains: &[PersonGrain],
    text: &mut String,
    budget: &mut Budget,
) -> Result<Vec<Item>, Failure> {
    let mut items = Vec::new();
    for found in grains {
        // Erased since the report was made.
        let Some(grain) = scope.store().get(&found.address)? else {
            continue;
        };
        let item = Item::of(scope, &grain, &found.status, budget.left() / 2)?;
        if !item.add_to(&mut items, text, budget) {
            break;
        }
    }
    Ok(items)
}
