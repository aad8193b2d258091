//! `grainstore policy explain`: the policy decision for an operation, without executing it.
//!
//! The decision is the one that the operation itself would get, on the current state of the store.

use clap::Args;
use grainstore::ErrorCode;
use grainstore::policy::Actor;
use grainstore::store::{Asked, Explanation};
use serde_json::json;

use crate::args::address;
use crate::error::{CliError, Exit};
use crate::output::printable;
use crate::session::Session;

/// The arguments of `policy explain`.
#[derive(Debug, Args)]
#[command(after_long_help = r#"Example:
  grainstore policy explain 3a1f5d8e9c2b delete --justification "asked" --authority "DPO""#)]
pub(super) struct Explain {
    /// Address of the grain, or its first digits, 4 or more
    address: String,
    /// Operation: supersede, contradict, verify, delete, erase, import, export, sell, or rely
    operation: String,
    /// Evaluate with this justification
    #[arg(long, value_name = "TEXT")]
    justification: Option<String>,
    /// Evaluate with this authority (delete, erase)
    #[arg(long, value_name = "NAME")]
    authority: Option<String>,
    /// Evaluate with the signature of this DID; may be repeated
    #[arg(long, value_name = "DID")]
    signer: Vec<String>,
}

impl Explain {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let Some(asked) = Asked::named(&self.operation) else {
            let words: Vec<_> = Asked::words().collect();
            let message = format!("\"{}\" is not one of {}", self.operation, words.join(", "));
            return Err(CliError::new(ErrorCode::Usage, message).into());
        };
        let store = session.open_to_read()?;
        let address = address::resolve(&store, &self.address)?;
        let signers: Vec<_> = self.signer.iter().map(|did| vec![did.clone()]).collect();
        let actor = Actor {
            signers: &signers,
            justification: self.justification.as_deref(),
            authority: self.authority.as_deref(),
            ..Actor::default()
        };
        let answer = store.admin()?.explain_policy(&address, asked, &actor)?;
        if session.out.is_json() {
            session.out.json(&json!({
                "address": address.to_string(),
                "operation": self.operation,
                "allowed": answer.is_allowed,
                "reviewed": answer.is_reviewed,
                "rule": answer.rule,
                "stands_in": answer.stands_in,
                "wants": answer.wants,
                "protected_by": answer.protected_by.map(|by| by.to_string()),
                "protection_reason": answer.protection_reason,
            }))?;
        } else {
            for line in lines(&answer) {
                session.out.line(line)?;
            }
        }
        Ok(match answer.is_allowed {
            true => Exit::Done,
            false => Exit::Denied,
        })
    }
}

fn lines(answer: &Explanation) -> Vec<String> {
    let mut lines = vec![match (answer.is_allowed, answer.is_reviewed) {
        (true, false) => "allowed".to_owned(),
        (true, true) => "allowed, and queued for review by a person".to_owned(),
        (false, _) => "denied".to_owned(),
    }];
    let rule = answer.rule.as_ref().zip(answer.stands_in.as_ref());
    let rule = rule.map(|(rule, section)| format!("rule          {rule} ({section})"));
    let required = answer.wants.as_ref();
    let required = required.map(|what| format!("requires      {what}"));
    let by = answer.protected_by.map(|by| format!("protected by  {by}"));
    let reason = answer.protection_reason.as_ref();
    let reason = reason.map(|text| format!("its reason    {}", printable(text)));
    lines.extend([rule, required, by, reason].into_iter().flatten());
    lines
}
