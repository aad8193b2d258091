//! `get`: one grain with all its fields and its status.

use grainstore::render::escaped;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Answer, Effect, Tool, fields_within, resolve};
use crate::Scope;
use crate::mcp::budget::Budget;
use crate::mcp::failure::Failure;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Get {
    address: String,
    max_tokens: Option<u64>,
}

#[derive(Debug, Serialize)]
pub(super) struct Got {
    address: String,
    /// The fields of the grain.
    grain: Map<String, Value>,
    /// Fields that did not fit and are shortened or missing.
    left_out: Vec<String>,
    /// Whether it still counts.
    is_current: bool,
    /// The version that replaced it.
    #[serde(skip_serializing_if = "Option::is_none")]
    superseded_by: Option<String>,
    /// unverified, verified, contested or retracted.
    verification_status: &'static str,
    /// DID of the signer.
    #[serde(skip_serializing_if = "Option::is_none")]
    signer: Option<String>,
    /// Whether the signer is trusted: verified, or why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    trust: Option<&'static str>,
}

impl Tool for Get {
    const NAME: &'static str = "get";
    const TITLE: &'static str = "Get one memory";
    const ABOUT: &'static str = "Returns one grain: every field, its state and its signer.";
    const EFFECT: Effect = Effect::Reads;
    type Output = Got;

    fn run(self, scope: &Scope) -> Result<Answer<Got>, Failure> {
        let address = resolve(scope, &self.address)?;
        let grain = scope.store().get(&address)?;
        let grain = grain.ok_or_else(|| Failure::not_found(address))?;
        let address = grain.address();
        let status = scope.store().status(&address)?;
        let signature = scope.store().signature(&address)?;
        let (fields, left_out) = fields_within(&grain, &mut Budget::of(self.max_tokens));
        let output = Got {
            address: address.to_string(),
            grain: fields,
            left_out,
            is_current: status.is_current(),
            superseded_by: scope.successor(&status)?.map(|by| by.to_string()),
            verification_status: status.verification.name(),
            signer: signature.as_ref().map(|it| it.signer.to_string()),
            trust: signature.as_ref().map(|it| it.trust.name()),
        };
        let pretty = serde_json::to_string_pretty(&output.grain).unwrap_or_default();
        let lines = pretty.lines().map(|line| escaped(line).into_owned());
        let mut text = lines.collect::<Vec<_>>().join("\n");
        text.push_str(&format!("\naddress: {address}\n"));
        if let Some(by) = &output.superseded_by {
            text.push_str(&format!("superseded by: {by}\n"));
        } else if !output.is_current {
            text.push_str("no longer current\n");
        }
        if !output.left_out.is_empty() {
            let names = output.left_out.join(", ");
            text.push_str(&format!("Not whole, raise max_tokens: {names}\n"));
        }
        Ok(Answer { text, output })
    }
}
