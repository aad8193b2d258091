//! `grainstore list`: all addresses, page by page, written as they are read.
//!
//! The list is streamed, so that a store of any size needs constant memory.

use std::io::Write;

use clap::Args;
use grainstore::ContentAddress;
use grainstore::ledger::EntryId;
use serde_json::json;

use crate::args::As;
use crate::error::Exit;
use crate::output::Output;
use crate::session::Session;

/// List the addresses of all grains, oldest first
///
/// The list includes superseded grains. With --json: {"addresses": […], "next_cursor": …}.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Maximum number of addresses
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Continue after this cursor of the previous page
    #[arg(long, value_name = "CURSOR")]
    after: Option<u64>,
    #[command(flatten)]
    as_whom: As,
}

impl List {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = self.as_whom.narrow(&session.open_to_read()?)?;
        let out = &mut session.out;
        let mut writer = Writer::new(out)?;
        let mut after = self.after.map(EntryId::new);
        loop {
            let left = self.limit.map_or(PAGE_LEN, |limit| limit - writer.count);
            let page = store.list(after, left.min(PAGE_LEN))?;
            for address in &page.addresses {
                writer.write(address)?;
            }
            after = page.next;
            if after.is_none() || self.limit == Some(writer.count) {
                break;
            }
        }
        let count = writer.count;
        writer.end(after)?;
        // An empty store is listed in full, so exit 0; a cursor past the end finds nothing.
        Ok(Exit::done_if(count > 0 || self.after.is_none()))
    }
}

/// Writes a list in constant memory, whatever its length.
struct Writer<'a> {
    out: &'a mut Output,
    count: usize,
}

impl<'a> Writer<'a> {
    fn new(out: &'a mut Output) -> std::io::Result<Self> {
        if out.is_json() {
            write!(out.bytes(), "{{\"addresses\":[")?;
        }
        Ok(Self { out, count: 0 })
    }

    fn write(&mut self, address: &ContentAddress) -> std::io::Result<()> {
        if self.out.is_json() {
            let comma = if self.count == 0 { "" } else { "," };
            write!(self.out.bytes(), "{comma}\"{address}\"")?;
        } else {
            self.out.line(address)?;
        }
        self.count += 1;
        Ok(())
    }

    fn end(self, next: Option<EntryId>) -> std::io::Result<()> {
        if self.out.is_json() {
            let next = json!(next.map(|next| next.to_string()));
            writeln!(self.out.bytes(), "],\"next_cursor\":{next}}}")?;
        } else if let Some(next) = next {
            self.out.flush()?;
            self.out.note(format!("more results: --after {next}"));
        }
        Ok(())
    }
}

const PAGE_LEN: usize = 4096;
