//! `grainstore audit why`: the rules that protect a grain, who decided them, and what they refused.

use clap::Args;
use grainstore::policy::Actor;
use grainstore::store::{Asked, AuditFilter, Explanation};
use serde_json::{Value, json};

use crate::args::address;
use crate::error::Exit;
use crate::output::printable;
use crate::session::Session;

use super::log::{entry_json, line};
use super::reasoned::reasoned;

/// Show which rules protect a grain, who decided, and what was refused
///
/// For each operation: whether it is allowed now and by which rule it is denied. Then the entries of
/// the ledger about decisions on the grain: holds, reviews, withdrawals, verifications, refusals. Of a
/// Reasoning also its premises, as they stand now, the alternatives that it rejected, its thinking and
/// its conclusion; of a Consensus whether it was reached.
#[derive(Debug, Args)]
pub(super) struct Why {
    /// Address of the grain, or its first digits, 4 or more
    address: String,
}

impl Why {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open_to_read()?;
        let of = address::resolve(&store, &self.address)?;
        let filter = AuditFilter {
            address: Some(of),
            ..AuditFilter::default()
        };
        let mut entries = store
            .maintenance()?
            .audit()
            .log(&filter, None, usize::MAX)?;
        entries.retain(|entry| DECISIONS.contains(&entry.operation));
        let mut rules = Vec::new();
        for word in Asked::words() {
            if let Some(asked) = Asked::named(word) {
                let answer = store
                    .admin()?
                    .explain_policy(&of, asked, &Actor::default())?;
                rules.push((word, answer));
            }
        }
        let reasoned = match store.get(&of)? {
            Some(grain) => reasoned(&store, &grain)?,
            None => None,
        };
        let out = &mut session.out;
        if out.is_json() {
            let rules: Vec<_> = rules.iter().map(rule_json).collect();
            let decisions: Vec<_> = entries.iter().map(entry_json).collect();
            out.json(&json!({
                "address": of.to_string(),
                "rules": rules,
                "decisions": decisions,
                "reasoned": reasoned.map(|(value, _)| value),
            }))?;
            return Ok(Exit::Done);
        }
        for (word, answer) in &rules {
            let text = match &answer.rule {
                None if answer.is_reviewed => "allowed, and reviewed by a person".to_owned(),
                None => "allowed".to_owned(),
                Some(rule) => {
                    let place = answer.stands_in.as_deref().unwrap_or_default();
                    let requires = answer.wants.as_deref().unwrap_or("nothing allows it");
                    let by = answer.protected_by.filter(|by| *by != of);
                    let by = by.map(|by| format!(", by {}", address::short(&by)));
                    let by = by.unwrap_or_default();
                    let said = answer.protection_reason.as_deref();
                    let said = said.map(|text| format!("; its reason: {}", printable(text)));
                    let said = said.unwrap_or_default();
                    format!("denied: {rule} ({place}){by}; requires {requires}{said}")
                }
            };
            out.line(format!("{word:12}  {text}"))?;
        }
        for entry in &entries {
            out.line(line(entry))?;
        }
        for line in reasoned.into_iter().flat_map(|(_, lines)| lines) {
            out.line(line)?;
        }
        Ok(Exit::Done)
    }
}

fn rule_json((word, answer): &(&str, Explanation)) -> Value {
    json!({
        "operation": word,
        "is_allowed": answer.is_allowed,
        "is_reviewed": answer.is_reviewed,
        "rule": answer.rule,
        "stands_in": answer.stands_in,
        "requires": answer.wants,
        "protected_by": answer.protected_by.map(|by| by.to_string()),
        "protection_reason": answer.protection_reason,
    })
}

/// The operations that decide about a grain, or are refused.
const DECISIONS: [&str; 9] = [
    "hold",
    "release",
    "review",
    "clear",
    "withdraw",
    "verify",
    "deny",
    "contradict",
    "supersede",
];
