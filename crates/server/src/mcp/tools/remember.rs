//! `remember`: a belief, a note, or a grain of any type.

use grainstore::{Draft, also_believed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::address::short;
use super::{Answer, Effect, Item, Tool, resolve};
use crate::Scope;
use crate::mcp::budget::Budget;
use crate::mcp::failure::Failure;
use crate::wire::Moment;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Remember {
    /// Of a belief: who or what.
    subject: Option<String>,
    /// Such as prefers, works_at.
    relation: Option<String>,
    object: Option<String>,
    /// A note, in place of a belief.
    text: Option<String>,
    /// A grain of any type, by its fields.
    grain: Option<Map<String, Value>>,
    /// Default 0.9.
    confidence: Option<f64>,
    importance: Option<f64>,
    /// The person it is about.
    user: Option<String>,
    session: Option<String>,
    namespace: Option<String>,
    /// When it happened (default now).
    time: Option<Moment>,
    /// Until when it holds.
    valid_to: Option<Moment>,
    /// user_explicit, llm_inferred, …
    source: Option<String>,
    /// Address of the consent it rests on.
    processing_basis: Option<String>,
    /// Addresses it was concluded from.
    #[serde(default)]
    derived_from: Vec<String>,
    #[serde(default)]
    tags: Vec<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct Remembered {
    address: String,
    /// Whether it was not stored before.
    new: bool,
    /// Other current beliefs with the same subject and a like relation: if one is wrong now, correct it.
    related: Vec<Item>,
    /// Oddities of the grain, which is stored all the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

impl Tool for Remember {
    const NAME: &'static str = "remember";
    const TITLE: &'static str = "Remember";
    const ABOUT: &'static str = "Stores a belief (subject, relation, object), a note (text), or a grain. \
        Returns its address, and what else is believed of the same. To change a belief, use correct.";
    const EFFECT: Effect = Effect::Adds;
    type Output = Remembered;

    fn run(self, scope: &Scope) -> Result<Answer<Remembered>, Failure> {
        let draft = self.draft(scope)?;
        let warnings = scope.warnings(&draft);
        let put = scope.store().insert(draft)?;
        let address = put.address;
        let mut text = match put.is_new {
            true => format!("Remembered as {}.\n", short(&address)),
            false => format!("Known before, as {}.\n", short(&address)),
        };
        text.extend(warnings.iter().map(|it| format!("Warning: {it}\n")));
        let (mut related, mut lines, mut budget) = (Vec::new(), String::new(), Budget::of(None));
        // It is stored: where the caller may not read it, nothing is said beside it.
        let stored = scope.store().get(&address).ok().flatten();
        let others = stored.map(|stored| also_believed(scope.store(), &stored));
        for other in others.transpose()?.unwrap_or_default() {
            let status = scope.store().status(&other.address())?;
            let item = Item::of(scope, &other, &status, budget.left() / 2)?;
            item.add_to(&mut related, &mut lines, &mut budget);
        }
        if !lines.is_empty() {
            text.push_str("It is also believed; correct what is wrong now:\n");
            text.push_str(&lines);
        }
        let output = Remembered {
            address: address.to_string(),
            new: put.is_new,
            related,
            warnings,
        };
        Ok(Answer { text, output })
    }
}

impl Remember {
    fn draft(&self, scope: &Scope) -> Result<Draft, Failure> {
        let belief = (&self.subject, &self.relation, &self.object);
        let mut draft = match (belief, &self.text, &self.grain) {
            ((Some(subject), Some(relation), Some(object)), None, None) => {
                let belief = Draft::belief(subject, relation, object.as_str());
                belief.confidence(self.confidence.unwrap_or(0.9))
            }
            ((None, None, None), Some(text), None) => Draft::event(text),
            ((None, None, None), None, Some(grain)) => {
                Draft::from_json(&Value::Object(grain.clone()).to_string())?
            }
            _ => {
                let forms = "give either subject, relation and object, or text, or grain";
                return Err(Failure::usage(forms));
            }
        };
        let texts = [
            ("user_id", &self.user),
            ("session_id", &self.session),
            ("namespace", &self.namespace),
            ("source_type", &self.source),
            ("processing_basis", &self.processing_basis),
        ];
        for (field, value) in texts {
            if let Some(value) = value {
                draft = draft.set(field, value.as_str());
            }
        }
        let numbers = [
            ("confidence", self.confidence),
            ("importance", self.importance),
        ];
        for (field, value) in numbers {
            if let Some(value) = value {
                draft = draft.set(field, value);
            }
        }
        if let Some(at) = &self.time {
            draft = draft.created_at(at.first()?);
        }
        if let Some(until) = &self.valid_to {
            draft = draft.valid_to(until.last()?);
        }
        for address in &self.derived_from {
            draft = draft.derived_from(resolve(scope, address)?);
        }
        Ok(self.tags.iter().fold(draft, Draft::tag))
    }
}
