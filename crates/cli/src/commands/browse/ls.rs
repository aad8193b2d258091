//! `grainstore ls`: which namespaces, users, subjects and so on a store has, with counts.
//!
//! The grains themselves are listed by `list` and `query`.

use std::collections::HashMap;

use clap::{Args, ValueEnum};
use grainstore::codec::Value as FieldValue;
use grainstore::query::SortBy;
use grainstore::{Grain, Time};
use serde_json::{Map, Value, json};

use super::survey;
use crate::args::{As, Filters, Listing};
use crate::error::Exit;
use crate::output::{Output, cut, printable};
use crate::session::Session;

/// Count the namespaces, types, users, sessions, subjects, relations and tags of the store
///
/// Each has the number of its grains and the time of the newest, newest first. Filters narrow the
/// view: `ls relations --subject ana`. Counted are the grains that `query` returns with the same
/// filters. With --json: for each kind a list of {"name", "grains", "newest"}.
#[derive(Debug, Args)]
#[command(after_long_help = "Example, from the whole to one grain:
  grainstore ls
  grainstore ls relations --subject ana
  grainstore query --subject ana --relation likes
  grainstore show ADDRESS")]
pub(crate) struct Ls {
    /// List all values of one kind; without it, an overview of all kinds
    #[arg(value_enum, value_name = "KIND")]
    kind: Option<Kind>,
    /// Maximum number of values of the kind
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
    /// Include superseded grains
    #[arg(long)]
    superseded: bool,
    #[command(flatten)]
    listing: Listing,
    #[command(flatten)]
    filters: Filters,
    #[command(flatten)]
    as_whom: As,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    Namespaces,
    Types,
    Users,
    Sessions,
    Subjects,
    Relations,
    Tags,
}

impl Kind {
    /// The name of the kind, its field, and the filter that selects one value of it.
    const ALL: [(Self, &'static str, &'static str, &'static str); 7] = [
        (Self::Namespaces, "namespaces", "namespace", "--namespace"),
        (Self::Types, "types", "type", "--type"),
        (Self::Users, "users", "user_id", "--user"),
        (Self::Sessions, "sessions", "session_id", "--session"),
        (Self::Subjects, "subjects", "subject", "--subject"),
        (Self::Relations, "relations", "relation", "--relation"),
        (Self::Tags, "tags", "structural_tags", "--tag"),
    ];
}

/// The values of one kind that were seen, with the number of grains and the newest time.
type Seen = HashMap<String, (u64, Time)>;

impl Ls {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open_to_read()?;
        let mut filter = self.filters.filter(&store)?;
        if self.superseded {
            filter = filter.with_superseded();
        }
        let handle = self.as_whom.narrow(&store)?;
        let mut seen: [Seen; Kind::ALL.len()] = Default::default();
        let (mut grains, mut newest) = (0_u64, None);
        survey::each(&handle, &filter, SortBy::Stored, |found| {
            let time = found.grain.event_time();
            grains += 1;
            newest = newest.max(Some(time));
            for ((kind, _, field, _), seen) in Kind::ALL.iter().zip(&mut seen) {
                if self.kind.is_none_or(|wanted| wanted == *kind) {
                    count(&found.grain, field, time, seen);
                }
            }
        })?;
        let shown = Kind::ALL.into_iter().zip(seen);
        let shown = shown.filter(|((kind, ..), _)| self.kind.is_none_or(|wanted| wanted == *kind));
        let shown: Vec<_> = shown
            .map(|((_, name, _, flag), seen)| (name, flag, newest_first(seen)))
            .collect();
        if let Some(mut rows) = self.listing.rows(&mut session.out, &FIELDS) {
            for (kind, _, values) in &shown {
                for (name, count, at) in values.iter().take(self.limit) {
                    let newest = at.to_string();
                    let record = record(kind, name, *count, &json!(newest));
                    let whole = || Value::Object(self::record(kind, name, *count, &json!(at.ms())));
                    rows.add(&record, whole)?;
                }
            }
            rows.end()?;
        } else if session.out.is_json() {
            show_json(grains, newest, &shown, self.limit, &mut session.out)?;
        } else if let (Some(_), [(name, flag, values)]) = (self.kind, shown.as_slice()) {
            show_kind(name, flag, values, self.limit, &mut session.out)?;
        } else {
            show_all(grains, newest, &shown, &mut session.out)?;
        }
        Ok(Exit::done_if(grains > 0))
    }
}

fn count(grain: &Grain, field: &str, time: Time, seen: &mut Seen) {
    let mut add = |text: &str| {
        // Most values are seen again: no second copy of the text is made for them.
        match seen.get_mut(text) {
            Some((count, newest)) => {
                *count += 1;
                *newest = time.max(*newest);
            }
            None => drop(seen.insert(text.to_owned(), (1, time))),
        }
    };
    match field {
        "type" => add(&grain.type_().to_string()),
        _ => {
            let value = grain.field(field);
            let texts = value.into_iter().flat_map(FieldValue::texts);
            texts
                .chain(value.and_then(FieldValue::as_text))
                .for_each(add);
        }
    }
}

/// A value of a kind, the number of its grains and the time of the newest.
type Entry = (String, u64, Time);

type Values = Vec<Entry>;

fn newest_first(seen: Seen) -> Values {
    let values = seen.into_iter();
    let mut values: Values = values
        .map(|(name, (count, at))| (name, count, at))
        .collect();
    values.sort_by(|a, b| b.2.cmp(&a.2).then_with(|| a.0.cmp(&b.0)));
    values
}

/// Returns the fields of a value that is counted.
fn record(kind: &str, name: &str, grains: u64, newest: &Value) -> Map<String, Value> {
    let mut record = Map::new();
    for (field, value) in
        FIELDS
            .into_iter()
            .zip([json!(kind), json!(name), json!(grains), newest.clone()])
    {
        record.insert(field.to_owned(), value);
    }
    record
}

fn show_json(
    grains: u64,
    newest: Option<Time>,
    shown: &[(&str, &str, Values)],
    limit: usize,
    out: &mut Output,
) -> anyhow::Result<()> {
    let mut document = Map::new();
    document.insert("grains".into(), json!(grains));
    document.insert("newest".into(), json!(newest.map(Time::ms)));
    for (name, _, values) in shown {
        let listed = values
            .iter()
            .take(limit)
            .map(|(value, count, at)| json!({ "name": value, "grains": count, "newest": at.ms() }));
        document.insert((*name).into(), listed.collect());
    }
    Ok(out.json(&document.into())?)
}

fn show_all(
    grains: u64,
    newest: Option<Time>,
    shown: &[(&str, &str, Values)],
    out: &mut Output,
) -> anyhow::Result<()> {
    let Some(newest) = newest else {
        out.note(
            "no grains; `grainstore remember \"…\"` stores one, `grainstore import FILE` many",
        );
        return Ok(());
    };
    let noun = if grains == 1 { "grain" } else { "grains" };
    out.line(format!("{grains} {noun}, the newest of {newest}"))?;
    for (name, _, values) in shown {
        let some = values.iter().take(SHOWN);
        let some = some.map(|(value, count, _)| format!("{} {count}", cut(&printable(value), 30)));
        let more = if values.len() > SHOWN { ", …" } else { "" };
        let some = some.collect::<Vec<_>>().join(", ");
        out.line(format!("{name:<10} {:>7}  {some}{more}", values.len()))?;
    }
    out.flush()?;
    out.note("`grainstore ls users` lists all users, and so on; `ls --user NAME` looks into one");
    Ok(())
}

fn show_kind(
    name: &str,
    flag: &str,
    values: &[Entry],
    limit: usize,
    out: &mut Output,
) -> anyhow::Result<()> {
    let listed = || values.iter().take(limit);
    let lengths = listed().map(|(value, ..)| printable(value).chars().count());
    let width = lengths.max().unwrap_or_default().min(60);
    for (value, count, at) in listed() {
        let value = cut(&printable(value), 60);
        out.line(format!("{value:<width$}  {count:>7}  {at}"))?;
    }
    out.flush()?;
    if values.len() > limit {
        out.note(format!("{limit} of {}; --limit shows more", values.len()));
    }
    out.note(match values.is_empty() {
        true => format!("no {name}"),
        false => {
            format!("one of them: `grainstore ls {flag} NAME`, `grainstore query {flag} NAME`")
        }
    });
    Ok(())
}

/// The fields of a list that names none.
const FIELDS: [&str; 4] = ["kind", "name", "grains", "newest"];

/// Values of each kind in the overview.
const SHOWN: usize = 4;
