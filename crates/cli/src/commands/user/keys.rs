//! `grainstore user add`, `list` and `rekey`: the keys of sealed persons.

use clap::Args;
use grainstore::store::{User, VaultAdmin};
use serde_json::{Value, json};

use crate::commands::vault::warn_of_medium;
use crate::error::Exit;
use crate::hex;
use crate::session::Session;

/// Give persons a key of their own, which can be destroyed
///
/// Grains of the person are sealed under their key from then on, and those that are stored at once:
/// nothing of them stays in the clear but consents and delegations, and what backups and exports made
/// before hold. The first person creates the vault,
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
        let added = vault.add_and_seal(&names)?;
        warn_of_medium(&vault.status()?, session);
        let sealed = added.iter();
        let sealed: Vec<_> = sealed.map(|(user, count)| (&*user.user, *count)).collect();
        if session.out.is_json() {
            let added: Vec<_> = added.iter().map(|(user, _)| user_json(user)).collect();
            session
                .out
                .json(&json!({ "added": added, "sealed": sealed_json(&sealed) }))?;
            return Ok(Exit::Done);
        }
        for (user, _) in &added {
            let (name, uid) = (&user.user, hex::encode(&user.uid));
            session.out.line(format!("added {name}  {uid}"))?;
        }
        print_sealed(&sealed, session)?;
        Ok(Exit::Done)
    }
}

/// Seal the grains of persons that are in the clear
///
/// `user add` does this too, and where it was interrupted the next command with the master key goes on:
/// this one is for a person whom a program added. Backups and exports made before keep their copies.
#[derive(Debug, Args)]
#[command(after_long_help = "Example:
  grainstore user seal alice --key-file master.key")]
pub(super) struct Seal {
    /// user_id of each person
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
}

impl Seal {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open()?;
        let sealed = seal_all(store.admin()?.vault(), &self.names)?;
        if session.out.is_json() {
            session
                .out
                .json(&json!({ "sealed": sealed_json(&sealed) }))?;
        } else {
            print_sealed(&sealed, session)?;
        }
        Ok(Exit::done_if(sealed.iter().any(|(_, count)| *count > 0)))
    }
}

fn seal_all<'n>(
    vault: VaultAdmin<'_>,
    names: &'n [String],
) -> Result<Vec<(&'n str, u64)>, grainstore::Error> {
    let sealed = names.iter();
    let sealed = sealed.map(|name| Ok((name.as_str(), vault.seal(name)?)));
    sealed.collect()
}

fn sealed_json(sealed: &[(&str, u64)]) -> Value {
    sealed
        .iter()
        .map(|(name, count)| ((*name).to_owned(), json!(count)))
        .collect()
}

fn print_sealed(sealed: &[(&str, u64)], session: &mut Session) -> anyhow::Result<()> {
    for (name, count) in sealed.iter().filter(|(_, count)| *count > 0) {
        let line = format!("sealed {count} grains of {name} that were in the clear");
        session.out.line(line)?;
        session
            .out
            .note("backups and exports made before keep their copies");
    }
    Ok(())
}

/// List the persons who have a key, with their pseudonyms in the files
#[derive(Debug, Args)]
pub(super) struct List {}

impl List {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open()?;
        let vault = store.admin()?.vault();
        let (users, due) = (vault.list()?, vault.status()?.due);
        let due_of = |user: &User| due.iter().find(|(uid, _)| *uid == user.uid);
        if session.out.is_json() {
            let users: Vec<_> = users
                .iter()
                .map(|user| {
                    let mut document = user_json(user);
                    if let Some((_, end)) = due_of(user) {
                        document["rekey_until"] = json!(end.ms());
                    }
                    document
                })
                .collect();
            session.out.json(&json!({ "users": users }))?;
            return Ok(Exit::Done);
        }
        for user in &users {
            let (name, uid, since) = (&user.user, hex::encode(&user.uid), user.created_at);
            let generation = user.generation;
            let due = due_of(user).map(|(_, end)| format!("  rekey until {end}"));
            let due = due.unwrap_or_default();
            let line = format!("{name}  {uid}  since {since}  key {generation}{due}");
            session.out.line(line)?;
        }
        Ok(Exit::done_if(!users.is_empty()))
    }
}

/// Give persons a new key, so that nothing opens what was deleted of them
///
/// Stored grains stay readable. The deletion of a grain of a sealed person makes this due within 24
/// hours: see `user list`. Escrow copies of the root no longer open the vault afterwards: make a new
/// one.
#[derive(Debug, Args)]
#[command(after_long_help = "Example:
  grainstore user rekey --due --key-file master.key")]
pub(super) struct Rekey {
    /// user_id of each person
    #[arg(required_unless_present = "due", value_name = "NAME")]
    names: Vec<String>,
    /// Every person of whom a grain was deleted since their key was last renewed
    #[arg(long)]
    due: bool,
}

impl Rekey {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open()?;
        let vault = store.admin()?.vault();
        let mut rekeyed = Vec::new();
        for name in &self.names {
            rekeyed.push(vault.rekey(name)?);
        }
        if self.due {
            rekeyed.extend(vault.rekey_due()?);
        }
        if session.out.is_json() {
            let rekeyed: Vec<_> = rekeyed.iter().map(user_json).collect();
            session.out.json(&json!({ "rekeyed": rekeyed }))?;
            return Ok(Exit::Done);
        }
        for user in &rekeyed {
            let (name, generation) = (&user.user, user.generation);
            let line = format!("rekeyed {name}: key {generation}");
            session.out.line(line)?;
        }
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
