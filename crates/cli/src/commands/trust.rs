use clap::{Args, Subcommand};
use grainstore::Type;
use grainstore::crypto::Did;
use grainstore::grain::Namespace;
use grainstore::policy::TrustRule;
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::filters::grain_type;
use crate::problem::Problem;
use crate::session::Session;

/// Say whose signatures are trusted, for what, and why
///
/// A signature proves who signed a grain and nothing else. Whom to believe is said here: answers
/// show such grains as verified and others as untrusted, and --trust verified leaves those out.
#[derive(Debug, Args)]
pub(crate) struct TrustTool {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Add(Add),
    List(List),
    Remove(Remove),
}

/// Trust a signer, everywhere or in some namespaces and with some types
///
/// Example: grainstore trust add did:key:z6Mk… --namespace acme:hr --type belief --reason "HR bot"
#[derive(Debug, Args)]
struct Add {
    /// The signer: a did:key or a did:web
    did: String,
    /// In this namespace and inside it; may be given several times
    #[arg(long, value_name = "NAME")]
    namespace: Vec<String>,
    /// With grains of this type; may be given several times
    #[arg(long = "type", value_name = "TYPE", value_parser = grain_type)]
    types: Vec<Type>,
    /// Also where this other DID is the author: the signer signs for it
    #[arg(long = "for", value_name = "DID")]
    authors: Vec<String>,
    /// Nobody but trusted signers may write there from now on
    #[arg(long, requires = "namespace")]
    only: bool,
    /// Why; kept in the ledger
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

/// Show who is trusted with what
#[derive(Debug, Args)]
struct List {}

/// Trust a signer no longer, with nothing; exit 1 if nobody trusted him
///
/// Example: grainstore trust remove did:key:z6Mk… --reason "the key was lost"
#[derive(Debug, Args)]
struct Remove {
    /// The signer
    did: String,
    /// Why; kept in the ledger
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

impl TrustTool {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        match self.verb {
            Verb::Add(verb) => verb.run(session),
            Verb::List(List {}) => list(session),
            Verb::Remove(verb) => verb.run(session),
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
        session.open()?.trust(rule, &self.reason)?;
        Ok(Exit::Done)
    }
}

impl Remove {
    fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let was_trusted = session.open()?.distrust(&did(&self.did)?, &self.reason)?;
        Ok(Exit::done_if(was_trusted))
    }
}

fn list(session: &mut Session) -> anyhow::Result<Exit> {
    let rules = session.open()?.trusted();
    if session.out.is_json() {
        let rules: Vec<Value> = rules.iter().map(rule_json).collect();
        session.out.json(&json!({ "trusted": rules }))?;
        return Ok(Exit::Done);
    }
    for rule in &rules {
        session.out.line(rule_text(rule))?;
    }
    Ok(Exit::Done)
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
        text.push_str(", and nobody who is not trusted");
    }
    text
}

fn did(text: &str) -> Result<Did, Problem> {
    text.parse().map_err(|error| Problem::of(&error).at(text))
}
