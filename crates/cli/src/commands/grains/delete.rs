//! `grainstore delete`: removes grains from every file of the store.
//!
//! Supersession, which keeps the old grain, is in `supersede`.

use std::collections::{BTreeSet, HashSet};
use std::io::{self, IsTerminal, Write};

use clap::Args;
use grainstore::store::Authorization;
use grainstore::{ContentAddress, ErrorCode, Store};
use serde_json::json;

use crate::args::{Lines, address};
use crate::error::{CliError, Exit};
use crate::session::Session;

/// Delete grains permanently, from every file of the store
///
/// Their bytes, their index terms and every entry that names them are gone.
/// The grains that rest on them are named first, and those that they protect, which keep their rule.
/// A deletion cannot be undone, and a later import of an older file does not restore the grains.
/// Backups and exports made before the deletion keep their copies. Many grains are deleted together:
/// files are rewritten once for a thousand. Exits with 3 if a legal hold or a retention period
/// protects a grain, with 1 if one is not stored; the others are deleted.
#[derive(Debug, Args)]
#[command(after_long_help = "Example, all grains of a run:
  grainstore query --run r7 --limit 100000 --json | jq -r '.results[].content_address' |
    grainstore delete --from - --yes --reason \"test data\" --authority ops")]
pub(crate) struct Delete {
    /// Addresses of grains, or their first digits, 4 or more
    #[arg(required_unless_present = "from", value_name = "ADDRESS")]
    addresses: Vec<String>,
    /// Delete the grains of this file too, one address a line, or - for stdin
    #[arg(long, value_name = "FILE")]
    from: Option<String>,
    /// Reason for the deletion; recorded permanently, so it must not quote the grain
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Authority for the deletion: a person, an office or a DID; recorded permanently
    #[arg(long, value_name = "NAME")]
    authority: String,
    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
}

/// A grain to delete, and the grains that its deletion concerns.
struct Target {
    address: ContentAddress,
    resting: Vec<ContentAddress>,
    protected: Vec<ContentAddress>,
}

impl Delete {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open()?;
        let targets = self.targets(&store)?;
        type Concerned = fn(&Target) -> &[ContentAddress];
        let kinds: [(&str, Concerned); 2] = [
            ("rest on it", |target| &target.resting),
            ("keep the rule by which it protects them", |target| {
                &target.protected
            }),
        ];
        for (what, concerned) in kinds {
            let grains = targets.iter().flat_map(concerned);
            let grains: BTreeSet<_> = grains.map(ToString::to_string).collect();
            if !grains.is_empty() {
                let count = grains.len();
                let listed = grains.iter().take(NAMED_MAX).map(String::as_str);
                let list = listed.collect::<Vec<_>>().join(" ");
                let more = if count > NAMED_MAX { " …" } else { "" };
                session
                    .out
                    .note(format!("{count} grains {what}: {list}{more}"));
            }
        }
        let asked = match targets.as_slice() {
            [one] => one.address.to_string(),
            several => format!("{} grains", several.len()),
        };
        if !self.yes && !confirmed(&asked)? {
            return Ok(Exit::Nothing);
        }
        let deletion = Authorization {
            reason: &self.reason,
            authority: &self.authority,
        };
        let addresses: Vec<_> = targets.iter().map(|target| target.address).collect();
        let outcomes = store.admin()?.delete_batch(&addresses, deletion)?;
        let is_one = targets.len() == 1;
        let mut exit = Exit::Done;
        for (target, outcome) in targets.iter().zip(outcomes) {
            match outcome {
                Ok(()) => show(target, session)?,
                Err(error) if is_one => return Err(error.into()),
                Err(error) => {
                    let error = CliError::of(&error);
                    exit = exit.worse(error.exit());
                    refuse(&target.address, &error, session)?;
                }
            }
        }
        session
            .out
            .note("backups and exports made before the deletion keep their copies");
        Ok(exit)
    }

    /// Returns each grain once, with the grains that its deletion concerns and that stay.
    fn targets(&self, store: &Store) -> anyhow::Result<Vec<Target>> {
        let mut addresses = Vec::new();
        for text in &self.addresses {
            addresses.push(address::resolve(store, text)?);
        }
        if let Some(file) = &self.from {
            let mut lines = Lines::open(file)?;
            while let Some(line) = lines.next()? {
                let at = |error: anyhow::Error| CliError::of(error.as_ref()).at_line(line.number);
                let text = line.text()?.trim();
                addresses.push(address::resolve(store, text).map_err(at)?);
            }
        }
        let mut seen = HashSet::new();
        addresses.retain(|address| seen.insert(*address));
        if addresses.is_empty() {
            let message = "no address was given";
            return Err(CliError::new(ErrorCode::Usage, message).into());
        }
        let admin = store.admin()?;
        let staying = |found: Result<Vec<ContentAddress>, grainstore::store::Error>| match found {
            // The deletion reports a grain that is not stored, beside those that are.
            Err(error) if error.code() == ErrorCode::NotFound && seen.len() > 1 => Ok(Vec::new()),
            found => found.map(|mut grains| {
                grains.retain(|grain| !seen.contains(grain));
                grains
            }),
        };
        let mut targets = Vec::with_capacity(addresses.len());
        for address in addresses {
            targets.push(Target {
                address,
                resting: staying(admin.resting_on(&address))?,
                protected: staying(admin.protected_by(&address))?,
            });
        }
        Ok(targets)
    }
}

fn show(target: &Target, session: &mut Session) -> anyhow::Result<()> {
    let address = target.address;
    if !session.out.is_json() {
        return Ok(session.out.line(format!("deleted {address}"))?);
    }
    let document = json!({
        "deleted": address.to_string(),
        "resting": texts(&target.resting),
        "protected": texts(&target.protected),
    });
    Ok(session.out.json(&document)?)
}

fn refuse(address: &ContentAddress, error: &CliError, session: &mut Session) -> anyhow::Result<()> {
    if session.out.is_json() {
        let document = json!({ "address": address.to_string(), "error": error.to_json() });
        session.out.json(&document)?;
    } else {
        session.out.error_line(error);
    }
    Ok(())
}

fn texts(addresses: &[ContentAddress]) -> Vec<String> {
    addresses.iter().map(ToString::to_string).collect()
}

/// Asks for confirmation on the terminal; without a terminal, `--yes` is required.
fn confirmed(what: &str) -> anyhow::Result<bool> {
    if !io::stdin().is_terminal() {
        let message = "stdin is not a terminal; pass --yes to delete without confirmation";
        return Err(CliError::new(ErrorCode::Usage, message).into());
    }
    let mut terminal = io::stderr().lock();
    write!(terminal, "delete {what} permanently? [y/N] ")?;
    terminal.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// How many grains a message names.
const NAMED_MAX: usize = 10;
