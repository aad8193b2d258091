//! `grainstore audit log` and `audit timeline`: the entries of the ledger, as a table, JSON or CSV.

use clap::Args;
use grainstore::Time;
use grainstore::ledger::EntryId;
use grainstore::store::{AuditEntry, AuditFilter};
use serde_json::{Map, Value, json};

use crate::args::{Listing, address, time_from, time_to};
use crate::error::Exit;
use crate::output::Output;
use crate::session::Session;

/// Show the entries of the ledger, oldest first
///
/// An erased entry shows what its header says. An entry of a sealed person shows its facts while the
/// person is unlocked. With --json: {"entries": […], "next_cursor": …}.
#[derive(Debug, Args)]
#[command(after_long_help = "Example:
  grainstore audit log --operation deny --from 2026-01-01 --csv > denials.csv")]
pub(super) struct Log {
    /// Show entries from this time on
    #[arg(long, value_name = "TIME", value_parser = time_from)]
    from: Option<Time>,
    /// Show entries up to this time
    #[arg(long, value_name = "TIME", value_parser = time_to)]
    to: Option<Time>,
    /// Show entries of this author; "owner" for those of the store's owner
    #[arg(long, value_name = "DID")]
    by: Option<String>,
    /// Show entries of this operation: store, supersede, deny, hold, erase, import, export, …
    #[arg(long, value_name = "NAME")]
    operation: Option<String>,
    /// Show entries about this grain
    #[arg(long, value_name = "ADDRESS")]
    about: Option<String>,
    /// Show entries about the grains of this person
    #[arg(long, value_name = "ID")]
    person: Option<String>,
    #[command(flatten)]
    page: Page,
}

/// Show the life of one grain: how it came, what changed it, how it ended
///
/// An erased grain is found by its whole address: the ledger keeps a keyed hash of it.
#[derive(Debug, Args)]
pub(super) struct Timeline {
    /// Address of the grain
    address: String,
    #[command(flatten)]
    page: Page,
}

#[derive(Debug, Args)]
struct Page {
    /// Maximum number of entries
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,
    /// Continue after this cursor of the previous page
    #[arg(long, value_name = "CURSOR")]
    after: Option<u64>,
    /// Print comma-separated values for a spreadsheet, in which no text is a formula
    #[arg(long, conflicts_with_all = ["json", "format", "fields"])]
    csv: bool,
    #[command(flatten)]
    listing: Listing,
}

impl Log {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let filter = AuditFilter {
            from: self.from,
            to: self.to,
            by: self
                .by
                .map(|by| if by == "owner" { String::new() } else { by }),
            operation: self.operation,
            address: None,
            person: self.person,
        };
        self.page.show(session, filter, self.about.as_deref())
    }
}

impl Timeline {
    pub(super) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let filter = AuditFilter::default();
        self.page.show(session, filter, Some(&self.address))
    }
}

impl Page {
    fn show(
        self,
        session: &mut Session,
        mut filter: AuditFilter,
        about: Option<&str>,
    ) -> anyhow::Result<Exit> {
        let store = session.open_to_read()?;
        filter.address = about
            .map(|text| address::resolve(&store, text))
            .transpose()?;
        let after = self.after.map(EntryId::new);
        // One more than is shown, to know whether another page follows.
        let limit = self.limit.saturating_add(1);
        let mut entries = store.maintenance()?.audit().log(&filter, after, limit)?;
        let is_cut = entries.len() > self.limit;
        entries.truncate(self.limit);
        let next = entries.last().filter(|_| is_cut).map(|entry| entry.entry);
        let out = &mut session.out;
        if let Some(mut rows) = self.listing.rows(out, &FIELDS) {
            for entry in &entries {
                rows.add(&record(entry), || entry_json(entry))?;
            }
            note_next(next, rows.end()?);
        } else if out.is_json() {
            let all: Vec<_> = entries.iter().map(entry_json).collect();
            let next = next.map(|next| next.to_string());
            out.json(&json!({ "entries": all, "next_cursor": next }))?;
        } else {
            match self.csv {
                true => csv(&entries, out)?,
                false => entries.iter().try_for_each(|entry| out.line(line(entry)))?,
            }
            out.flush()?;
            note_next(next, out);
        }
        if entries.is_empty() && !session.out.is_json() {
            session.out.note("no entry passes");
        }
        Ok(Exit::done_if(!entries.is_empty()))
    }
}

fn note_next(next: Option<EntryId>, out: &Output) {
    if let Some(next) = next {
        out.note(format!("more results: --after {next}"));
    }
}

/// Returns the fields of an entry, with its time for people.
fn record(entry: &AuditEntry) -> Map<String, Value> {
    let mut record = entry_json(entry).as_object().cloned().unwrap_or_default();
    record.insert("at".to_owned(), json!(entry.at.to_string()));
    record
}

/// The fields of a list that names none.
const FIELDS: [&str; 6] = ["entry", "at", "by", "operation", "addresses", "detail"];

/// Returns an entry as one line for people.
pub(super) fn line(entry: &AuditEntry) -> String {
    let mut about: Vec<_> = entry.addresses.iter().map(address::short).collect();
    about.truncate(SHOWN);
    let more = entry.addresses.len() - about.len();
    if more > 0 {
        about.push(format!("and {more} more"));
    }
    let line = format!(
        "{:6}  {}  {:10}  {}  {}  {}",
        entry.entry,
        entry.at,
        entry.operation,
        by(entry),
        about.join(" "),
        entry.detail,
    );
    line.trim_end().to_owned()
}

/// Says who wrote an entry: the author of the handle, with the person and the token.
fn by(entry: &AuditEntry) -> String {
    let Some(author) = &entry.by else {
        return "the owner".to_owned();
    };
    let author = match author.is_empty() {
        true => "a handle without an author",
        false => author,
    };
    let user = entry.user.iter().map(|user| format!("for {user}"));
    let token = entry.token.iter().map(|token| format!("token {token}"));
    let more: Vec<_> = user.chain(token).collect();
    match more.is_empty() {
        true => author.to_owned(),
        false => format!("{author} ({})", more.join(", ")),
    }
}

/// Returns an entry as JSON.
pub(super) fn entry_json(entry: &AuditEntry) -> Value {
    let addresses = entry.addresses.iter().map(ToString::to_string);
    json!({
        "entry": entry.entry.get(),
        "at": entry.at.ms(),
        "by": entry.by,
        "user": entry.user,
        "token": entry.token,
        "operation": entry.operation,
        "addresses": addresses.collect::<Vec<_>>(),
        "detail": entry.detail,
    })
}

fn csv(entries: &[AuditEntry], out: &mut Output) -> std::io::Result<()> {
    out.styled_line("entry,time,by,user,token,operation,addresses,detail")?;
    for entry in entries {
        let addresses: Vec<_> = entry.addresses.iter().map(ToString::to_string).collect();
        let cells = [
            entry.entry.to_string(),
            entry.at.to_string(),
            entry.by.clone().unwrap_or_default(),
            entry.user.clone().unwrap_or_default(),
            entry.token.clone().unwrap_or_default(),
            entry.operation.to_owned(),
            addresses.join(" "),
            entry.detail.clone(),
        ];
        out.styled_line(&cells.map(|cell| cell_of(&cell)).join(","))?;
    }
    Ok(())
}

/// Quotes a cell (RFC 4180), on one line. A spreadsheet takes a text that begins with one of some
/// signs for a formula, and the texts are not all ours.
fn cell_of(text: &str) -> String {
    let text: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let guard = if text.starts_with(['=', '+', '-', '@']) {
        "'"
    } else {
        ""
    };
    format!("\"{guard}{}\"", text.replace('"', "\"\""))
}

/// The number of addresses in a line for people.
const SHOWN: usize = 3;

#[cfg(test)]
mod tests {
    use super::cell_of;

    #[test]
    fn a_cell_is_one_text_to_a_spreadsheet_and_no_formula() {
        assert_eq!(cell_of("a \"b\", c\nd"), "\"a \"\"b\"\", c d\"");
        assert_eq!(cell_of("=1+1"), "\"'=1+1\"");
    }
}
