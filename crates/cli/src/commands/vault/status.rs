//! `grainstore vault status`: persons, the epoch of the root, its escrow copies, and its file system.

use clap::Args;
use grainstore::Time;
use grainstore::store::{Clock, Escrow, SystemClock, VaultStatus};
use serde_json::{Value, json};

use crate::error::{CliError, Exit};
use crate::hex;
use crate::session::Session;

/// Show the state of the vault and the escrow copies of its root
///
/// With a master key every person's keys are opened and checked. Exits with 4 if the vault is damaged,
/// and with 2 if its root is missing or the key is another one.
#[derive(Debug, Args)]
pub(super) struct Status {}

impl Status {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open()?;
        let vault = store.admin()?.vault();
        let status = vault.status()?;
        if status.epoch == 0 {
            session
                .out
                .note("no person has a key, so there is no vault");
            return Ok(Exit::Nothing);
        }
        let is_open = status.fault.is_none();
        let checked = (is_open && session.has_master_key()).then(|| vault.check());
        let now = SystemClock.now();
        if session.out.is_json() {
            let copies: Vec<_> = status
                .escrows
                .iter()
                .map(|it| copy_json(it, &status, now))
                .collect();
            let mut document = json!({
                "persons": status.persons,
                "epoch": status.epoch,
                "file_system": status.file_system,
                "overwrites": status.overwrites,
                "escrows": copies,
                "blind_fields": status.blind_fields.name(),
                "rekey_due": status.due.iter().map(due_json).collect::<Vec<_>>(),
            });
            if let Some(Ok(count)) = checked {
                document["checked"] = json!(count);
            }
            if let Some(fault) = &status.fault {
                document["fault"] = json!(fault.to_string());
            }
            session.out.json(&document)?;
        } else {
            print(&status, now, session)?;
            if let Some(Ok(count)) = checked {
                let line = format!("keys          the keys of {count} persons open");
                session.out.line(line)?;
            }
        }
        warn_of_medium(&status, session);
        if let Some(fault) = status.fault {
            return Err(CliError::of(&grainstore::Error::Vault(fault)).into());
        }
        checked.transpose()?;
        Ok(Exit::Done)
    }
}

fn print(status: &VaultStatus, now: Time, session: &mut Session) -> anyhow::Result<()> {
    let file_system = status.file_system.as_deref().unwrap_or("unknown");
    for (name, value) in [
        ("persons", status.persons.to_string()),
        ("epoch", status.epoch.to_string()),
        ("file system", file_system.to_owned()),
        ("blind index", status.blind_fields.name().to_owned()),
    ] {
        session.out.line(format!("{name:13} {value}"))?;
    }
    for (uid, end) in &status.due {
        let verb = match *end > now {
            true => "until",
            false => "overdue since",
        };
        let line = format!("rekey due     {}  {verb} {end}", hex::encode(uid));
        session.out.line(line)?;
    }
    for copy in &status.escrows {
        let (name, until, to) = (copy.name(), copy.until, &copy.recipient);
        let opens = match copy.epoch == status.epoch {
            true => "opens the vault",
            false => "of an earlier root",
        };
        let verb = match copy.until > now {
            true => "until",
            false => "ended",
        };
        let line = format!("escrow        {name}  {verb} {until}  {opens}  {to}");
        session.out.line(line)?;
    }
    Ok(())
}

fn due_json((uid, end): &([u8; 16], Time)) -> Value {
    json!({ "uid": hex::encode(uid), "until": end.ms() })
}

fn copy_json(copy: &Escrow, status: &VaultStatus, now: Time) -> Value {
    json!({
        "id": copy.name(),
        "epoch": copy.epoch,
        "until": copy.until.ms(),
        "has_ended": copy.until <= now,
        "opens": copy.epoch == status.epoch,
        "recipient": copy.recipient,
    })
}

/// Warns of a file system that keeps what is overwritten.
pub(crate) fn warn_of_medium(status: &VaultStatus, session: &Session) {
    let name = status.file_system.as_deref().unwrap_or_default();
    if status.overwrites == Some(false) {
        session.out.note(format!(
            "warning: {name} keeps copies of what is overwritten, so an erased person's key may be \
             recovered from the disk; put the store on ext4 or xfs, or keep the root elsewhere"
        ));
    }
}
