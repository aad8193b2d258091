//! `grainstore user erase`: removes a person's grains from every file of the store.
//!
//! The receipt file is created before anything is erased, so that it cannot fail afterwards.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use clap::Args;
use grainstore::crypto::SigningKey;
use grainstore::store::{ErasureScope, PersonErasure};
use grainstore::{Admin, ErrorCode, Store};
use grainstore_server::receipt_json;
use serde_json::json;

use super::report::{line, locked_note};
use super::unknown::unknown;
use super::user_tool::PersonArgs;
use crate::args::{AuthorizationArgs, create_private, read_key};
use crate::error::{CliError, Exit};
use crate::session::Session;

/// Erase the grains about a person permanently, in one pass over the files
///
/// Grains that only mention the person, such as those of other users, stay unless --mentions is
/// given. If a hold, a retention period or a withdrawn consent keeps a grain, nothing is erased and
/// the exit code is 3; --except-kept erases the others and lists what was kept and why. A kept grain
/// of a sealed person keeps the key of all: --reseal-held seals it anew under a hold key, hold:UID in
/// `user list`, by which --unlock opens it. Repeated, the command erases what was stored since; it
/// exits with 1 if nothing of the person is there. Backups and exports made before keep their copies.
#[derive(Debug, Args)]
#[command(after_long_help = r#"Example:
  grainstore user erase alice --reason "request 17" --authority "the DPO" \
    --key operator.pem --receipt alice-erased.json --yes"#)]
pub(super) struct Erase {
    #[command(flatten)]
    person: PersonArgs,
    #[command(flatten)]
    authorization: AuthorizationArgs,
    /// Erase grains that mention the person too: of other users, and in other fields
    #[arg(long)]
    mentions: bool,
    /// Erase the others if some grains are kept by a hold, retention or a withdrawn consent
    #[arg(long)]
    except_kept: bool,
    /// Erase a sealed person although some of their grains are kept: these stay under a hold key,
    /// which answers to no user id
    #[arg(long)]
    reseal_held: bool,
    /// List what would be erased and what is kept; erase nothing
    #[arg(long)]
    dry_run: bool,
    /// Key file that signs the receipt
    #[arg(long, value_name = "FILE", requires = "receipt")]
    key: Option<String>,
    /// New file for the signed receipt; it alone tells that the erasure was of this person
    #[arg(
        long,
        value_name = "FILE",
        requires = "key",
        conflicts_with = "dry_run"
    )]
    receipt: Option<String>,
    /// Confirm the erasure, which cannot be undone
    #[arg(long)]
    yes: bool,
}

impl Erase {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        if !self.dry_run && !self.yes {
            let message = "erasure cannot be undone; pass --yes to confirm, or --dry-run";
            return Err(CliError::new(ErrorCode::Usage, message).into());
        }
        let store = session.open()?;
        let admin = store.admin()?;
        if self.dry_run {
            return self.preview(&store, session);
        }
        let key = self.key.as_deref().map(read_key).transpose()?;
        let file = self.receipt.as_deref().map(create).transpose()?;
        let scope = ErasureScope {
            mentions: self.mentions,
            except_kept: self.except_kept,
            reseal_held: self.reseal_held,
        };
        let authorization = self.authorization.as_given();
        let done = match admin.erase_person(&self.person.person(), scope, authorization) {
            Ok(done) => done,
            Err(error) => {
                if let Some(name) = &self.receipt {
                    drop(std::fs::remove_file(name));
                }
                if error.code() == ErrorCode::InvalidationDenied {
                    self.name_kept(admin, session)?;
                }
                return Err(error.into());
            }
        };
        if let (Some(key), Some(file)) = (&key, file) {
            self.write_receipt(admin, &done, key, file)?;
        }
        let is_known = !(done.erased.is_empty()
            && done.kept.is_empty()
            && done.held.is_empty()
            && done.keys.is_empty()
            && done.records == 0);
        if is_known {
            return self.print(&done, session);
        }
        if session.out.is_json() {
            self.print(&done, session)?;
        }
        session.out.note(unknown(&store, self.person.name())?);
        Ok(Exit::done_if(false))
    }

    fn preview(&self, store: &Store, session: &mut Session) -> anyhow::Result<Exit> {
        let report = store.admin()?.person_report(&self.person.person())?;
        if report.about.is_empty() && report.mentions.is_empty() && report.records.is_empty() {
            session.out.note(unknown(store, self.person.name())?);
        }
        let mentions = report.mentions.iter().filter(|_| self.mentions);
        let chosen = report.about.iter().chain(mentions);
        let (kept, erased): (Vec<_>, Vec<_>) = chosen.partition(|found| found.kept.is_some());
        let is_refused = !kept.is_empty() && !self.except_kept && !self.reseal_held
            || self.mentions && report.locked_persons > 0;
        if session.out.is_json() {
            let erased: Vec<_> = erased.iter().map(|it| it.address.to_string()).collect();
            let kept = kept.iter().map(|it| {
                let rule = it.kept.map(grainstore::policy::Rule::name);
                json!({ "address": it.address.to_string(), "rule": rule })
            });
            session.out.json(&json!({
                "would_erase": erased,
                "kept": kept.collect::<Vec<_>>(),
                "mentions": if self.mentions { 0 } else { report.mentions.len() },
                "locked_persons": report.locked_persons,
                "would_be_refused": is_refused,
            }))?;
        } else {
            for found in erased.iter().chain(&kept) {
                session
                    .out
                    .line(line(found, report.about.contains(found)))?;
            }
            let mentions = report.mentions.len();
            if !self.mentions && mentions > 0 {
                session.out.note(mentions_note(mentions));
            }
            if report.locked_persons > 0 {
                session.out.note(locked_note(report.locked_persons));
            }
        }
        Ok(match is_refused {
            true => Exit::Denied,
            false => Exit::done_if(!erased.is_empty()),
        })
    }

    fn name_kept(&self, admin: Admin<'_>, session: &Session) -> anyhow::Result<()> {
        let report = admin.person_report(&self.person.person())?;
        let mentions = report.mentions.iter().filter(|_| self.mentions);
        for found in report.about.iter().chain(mentions) {
            if let Some(rule) = found.kept {
                session.out.note(format!("kept {}: {rule}", found.address));
            }
        }
        session
            .out
            .note("nothing was erased; --except-kept erases the others, --reseal-held those of a sealed person");
        Ok(())
    }

    fn write_receipt(
        &self,
        admin: Admin<'_>,
        done: &PersonErasure,
        key: &SigningKey,
        mut file: File,
    ) -> anyhow::Result<()> {
        let message = admin.erasure_receipt(done, key, &key.did())?;
        let document = receipt_json(&message)?;
        let written = writeln!(file, "{document:#}").and_then(|()| file.sync_all());
        let name = self.receipt.as_deref().unwrap_or_default();
        Ok(written.map_err(|error| CliError::of(&error).at(name))?)
    }

    fn print(&self, done: &PersonErasure, session: &mut Session) -> anyhow::Result<Exit> {
        if session.out.is_json() {
            let erased: Vec<_> = done.erased.iter().map(ToString::to_string).collect();
            let kept = done.kept.iter();
            let kept = kept.map(
                |(address, rule)| json!({ "address": address.to_string(), "rule": rule.name() }),
            );
            session.out.json(&json!({
                "erased": erased,
                "kept": kept.collect::<Vec<_>>(),
                "held": done.held.iter().map(ToString::to_string).collect::<Vec<_>>(),
                "mentions": done.mentions.iter().map(ToString::to_string).collect::<Vec<_>>(),
                "locked_persons": done.locked_persons,
                "is_vault_damaged": done.is_vault_damaged,
                "records": done.records,
                "entries_blanked": done.blanked,
            }))?;
        } else {
            let (erased, blanked) = (done.erased.len(), done.blanked);
            let message = format!("erased {erased} grains, in {blanked} entries");
            session.out.line(message)?;
            for (address, rule) in &done.kept {
                session.out.line(format!("kept {address}: {rule}"))?;
            }
        }
        if !done.held.is_empty() {
            session
                .out
                .note("the held grains are under a hold key: see `user list`");
        }
        if !done.mentions.is_empty() {
            session.out.note(mentions_note(done.mentions.len()));
        }
        if done.is_vault_damaged {
            session.out.note(
                "the vault is damaged (see `check`): if this person has a key, their sealed grains are still \
                 there; run this again when the vault is repaired",
            );
        } else if done.locked_persons > 0 {
            session.out.note(locked_note(done.locked_persons));
        }
        session
            .out
            .note("backups and exports made before the erasure keep their copies");
        let is_whole = done.kept.len() == done.held.len() && !done.is_vault_damaged;
        Ok(Exit::done_if(is_whole))
    }
}

fn mentions_note(count: usize) -> String {
    format!("{count} grains mention the person and stay; --mentions erases them")
}

/// Creates the file of the receipt, or takes the empty one that an interrupted command left.
fn create(name: &str) -> Result<File, CliError> {
    let path = Path::new(name);
    let created = create_private(path).or_else(|error| {
        let found = path.symlink_metadata();
        match found.is_ok_and(|found| found.is_file() && found.len() == 0) {
            true => File::options().write(true).open(path),
            false => Err(error),
        }
    });
    created.map_err(|error| CliError::of(&error).at(name))
}
