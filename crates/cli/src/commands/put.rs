use clap::Args;
use grainstore::policy::Capability;
use grainstore::store::{self, Create, NewGrain};
use grainstore::{ContentAddress, Grain, Store};
use serde_json::json;

use crate::door::As;
use crate::exit::Exit;
use crate::lines::{Lines, shown};
use crate::output::Output;
use crate::problem::Problem;
use crate::progress;
use crate::session::Session;

/// Store JSON grains, one per line, and print their addresses
///
/// An address is printed once its grain is durable, so whoever reads the output knows exactly
/// what is safe. Storing a grain again changes nothing. A grain without created_at gets the time
/// of now.
///
/// A FILE (of up to 1 GiB) is stored as a whole or not at all, even if the machine dies: a line
/// that is wrong is an error that names it.
/// From stdin (`-`) grains are stored as they come, up to 256 at a time: a wrong line ends the
/// command and takes back at most the lines whose addresses were not printed.
///
/// A line may also be {"address": …, "blob": "HEX"}, as `grain encode` writes it.
#[derive(Debug, Args)]
pub(crate) struct Put {
    /// The file, or - for stdin
    file: String,
    /// Report wrong lines and store the others, 256 at a time; exit 1 if there were any
    #[arg(long)]
    keep_going: bool,
    /// Store also what was deleted from this store before
    #[arg(long, conflicts_with_all = ["author", "inside", "role", "cleared"])]
    allow_erased: bool,
    #[command(flatten)]
    as_whom: As,
}

impl Put {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let mut lines = Lines::open(&self.file)?;
        let mut work = Work {
            command: &self,
            capability: self.as_whom.capability()?,
            stored: 0,
            refused: 0,
        };
        if self.file == "-" || self.keep_going {
            let store = session.open_or(Create::IfMissing)?;
            while !lines.is_at_end() {
                let batch = work.gather(&mut lines, BATCH_LEN, &mut session.out)?;
                work.store(&store, batch, &mut session.out)?;
            }
        } else {
            // Judged before the store is opened: a wrong file leaves no new store behind.
            let spinner = progress::spinner(&session.out, format!("reading {}", self.file));
            let batch = work.gather(&mut lines, usize::MAX, &mut session.out);
            spinner.finish_and_clear();
            let batch = batch?;
            let store = session.open_or(Create::IfMissing)?;
            work.store(&store, batch, &mut session.out)?;
        }
        let Work {
            stored, refused, ..
        } = work;
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

struct Work<'a> {
    command: &'a Put,
    capability: Option<Capability>,
    stored: u64,
    refused: u64,
}

impl Work<'_> {
    /// Reads up to `limit` grains, and fewer from a pipe that has no more for now.
    fn gather(
        &mut self,
        lines: &mut Lines,
        limit: usize,
        out: &mut Output,
    ) -> anyhow::Result<Batch> {
        let mut batch = Batch::default();
        while batch.grains.len() < limit {
            let line = lines.next().map_err(|error| {
                let problem = Problem::of(&error);
                problem.at(shown(&self.command.file))
            })?;
            let Some(line) = line else { break };
            match line.grain_under(self.capability.as_ref()) {
                Ok(grain) => {
                    batch.numbers.push(line.number);
                    batch.grains.push(grain);
                }
                Err(problem) => self.refuse(line.number, problem, out)?,
            }
            if limit != usize::MAX && !lines.has_next() {
                break;
            }
        }
        Ok(batch)
    }

    /// Stores a batch, all or nothing, and prints the addresses once they are durable.
    fn store(&mut self, store: &Store, mut batch: Batch, out: &mut Output) -> anyhow::Result<()> {
        let door = self.command.as_whom.door(store)?;
        let addresses = loop {
            let grains = if self.command.keep_going {
                batch.grains.clone()
            } else {
                std::mem::take(&mut batch.grains)
            };
            let grains = grains.into_iter().map(|grain| self.new_grain(grain));
            match door.put_batch(grains.collect()) {
                Ok(addresses) => break addresses,
                Err(store::Error::Batch { index, source }) if index < batch.numbers.len() => {
                    let number = batch.numbers.remove(index);
                    let problem = Problem::of(source.as_ref()).at_line(number);
                    self.refuse(number, problem, out)?;
                    batch.grains.remove(index);
                }
                Err(error) => return Err(error.into()),
            }
        };
        for (number, address) in batch.numbers.iter().zip(&addresses) {
            print(*number, address, out)?;
        }
        out.flush()?;
        self.stored += addresses.len() as u64;
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

    /// Reports a wrong line if the others are wanted, else fails with it.
    fn refuse(&mut self, number: u64, problem: Problem, out: &mut Output) -> anyhow::Result<()> {
        let problem = problem.at(shown(&self.command.file));
        if !self.command.keep_going {
            return Err(problem.into());
        }
        self.refused += 1;
        if out.is_json() {
            out.json(&json!({ "line": number, "error": problem.to_json() }))?;
        } else {
            out.complain(&problem);
        }
        Ok(())
    }
}

fn print(number: u64, address: &ContentAddress, out: &mut Output) -> std::io::Result<()> {
    if out.is_json() {
        out.json(&json!({ "address": address.to_string(), "line": number }))
    } else {
        out.line(address)
    }
}

/// Lines that are made durable together: enough to make a sync cheap.
const BATCH_LEN: usize = 256;
