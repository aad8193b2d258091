//! `change`: a statement of CAL that changes, in two phases (CAL 1.13).

use grainstore::store::{Clock as _, SystemClock};
use grainstore_cal::{Body, Options, parse};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::told::refused;
use crate::Scope;
use crate::mcp::failure::Failure;
use crate::mcp::tools::{Answer, Effect, Tool};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp::tools) struct Change {
    /// ADD, SUPERSEDE or REVERT with its REASON: it is prepared.
    statement: Option<String>,
    /// Values by name.
    #[serde(default)]
    parameters: Map<String, Value>,
    /// The token of a prepared change, in place of a statement: the change is made.
    token: Option<String>,
}

#[derive(Debug, Default, Serialize)]
pub(in crate::mcp::tools) struct Changed {
    /// The token that makes the prepared change, once, within five minutes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    token: Option<String>,
    /// The effects of the prepared change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    plan: Option<Map<String, Value>>,
    /// Address of the grain that was stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    address: Option<String>,
    /// Address of the grain that it replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    supersedes: Option<String>,
}

impl Tool for Change {
    const NAME: &'static str = "change";
    const TITLE: &'static str = "Change in CAL";
    const ABOUT: &'static str = "Changes memory by a statement of CAL, in two steps. With `statement` it \
        returns a plan and a token: ADD belief SET subject = \"..\" SET relation = \"..\" SET object = \
        \"..\" REASON \"..\", SUPERSEDE sha256:.. SET object = \"..\" REASON \"..\", REVERT sha256:.. \
        REASON \"..\". With `token` it makes the change, once. Nothing is deleted.";
    const EFFECT: Effect = Effect::Adds;
    type Output = Changed;

    fn run(self, scope: &Scope) -> Result<Answer<Changed>, Failure> {
        let store = scope.store();
        let host = scope.cal()?;
        match (self.statement, self.token) {
            (Some(statement), None) => {
                let options = Options {
                    parameters: self.parameters,
                    bytes_max: crate::http::ANSWER_LEN_MAX,
                    ..Options::at(SystemClock.now())
                };
                let query = parse(&statement).map_err(grainstore_cal::Failure::from);
                let prepared = query.and_then(|query| host.prepare(store, &query, &options));
                let prepared = prepared.map_err(|refusal| refused(&refusal, &statement))?;
                let text = format!(
                    "Prepared, and not made yet: {}\nMake it with the token {}\n",
                    prepared.plan, prepared.token
                );
                let output = Changed {
                    token: Some(prepared.token),
                    plan: prepared.plan.as_object().cloned(),
                    ..Changed::default()
                };
                Ok(Answer { text, output })
            }
            (None, Some(token)) => {
                let told = |refusal| refused(&refusal, "");
                let change = host.redeem(store, &token).map_err(told)?;
                let answer = change.apply(store).map_err(told)?;
                let Body::Changed { address, replaced } = answer.body else {
                    return Err(Failure::usage("no change"));
                };
                let text = match replaced {
                    Some(old) => format!("Changed: {address} supersedes {old}.\n"),
                    None => format!("Added as {address}.\n"),
                };
                let output = Changed {
                    address: Some(address.to_string()),
                    supersedes: replaced.map(|old| old.to_string()),
                    ..Changed::default()
                };
                Ok(Answer { text, output })
            }
            _ => Err(Failure::usage("give either `statement` or `token`")),
        }
    }
}
