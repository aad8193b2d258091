//! `grainstore trust`: the rules that say which signers are trusted, and with what.
//!
//! Signatures are verified by the store when a grain is written; the rules judge the signer.

use clap::{Args, Subcommand};
use grainstore::Type;
use grainstore::crypto::Did;
use grainstore::grain::Namespace;
use grainstore::policy::TrustRule;
use serde_json::{Value, json};

use crate::args::grain_type;
use crate::error::{CliError, Exit};
use crate::session::Session;

/// Manage trusted signers
///
/// A signature proves who signed a grain, and nothing else. Trust rules define which signers are
/// trusted: results show grains of trusted signers as verified and other signed grains as untrusted,
/// and --trust verified selects verified grains only.
#[derive(Debug, Args)]
pub(crate) struct TrustTool {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Add(Add),
    List(List),
    Remove(Remove),
}

/// Trust a signer, everywhere or for some namespaces and types
#[derive(Debug, Args)]
#[command(after_long_help = r#"Example:
  grainstore trust add did:key:z6Mk… --namespace acme:hr --type belief --reason "HR bot""#)]
struct Add {
    /// DID of the signer: did:key or did:web
    did: String,
    /// Limit the rule to this namespace and those inside it; may be repeated
    #[arg(long, value_name = "NAME")]
    namespace: Vec<String>,
    /// Limit the rule to grains of this type; may be repeated
    #[arg(long = "type", value_name = "TYPE", value_parser = grain_type)]
    types: Vec<Type>,
    /// Allow the signer to sign grains of this other author; may be repeated
    #[arg(long = "for", value_name = "DID")]
    authors: Vec<String>,
    /// Refuse writes in these namespaces, and changes to their grains, without a trusted signature
    #[arg(long, requires = "namespace")]
    only: bool,
    /// Reason for the change; recorded in the ledger
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

/// List the trust rules
#[derive(Debug, Args)]
struct List {}

/// Remove all rules of a signer; exit 1 if there was none
#[derive(Debug, Args)]
#[command(after_long_help = r#"Example:
  grainstore trust remove did:key:z6Mk… --reason "the key was lost""#)]
struct Remove {
    /// DID of the signer
    did: String,
    /// Reason for the change; recorded in the ledger
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

impl TrustTool {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        match self.action {
            Action::Add(action) => action.run(session),
            Action::List(List {}) => list(session),
            Action::Remove(action) => action.run(session),
        }
    }
}

impl Add {
    fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let rule = TrustRule {
            signer: did(&self.did)?,
            namespaces: self.namespace.into_iter().map(Namespace::new).collect(),
            types: self.types,
            authors: self.authors,
            is_exclusive: self.only,
        };
        session.open()?.admin()?.trust(rule, &self.reason)?;
        Ok(Exit::Done)
    }
}

impl Remove {
    fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let was_trusted = session
            .open()?
            .admin()?
            .distrust(&did(&self.did)?, &self.reason)?;
        Ok(Exit::done_if(was_trusted))
    }
}

fn list(session: &mut Session) -> anyhow::Result<Exit> {
    let rules = session.open_to_read()?.admin()?.trusted();
    if session.out.is_json() {
        let rules: Vec<Value> = rules.iter().map(rule_json).collect();
        let exit = Exit::done_if(!rules.is_empty());
        session.out.json(&json!({ "trusted": rules }))?;
        return Ok(exit);
    }
    for rule in &rules {
        session.out.line(rule_text(rule))?;
    }
    Ok(Exit::done_if(!rules.is_empty()))
}

fn rule_json(rule: &TrustRule) -> Value {
    json!({
        "signer": rule.signer.as_str(),
        "namespaces": rule.namespaces.iter().map(Namespace::as_str).collect::<Vec<_>>(),
        "types": rule.types.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "for": rule.authors,
        "only": rule.is_exclusive,
    })
}

fn rule_text(rule: &TrustRule) -> String {
    let types: Vec<_> = rule.types.iter().map(ToString::to_string).collect();
    let namespaces: Vec<_> = rule.namespaces.iter().map(ToString::to_string).collect();
    let mut text = rule.signer.to_string();
    for (word, names) in [
        ("in", &namespaces),
        ("with", &types),
        ("for", &rule.authors),
    ] {
        if !names.is_empty() {
            text.push_str(&format!(" {word} {}", names.join(", ")));
        }
    }
    if rule.is_exclusive {
        text.push_str(", trusted signers only");
    }
    text
}

fn did(text: &str) -> Result<Did, CliError> {
    text.parse().map_err(|error| CliError::of(&error).at(text))
}
