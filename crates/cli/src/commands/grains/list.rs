//! `grainstore list`: all grains, page by page, written as they are read.
//!
//! The list is streamed, so that a store of any size needs constant memory.

use std::io::Write;

use clap::Args;
use grainstore::ledger::EntryId;
use grainstore::{ContentAddress, Store};
use serde_json::json;

use super::record::{GRAIN_FIELDS, grain_record};
use crate::args::{As, Listing};
use crate::commands::browse::readable;
use crate::error::Exit;
use crate::output::{Output, Rows, Table, is_screen};
use crate::session::Session;

/// List all grains, oldest first
///
/// In a pipe their addresses, on a terminal time, type and summary too. The list includes superseded
/// grains. With --json: {"addresses": […], "next_cursor": …}. `query` lists grains by their fields,
/// `ls` counts them.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Show time, type and summary in a pipe too
    #[arg(long, short, conflicts_with_all = ["json", "format", "fields"])]
    long: bool,
    /// Maximum number of grains
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Continue after this cursor of the previous page
    #[arg(long, value_name = "CURSOR")]
    after: Option<u64>,
    #[command(flatten)]
    listing: Listing,
    #[command(flatten)]
    as_whom: As,
}

impl List {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = self.as_whom.narrow(&session.open_to_read()?)?;
        if let Some(mut rows) = self.listing.rows(&mut session.out, &GRAIN_FIELDS) {
            let (count, next) =
                self.each_page(&store, |addresses| add_rows(&store, addresses, &mut rows))?;
            note_next(next, rows.end()?);
            return Ok(Exit::done_if(count > 0));
        }
        let out = &mut session.out;
        let is_long = self.long || (is_screen() && !out.is_json());
        let mut writer = Writer::new(out)?;
        let (count, next) = self.each_page(&store, |addresses| {
            if is_long {
                return writer.write_table(&store, addresses);
            }
            let written = addresses
                .iter()
                .try_for_each(|address| writer.write(address));
            Ok(written?)
        })?;
        writer.end(next)?;
        Ok(Exit::done_if(count > 0))
    }

    /// Calls `write` with each page of addresses; returns their number, and the cursor of what is
    /// left.
    fn each_page(
        &self,
        store: &Store,
        mut write: impl FnMut(&[ContentAddress]) -> anyhow::Result<()>,
    ) -> anyhow::Result<(usize, Option<EntryId>)> {
        let mut after = self.after.map(EntryId::new);
        let mut count = 0;
        loop {
            let left = self.limit.map_or(PAGE_LEN, |limit| limit - count);
            let page = store.list(after, left.min(PAGE_LEN))?;
            write(&page.addresses)?;
            count += page.addresses.len();
            after = page.next;
            if after.is_none() || self.limit == Some(count) {
                return Ok((count, after));
            }
        }
    }
}

/// Writes grains as records. One that was erased since, or that needs a missing consent, is left out.
fn add_rows(
    store: &Store,
    addresses: &[ContentAddress],
    rows: &mut Rows<'_>,
) -> anyhow::Result<()> {
    for (grain, address) in readable(store, addresses)?.into_iter().zip(addresses) {
        if let Some(grain) = grain {
            let record = grain_record(&grain, store.status(address)?.is_current())?;
            rows.add(&record, || json!({ "address": address.to_string() }))?;
        }
    }
    Ok(())
}

fn note_next(next: Option<EntryId>, out: &Output) {
    if let Some(next) = next {
        out.note(format!("more results: --after {next}"));
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

    fn write_table(&mut self, store: &Store, addresses: &[ContentAddress]) -> anyhow::Result<()> {
        let mut table = Table::default();
        for (grain, address) in readable(store, addresses)?.into_iter().zip(addresses) {
            // A grain that was erased since, or that needs a missing consent, is not shown.
            if let Some(grain) = grain {
                let is_current = store.status(address)?.is_current();
                let note = if is_current { "" } else { "superseded" };
                table.add(format!("{}  ", grain.event_time()), &grain, note);
            }
        }
        for line in table.lines() {
            self.out.styled_line(&line)?;
        }
        Ok(())
    }

    fn end(self, next: Option<EntryId>) -> std::io::Result<()> {
        if self.out.is_json() {
            let next = json!(next.map(|next| next.to_string()));
            writeln!(self.out.bytes(), "],\"next_cursor\":{next}}}")?;
            return Ok(());
        }
        self.out.flush()?;
        note_next(next, self.out);
        Ok(())
    }
}

const PAGE_LEN: usize = 4096;
