//! `correct`: a new version of a memory, which supersedes the old one.

use grainstore::codec;
use grainstore::{Draft, ErrorCode, Grain, Type};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::address::short;
use super::{Answer, Effect, Tool, resolve};
use crate::Scope;
use crate::mcp::failure::Failure;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Correct {
    address: String,
    /// The new object of a belief, text of a note, description of a goal.
    text: Option<String>,
    /// Other fields; null removes one.
    #[serde(default)]
    fields: Map<String, Value>,
    /// Why; some protected memories demand it.
    reason: Option<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct Corrected {
    /// Address of the new version.
    address: String,
    /// Address of the version that it replaced.
    supersedes: String,
    /// Oddities of the grain, which is stored all the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

impl Tool for Correct {
    const NAME: &'static str = "correct";
    const TITLE: &'static str = "Correct a memory";
    const ABOUT: &'static str =
        "Replaces a memory by a new version; the old one stays in its history.";
    const EFFECT: Effect = Effect::Adds;
    type Output = Corrected;

    fn run(self, scope: &Scope) -> Result<Answer<Corrected>, Failure> {
        let old = resolve(scope, &self.address)?;
        let grain = scope.store().get(&old)?;
        let grain = grain.ok_or_else(|| Failure::not_found(old))?;
        let draft = self.draft(&grain)?.replacing(old);
        // OMS 6.1: a person ends a review, and no model by a new version without it.
        let waits =
            |field: Option<&codec::Value>| field.and_then(codec::Value::as_bool) == Some(true);
        let review = "requires_human_review";
        if waits(grain.field(review)) && !waits(draft.fields().get(review)) {
            let message = "the grain waits for the review of a person, which no new version ends";
            return Err(Failure::new(ErrorCode::ReviewRequired, message));
        }
        let warnings = scope.warnings(&draft);
        let new = scope
            .store()
            .supersede(&old, draft, self.reason.as_deref())?;
        let mut text = format!("Corrected: {} supersedes {}.\n", short(&new), short(&old));
        text.extend(warnings.iter().map(|it| format!("Warning: {it}\n")));
        let output = Corrected {
            address: new.to_string(),
            supersedes: old.to_string(),
            warnings,
        };
        Ok(Answer { text, output })
    }
}

impl Correct {
    /// Returns the new version: the fields of the old one that describe no version, with the
    /// changes.
    fn draft(&self, old: &Grain) -> Result<Draft, Failure> {
        let carried = Draft::next_version(old).fields().clone();
        let parsed = serde_json::to_value(&carried);
        let Ok(Value::Object(mut fields)) = parsed else {
            return Err(Failure::usage("the fields of this grain cannot be read"));
        };
        for name in STATED_BY_THE_STORE {
            fields.remove(*name);
        }
        if let Some(text) = &self.text {
            let field = match old.type_() {
                Type::Belief => "object",
                Type::Event => "content",
                Type::Goal => "description",
                Type::Reasoning => "conclusion",
                _ => return Err(Failure::usage("give `fields`: this type has no one text")),
            };
            fields.insert(field.to_owned(), Value::String(text.clone()));
        }
        if self.text.is_none() && self.fields.is_empty() {
            return Err(Failure::usage(
                "give `text` or `fields`: nothing would change",
            ));
        }
        for (name, value) in &self.fields {
            match value {
                Value::Null => drop(fields.remove(name)),
                value => drop(fields.insert(name.clone(), value.clone())),
            }
        }
        Ok(Draft::from_json(&Value::Object(fields).to_string())?)
    }
}

/// Fields that the store states.
const STATED_BY_THE_STORE: &[&str] = &["superseded_by", "verification_status"];
