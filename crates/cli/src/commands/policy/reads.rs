//! `grainstore policy reads`: the audit log of reads that a regime requires to be recorded.
//!
//! The recording itself is done by the library, for commands and programs alike.

use clap::Args;
use grainstore::ledger::EntryId;
use grainstore::store::AuditedRead;
use serde_json::{Value, json};

use crate::args::address;
use crate::error::Exit;
use crate::session::Session;

/// Show the audit log of reads, oldest first
///
/// Reads are recorded where a clause of a regime requires it. A backup counts as a read of all
/// grains. With --json: {"reads": […], "next_cursor": …}.
#[derive(Debug, Args)]
pub(super) struct Reads {
    /// Show reads of this grain only
    #[arg(value_name = "ADDRESS")]
    address: Option<String>,
    /// Maximum number of entries
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,
    /// Continue after this cursor of the previous page
    #[arg(long, value_name = "CURSOR")]
    after: Option<u64>,
}

impl Reads {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open_to_read()?;
        let after = self.after.map(EntryId::new);
        let of = self.address.as_deref();
        let of = of.map(|text| address::resolve(&store, text)).transpose()?;
        // One more than is shown, to know whether another page follows.
        let mut reads = store
            .admin()?
            .reads(of.as_ref(), after, self.limit.saturating_add(1))?;
        let is_cut = reads.len() > self.limit;
        reads.truncate(self.limit);
        let next = reads.last().filter(|_| is_cut).map(|read| read.entry);
        let out = &mut session.out;
        if out.is_json() {
            let next = next.map(|next| next.to_string());
            let all: Vec<_> = reads.iter().map(read_json).collect();
            out.json(&json!({ "reads": all, "next_cursor": next }))?;
        } else {
            for read in &reads {
                out.line(line(read))?;
            }
            if let Some(next) = next {
                out.flush()?;
                out.note(format!("more results: --after {next}"));
            }
        }
        Ok(Exit::done_if(!reads.is_empty()))
    }
}

fn line(read: &AuditedRead) -> String {
    let mut what: Vec<_> = read.addresses.iter().map(address::short).collect();
    if what.len() > SHOWN {
        let more = format!("and {} more", what.len() - SHOWN);
        what.truncate(SHOWN);
        what.push(more);
    } else if what.is_empty() {
        what.push("everything".to_owned());
    }
    format!(
        "{:6}  {}  {:10}  {}  {}  {}",
        read.entry,
        read.at,
        read.operation,
        read.by.as_deref().unwrap_or("the owner"),
        read.clauses.join(" "),
        what.join(" ")
    )
}

fn read_json(read: &AuditedRead) -> Value {
    let addresses = read.addresses.iter().map(ToString::to_string);
    json!({
        "entry": read.entry.get(),
        "at": read.at.ms(),
        "by": read.by,
        "operation": read.operation,
        "clauses": read.clauses,
        "addresses": addresses.collect::<Vec<_>>(),
        "everything": read.addresses.is_empty(),
    })
}

/// The number of addresses in a line for people.
const SHOWN: usize = 3;
