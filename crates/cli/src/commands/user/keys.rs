//! `grainstore user add`, `list` and `rekey`: the keys of sealed persons.

use clap::Args;
use grainstore::store::User;
use serde_json::{Value, json};

use crate::commands::vault::warn_of_medium;
use crate::error::Exit;
use crate::hex;
use crate::session::Session;

/// Give persons a key of their own, which can be destroyed
///
/// Grains of the person are sealed under their key from then on. The first person creates the vault,
/// in vault/ of the store, for the master key of --key-file: 32 random bytes that you keep elsewhere,
/// and without which no sealed grain can be read.
#[derive(Debug, Args)]
#[command(after_long_help = "Example:
  (umask 077; head -c 32 /dev/urandom > master.key)
  grainstore user add alice --key-file master.key")]
pub(super) struct Add {
    /// user_id of each person
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
}

impl Add {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open()?;
        let vault = store.admin()?.vault();
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let added = vault.add(&names)?;
        warn_of_medium(&vault.status()?, session);
        if session.out.is_json() {
            let added: Vec<_> = added.iter().map(user_json).collect();
            session.out.json(&json!({ "added": added }))?;
            return Ok(Exit::Done);
        }
        for user in &added {
            let (name, uid) = (&user.user, hex::encode(&user.uid));
            session.out.line(format!("added {name}  {uid}"))?;
        }
        Ok(Exit::Done)
    }
}

/// List the persons who have a key, with their pseudonyms in the files
#[derive(Debug, Args)]
pub(super) struct List {}

impl List {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let users = session.open()?.admin()?.vault().list()?;
        if session.out.is_json() {
            let users: Vec<_> = users.iter().map(user_json).collect();
            session.out.json(&json!({ "users": users }))?;
            return Ok(Exit::Done);
        }
        for user in &users {
            let (name, uid, since) = (&user.user, hex::encode(&user.uid), user.created_at);
            let generation = user.generation;
            let line = format!("{name}  {uid}  since {since}  key {generation}");
            session.out.line(line)?;
        }
        Ok(Exit::done_if(!users.is_empty()))
    }
}

/// Give a person a new key; the earlier ones still open what they have sealed
///
/// Escrow copies of the root no longer open the vault afterwards: make a new one.
#[derive(Debug, Args)]
pub(super) struct Rekey {
    /// user_id of the person
    name: String,
}

impl Rekey {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open()?;
        let user = store.admin()?.vault().rekey(&self.name)?;
        if session.out.is_json() {
            session.out.json(&json!({ "rekeyed": user_json(&user) }))?;
            return Ok(Exit::Done);
        }
        let (name, generation) = (&user.user, user.generation);
        session
            .out
            .line(format!("rekeyed {name}: key {generation}"))?;
        Ok(Exit::Done)
    }
}

fn user_json(user: &User) -> Value {
    json!({
        "user": user.user,
        "uid": hex::encode(&user.uid),
        "created_at": user.created_at.ms(),
        "key": user.generation,
    })
}
