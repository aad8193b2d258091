//! `grainstore token`: bearer tokens for callers of `grainstore serve`.
//!
//! A token is printed once, when it is made; the file has its hash.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use grainstore::crypto::OsRandom;
use grainstore::store::{Clock, SystemClock};
use grainstore::{ErrorCode, Time};
use grainstore_server::http::{Grant, Operation, TokenError, TokenFile, TokenRecord};
use serde_json::json;

use crate::error::{CliError, Exit};
use crate::session::Session;

/// Make, list and revoke tokens for callers of `grainstore serve`
///
/// A token acts as its author, reaches the grains of its user and namespaces, and permits what is
/// named. A running server refuses a revoked token at once.
#[derive(Debug, Args)]
#[command(after_long_help = "Example, a token of one tenant:
  grainstore token add --as did:web:bot.acme.example --user mira --allow read,write")]
pub(crate) struct TokenTool {
    /// Token file [default: server/tokens in the folder of the store]
    #[arg(long, value_name = "FILE", global = true)]
    tokens: Option<PathBuf>,
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Make a token and print it, once
    Add(Add),
    /// List the tokens
    List,
    /// Revoke a token
    Revoke {
        /// Name of the token, as `token list` shows it
        id: String,
    },
}

#[derive(Debug, Args)]
struct Add {
    /// Author of what the caller writes
    #[arg(long = "as", value_name = "DID")]
    actor: String,
    /// Restrict access to the grains of this user, the tenant of AIMEM
    #[arg(long, value_name = "ID")]
    user: Option<String>,
    /// Restrict access to this namespace and those inside it; may be repeated
    #[arg(long = "in", value_name = "NAMESPACE")]
    inside: Vec<String>,
    /// Allow access to grains with tags of this group, such as phi; may be repeated
    #[arg(long, value_name = "GROUP")]
    cleared: Vec<String>,
    /// Operations: read, write, erase, export, import, admin
    #[arg(long, value_name = "LIST", value_delimiter = ',', required = true, value_parser = operation)]
    allow: Vec<Operation>,
    /// Use of the token
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
}

impl TokenTool {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let file = match self.tokens {
            Some(path) => TokenFile::at(path),
            None => TokenFile::in_store(session.store_path()),
        };
        match self.action {
            Action::Add(add) => add.run(&file, session),
            Action::List => list(&file, session),
            Action::Revoke { id } => {
                if !file.revoke(&id).map_err(|error| told(&error))? {
                    let message = format!("no token has the name {id}");
                    let error = CliError::new(ErrorCode::Usage, message);
                    return Err(error.advising("`grainstore token list` names them").into());
                }
                if session.out.is_json() {
                    session.out.json(&json!({ "revoked": id }))?;
                } else {
                    session.out.line(format!("revoked {id}"))?;
                }
                Ok(Exit::Done)
            }
        }
    }
}

impl Add {
    fn run(self, file: &TokenFile, session: &mut Session) -> anyhow::Result<Exit> {
        let mut grant = Grant::new(self.actor, self.allow);
        grant.user = self.user;
        grant.namespaces = self.inside;
        grant.cleared = self.cleared.into_iter().collect();
        let made = file.add(grant, self.note, SystemClock.now(), &OsRandom);
        let made = made.map_err(|error| told(&error))?;
        if session.out.is_json() {
            session
                .out
                .json(&json!({ "id": made.id, "token": made.text }))?;
        } else {
            session.out.line(&made.text)?;
            session.out.note(format!(
                "shown once; revoke it with `token revoke {}`",
                made.id
            ));
        }
        Ok(Exit::Done)
    }
}

fn list(file: &TokenFile, session: &mut Session) -> anyhow::Result<Exit> {
    let tokens = file.list().map_err(|error| told(&error))?;
    for token in &tokens {
        if session.out.is_json() {
            session.out.json(&token_json(token))?;
        } else {
            session.out.line(line(token))?;
        }
    }
    if tokens.is_empty() {
        session
            .out
            .note("no token: `grainstore token add` makes one");
    }
    Ok(Exit::done_if(!tokens.is_empty()))
}

fn token_json(token: &TokenRecord) -> serde_json::Value {
    let grant = &token.grant;
    json!({
        "id": token.id,
        "created_at": token.created_at,
        "note": token.note,
        "actor": grant.actor,
        "user": grant.user,
        "namespaces": grant.namespaces,
        "cleared": grant.cleared,
        "operations": grant.operations.iter().map(|it| it.name()).collect::<Vec<_>>(),
    })
}

fn line(token: &TokenRecord) -> String {
    let grant = &token.grant;
    let operations: Vec<_> = grant.operations.iter().map(|it| it.name()).collect();
    let mut line = format!(
        "{}  {}  {}  as {}",
        token.id,
        Time::from_ms(token.created_at),
        operations.join(","),
        grant.actor
    );
    if let Some(user) = &grant.user {
        line.push_str(&format!(", user {user}"));
    }
    for name in &grant.namespaces {
        line.push_str(&format!(", in {name}"));
    }
    if let Some(note) = &token.note {
        line.push_str(&format!(": {note}"));
    }
    line
}

fn operation(word: &str) -> Result<Operation, String> {
    Operation::named(word).ok_or_else(|| {
        let words = Operation::ALL.map(Operation::name).join(", ");
        format!("expected some of {words}")
    })
}

fn told(error: &TokenError) -> CliError {
    CliError::new(error.code(), error)
}
