//! `cal`: a statement of the Context Assembly Language.

mod change;
mod told;

use std::sync::Arc;

use grainstore::store::{Clock as _, SystemClock};
use grainstore_cal::{Cal as _, Options};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Answer, Effect, Tool};
use crate::Scope;
use crate::mcp::budget::{Budget, shortened};
use crate::mcp::failure::Failure;
pub(super) use change::Change;
use told::{refused, text_of};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Cal {
    statement: String,
    /// Values by name.
    #[serde(default)]
    parameters: Map<String, Value>,
    max_tokens: Option<u64>,
}

#[derive(Debug, Serialize)]
pub(super) struct Told {
    /// The answer: the text of AS or ASSEMBLE, else a line for each grain with the first digits of its
    /// address, else JSON.
    answer: String,
    /// Whether the answer is longer than `max_tokens`.
    is_cut: bool,
    /// The parts of the statement that have no effect.
    warnings: Vec<String>,
}

impl Tool for Cal {
    const NAME: &'static str = "cal";
    const TITLE: &'static str = "Ask in CAL";
    const ABOUT: &'static str = "Answers a statement of CAL 1.0; it reads. RECALL [beliefs] \
        [ABOUT \"..\"] [LIKE \"..\"] [SINCE \"last week\"] [WHERE field = value AND ..] \
        [| ORDER BY field DESC] [| LIMIT n] [| COUNT] [AS sml|markdown]. ASSEMBLE FOR \"..\" FROM \
        a: (RECALL ..), b: (RECALL ..) BUDGET n TOKENS. DESCRIBE types. Grammar: cal://grammar.";
    const EFFECT: Effect = Effect::Reads;
    type Output = Told;

    fn run(self, scope: &Scope) -> Result<Answer<Told>, Failure> {
        let store = scope.store();
        let host = scope.cal()?;
        let options = Options {
            parameters: self.parameters,
            bytes_max: crate::http::ANSWER_LEN_MAX,
            host: Some(Arc::clone(host)),
            ..Options::at(SystemClock.now())
        };
        let answer = store
            .cal(&self.statement, &options)
            .map_err(|refusal| refused(&refusal, &self.statement))?;
        let whole = text_of(&answer);
        let (kept, missing) = shortened(&whole, Budget::of(self.max_tokens).left());
        // A line that is cut would say something else.
        let kept = match (missing, kept.rfind('\n')) {
            (1.., Some(end)) => kept.get(..=end).unwrap_or_default(),
            _ => kept.as_ref(),
        };
        let mut text = kept.to_owned();
        if !answer.is_found() {
            text.push_str("Nothing was found.\n");
        }
        if missing > 0 {
            text.push_str("\nMore was found than fits: raise max_tokens, or ask for less.\n");
        }
        let warnings = answer.warnings.iter();
        let warnings: Vec<String> = warnings.map(ToString::to_string).collect();
        for warning in &warnings {
            text.push_str(&format!("\nWarning: {warning}\n"));
        }
        let output = Told {
            answer: kept.to_owned(),
            is_cut: missing > 0,
            warnings,
        };
        Ok(Answer { text, output })
    }
}
