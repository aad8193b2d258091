//! `grainstore put`: stores JSON lines, and prints each address once its grain is durable.
//!
//! Durability follows the output: an address that was printed survives a crash.

use std::collections::HashMap;
use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use clap::Args;
use grainstore::grain::Warning;
use grainstore::policy::Capability;
use grainstore::store::{self, Create, NewGrain, Put as Stored};
use grainstore::{ContentAddress, ErrorCode, Grain, Store};
use serde_json::json;

use crate::args::As;
use crate::args::{Lines, display_name};
use crate::error::{CliError, Exit};
use crate::interrupt;
use crate::output::{Output, progress};
use crate::session::Session;

/// Store JSON grains, one per line, and print their addresses
///
/// An address is printed once its grain is durable. Storing a grain again changes nothing, unless
/// it brings the signature of a signer who is trusted more; the signature of any other second
/// signer is refused; a note says how many were stored before, and `new` of --json which. A grain
/// without created_at gets the current time.
///
/// A FILE of up to 1 GiB is stored atomically, even across a crash: an invalid line is an error
/// that names the line, and nothing is stored.
///
/// From stdin (`-`) grains are stored as they arrive, up to 256 at a time: an invalid line ends the
/// command, and only lines whose addresses were not printed are discarded.
///
/// If stdout is closed, as by `| head -1`, all lines are stored all the same, and the command exits
/// with 2.
///
/// A line may also be {"address": …, "blob": "HEX"}, as written by `grain encode`.
#[derive(Debug, Args)]
#[command(after_long_help = LINES)]
pub(crate) struct Put {
    /// Input file, or - for stdin
    file: String,
    /// Report invalid lines and store the others, 256 at a time; exit 1 if any line was invalid
    #[arg(long)]
    keep_going: bool,
    /// Store grains even if they were deleted from this store before
    #[arg(long, conflicts_with_all = ["author", "inside", "role", "cleared"])]
    allow_erased: bool,
    #[command(flatten)]
    as_whom: As,
}

impl Put {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let mut lines = Lines::open(&self.file)?;
        let mut put = PutRun {
            command: &self,
            capability: self.as_whom.capability()?,
            stored: 0,
            known: 0,
            refused: 0,
            closed: None,
            told: Arc::default(),
        };
        if self.file == "-" && io::stdin().is_terminal() {
            session
                .out
                .note("reading grains from the terminal: one JSON object a line, Ctrl-D ends");
        }
        if self.file == "-" || self.keep_going {
            let store = session.open_or(Create::IfMissing)?;
            let told = Arc::clone(&put.told);
            let _interrupted = interrupt::telling(move || {
                let stored = told.load(Ordering::Relaxed);
                progress::interrupted(&format!("{stored} stored"))
            });
            while !lines.is_at_end() {
                let batch = put.read_batch(&mut lines, BATCH_LEN, &mut session.out)?;
                put.store_batch(&store, batch, &mut session.out)?;
            }
        } else {
            // Validated before the store is opened: an invalid file creates no store.
            let what = format!("reading {}", self.file);
            let spinner = progress::spinner(&session.out, what, progress::NOTHING_CHANGED);
            let batch = put.read_batch(&mut lines, usize::MAX, &mut session.out);
            drop(spinner);
            let batch = batch?;
            let store = session.open_or(Create::IfMissing)?;
            put.store_batch(&store, batch, &mut session.out)?;
        }
        let PutRun {
            stored,
            known,
            refused,
            closed,
            ..
        } = put;
        if let Some(error) = closed {
            let message = format!("{stored} grains stored; stdout takes no more: {error}");
            return Err(CliError::new(ErrorCode::Io, message).into());
        }
        if known > 0 {
            session
                .out
                .note(format!("{known} of {stored} grains were stored before"));
        }
        if refused > 0 {
            let message = format!("{stored} grains stored, {refused} lines refused");
            session.out.note(message);
        }
        Ok(Exit::done_if(refused == 0))
    }
}

/// Grains and the numbers of their lines.
#[derive(Default)]
struct Batch {
    numbers: Vec<u64>,
    grains: Vec<Grain>,
}

struct PutRun<'a> {
    command: &'a Put,
    capability: Option<Capability>,
    /// Grains that the store has now, and those of them that it had before.
    stored: u64,
    known: u64,
    refused: u64,
    /// Why not every address was printed.
    closed: Option<io::Error>,
    /// The number of stored grains, for the message of an interruption.
    told: Arc<AtomicU64>,
}

impl PutRun<'_> {
    /// Reads up to `limit` grains; fewer from a pipe that has no more data at present.
    fn read_batch(
        &mut self,
        lines: &mut Lines,
        limit: usize,
        out: &mut Output,
    ) -> anyhow::Result<Batch> {
        let mut batch = Batch::default();
        while batch.grains.len() < limit {
            let line = lines.next().map_err(|error| {
                let error = CliError::of(&error);
                error.at(display_name(&self.command.file))
            })?;
            let Some(line) = line else { break };
            match line.grain_as(self.capability.as_ref()) {
                Ok(grain) => {
                    batch.numbers.push(line.number);
                    batch.grains.push(grain);
                }
                Err(error) => self.refuse(line.number, error, out)?,
            }
            if limit != usize::MAX && !lines.has_next() {
                break;
            }
        }
        Ok(batch)
    }

    /// Stores a batch atomically, and prints the addresses once they are durable.
    fn store_batch(
        &mut self,
        store: &Store,
        mut batch: Batch,
        out: &mut Output,
    ) -> anyhow::Result<()> {
        let handle = self.command.as_whom.narrow(store)?;
        let mut warnings = Warnings::of(&batch.grains);
        let stored = loop {
            let grains = if self.command.keep_going {
                batch.grains.clone()
            } else {
                std::mem::take(&mut batch.grains)
            };
            let grains = grains.into_iter().map(|grain| self.new_grain(grain));
            match handle.put_batch(grains) {
                Ok(stored) => break stored,
                Err(store::Error::Batch { index, source }) if index < batch.numbers.len() => {
                    let number = batch.numbers.remove(index);
                    let error = CliError::of(source.as_ref()).at_line(number);
                    self.refuse(number, error, out)?;
                    batch.grains.remove(index);
                }
                Err(error) => return Err(error.into()),
            }
        };
        self.stored += stored.len() as u64;
        self.known += stored.iter().filter(|put| !put.is_new).count() as u64;
        self.told.store(self.stored, Ordering::Relaxed);
        let mut lines = batch.numbers.iter().zip(&stored);
        let printed = lines.try_for_each(|(number, put)| {
            let warnings = warnings.take(&handle, &put.address)?;
            self.keep(print(*number, put, &warnings, out));
            anyhow::Ok(())
        });
        printed?;
        self.keep(out.flush());
        Ok(())
    }

    fn new_grain(&self, grain: Grain) -> NewGrain {
        let grain = NewGrain::from(grain);
        if self.command.allow_erased {
            grain.again()
        } else {
            grain
        }
    }

    /// Notes that stdout takes no more: the input is stored to its end all the same.
    fn keep(&mut self, printed: io::Result<()>) {
        if let Err(error) = printed {
            self.closed.get_or_insert(error);
        }
    }

    /// Reports an invalid line with `--keep-going`, else fails with it.
    fn refuse(&mut self, number: u64, error: CliError, out: &mut Output) -> anyhow::Result<()> {
        let error = error.at(display_name(&self.command.file));
        if !self.command.keep_going {
            return Err(error.into());
        }
        self.refused += 1;
        if out.is_json() {
            let line = out.json(&json!({ "line": number, "error": error.to_json() }));
            self.keep(line);
        } else {
            out.error_line(&error);
        }
        Ok(())
    }
}

/// The warnings about the grains of a batch (ruling P17).
struct Warnings {
    by_themselves: HashMap<ContentAddress, Vec<Warning>>,
    /// Grains that also need a look at the store, once they are there.
    beside_others: HashMap<ContentAddress, Grain>,
}

impl Warnings {
    fn of(grains: &[Grain]) -> Self {
        let warned = grains
            .iter()
            .map(|grain| (grain.address(), grain.warnings()));
        let pointing = grains.iter().filter(|grain| points_at_others(grain));
        Self {
            by_themselves: warned.filter(|(_, it)| !it.is_empty()).collect(),
            beside_others: pointing.map(|it| (it.address(), it.clone())).collect(),
        }
    }

    fn take(
        &mut self,
        store: &Store,
        address: &ContentAddress,
    ) -> Result<Vec<Warning>, store::Error> {
        match self.beside_others.remove(address) {
            Some(grain) => store.warnings(&grain),
            None => Ok(self.by_themselves.remove(address).unwrap_or_default()),
        }
    }
}

/// A withdrawal may be without effect (OMS 8.10), a message of another session than its parent
/// (OMS 28.6), a delegation of another author (OMS 28.7).
fn points_at_others(grain: &Grain) -> bool {
    let fields = ["prior_consent", "parent_message_id"];
    fields.iter().any(|field| grain.field(field).is_some())
        || grain.text("relation") == Some("mg:delegates_to")
}

fn print(number: u64, put: &Stored, warnings: &[Warning], out: &mut Output) -> io::Result<()> {
    let warnings: Vec<_> = warnings.iter().map(ToString::to_string).collect();
    for warning in &warnings {
        out.note(format!("line {number}: {warning}"));
    }
    if out.is_json() {
        let mut document = json!({
            "address": put.address.to_string(),
            "line": number,
            "new": put.is_new,
        });
        if !warnings.is_empty() {
            document["warnings"] = warnings.into();
        }
        out.json(&document)
    } else {
        out.line(put.address)
    }
}

/// Lines that share one sync, so that its cost per line is small.
const BATCH_LEN: usize = 256;

/// Returns a line of each type.
pub(crate) fn examples() -> impl Iterator<Item = &'static str> {
    let lines = LINES.lines().map(str::trim);
    lines.filter(|line| line.starts_with('{'))
}

/// A line of each type with the fields that it requires, and what is often added.
const LINES: &str = r#"A line of each type (`grainstore schema TYPE` has all of its fields):
  {"type":"belief","subject":"ana","relation":"likes","object":"tea","confidence":0.9,"user_id":"ana"}
  {"type":"event","content":"I moved to Porto","role":"user","session_id":"s1"}
  {"type":"state","context":{"open_tabs":3}}
  {"type":"workflow","steps":["boil water","steep for 3 minutes"],"trigger":"tea is wanted"}
  {"type":"action","tool_name":"kettle","input":{"temperature":95},"content":"done","is_error":false}
  {"type":"observation","observer_id":"sensor-4","observer_type":"thermometer","content":"21 °C"}
  {"type":"goal","description":"drink less coffee","goal_state":"active"}
  {"type":"reasoning","premises":[],"conclusion":"tea helps","inference_method":"inductive"}
  {"type":"consensus","participating_observers":["a","b"],"threshold":2,"agreement_count":2,"dissent_count":0,"agreed_content":{"subject":"ana","relation":"likes","object":"tea"}}
  {"type":"consent","subject_did":"did:web:ana.example","grantee_did":"did:web:agent.example","scope":["store"],"is_withdrawal":false}"#;
