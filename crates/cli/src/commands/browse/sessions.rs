//! `grainstore sessions`: the conversations of a store, newest first.
//!
//! One conversation is shown by `show`.

use std::collections::{BTreeSet, HashMap};

use clap::Args;
use grainstore::query::SortBy;
use grainstore::{Grain, Time, Type};
use serde_json::{Map, Value, json};

use super::conversation::{minute, speaker, title};
use super::survey;
use crate::args::{As, Filters, Listing};
use crate::error::Exit;
use crate::output::{cut, printable, width};
use crate::session::Session;

/// List the conversations with their titles, speakers and times, newest first
///
/// A conversation is the grains of one session (session_id). Its title is the one that came with an
/// import, else the beginning of its first message. `show SESSION` prints one as a chat.
#[derive(Debug, Args)]
pub(crate) struct Sessions {
    /// Maximum number of conversations
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
    #[command(flatten)]
    listing: Listing,
    #[command(flatten)]
    filters: Filters,
    #[command(flatten)]
    as_whom: As,
}

/// One conversation, as far as it was seen.
struct Summary {
    title: Option<String>,
    /// The first message, which stands for a title.
    opening: Option<(Time, String)>,
    speakers: BTreeSet<String>,
    grains: u64,
    first: Time,
    last: Time,
}

impl Sessions {
    pub(crate) fn run(self, session: &mut Session) -> anyhow::Result<Exit> {
        let store = session.open_to_read()?;
        let filter = self.filters.filter(&store)?;
        let handle = self.as_whom.narrow(&store)?;
        let mut found: HashMap<String, Summary> = HashMap::new();
        survey::each(&handle, &filter, SortBy::Stored, |one| {
            if let Some(id) = one.grain.text("session_id") {
                match found.get_mut(id) {
                    Some(summary) => summary.add(&one.grain),
                    None => drop(found.insert(id.to_owned(), Summary::of(&one.grain))),
                }
            }
        })?;
        let mut found: Vec<_> = found.into_iter().collect();
        found.sort_by(|a, b| b.1.last.cmp(&a.1.last).then_with(|| a.0.cmp(&b.0)));
        let total = found.len();
        found.truncate(self.limit);
        if let Some(mut rows) = self.listing.rows(&mut session.out, &FIELDS) {
            for (id, one) in &found {
                rows.add(&one.record(id), || one.to_json(id))?;
            }
            rows.end()?;
            return Ok(Exit::done_if(total > 0));
        }
        let out = &mut session.out;
        if out.is_json() {
            let sessions = found.iter().map(|(id, one)| one.to_json(id));
            let sessions: Vec<_> = sessions.collect();
            out.json(&json!({ "sessions": sessions, "total": total }))?;
            return Ok(Exit::done_if(total > 0));
        }
        let ids = found.iter().map(|(id, _)| printable(id).chars().count());
        let id_width = ids.max().unwrap_or_default().min(36);
        for (id, one) in &found {
            let id = cut(&printable(id), 36);
            let speakers: Vec<_> = one.speakers.iter().map(|name| printable(name)).collect();
            let speakers = cut(&speakers.join(", "), 30);
            let (last, grains) = (minute(one.last), one.grains);
            let before = format!("{last}  {id:<id_width$}  {grains:>5}  ");
            let room = width().saturating_sub(before.chars().count() + 32).max(20);
            let title = cut(&printable(one.title()), room);
            out.styled_line(format!("{before}{title:<room$}  {speakers}").trim_end())?;
        }
        out.flush()?;
        out.note(match total {
            0 => "no conversations: no grain has a session_id".to_owned(),
            _ => format!(
                "{} of {total}; `grainstore show SESSION` prints one",
                found.len()
            ),
        });
        Ok(Exit::done_if(total > 0))
    }
}

impl Summary {
    fn of(grain: &Grain) -> Self {
        let time = grain.event_time();
        let mut summary = Self {
            title: None,
            opening: None,
            speakers: BTreeSet::new(),
            grains: 0,
            first: time,
            last: time,
        };
        summary.add(grain);
        summary
    }

    fn add(&mut self, grain: &Grain) {
        let time = grain.event_time();
        self.grains += 1;
        self.first = self.first.min(time);
        self.last = self.last.max(time);
        if let Some(title) = title(grain) {
            self.title.get_or_insert(title);
            return;
        }
        if grain.type_() != Type::Event {
            return;
        }
        if self.speakers.len() < SPEAKERS_MAX {
            self.speakers.insert(speaker(grain));
        }
        let is_earlier = |(first, _): &(Time, String)| time < *first;
        if self.opening.as_ref().is_none_or(is_earlier) {
            self.opening = Some((time, cut(&grain.summary(), OPENING_LEN)));
        }
    }

    fn title(&self) -> &str {
        let opening = self.opening.as_ref().map(|(_, text)| text.as_str());
        self.title.as_deref().or(opening).unwrap_or_default()
    }

    /// Returns the fields of the conversation, with times for people.
    fn record(&self, id: &str) -> Map<String, Value> {
        let mut record = Map::new();
        for (name, value) in [
            ("session", json!(id)),
            ("title", json!(self.title())),
            ("speakers", json!(self.speakers)),
            ("grains", json!(self.grains)),
            ("first", json!(self.first.to_string())),
            ("last", json!(self.last.to_string())),
        ] {
            record.insert(name.to_owned(), value);
        }
        record
    }

    fn to_json(&self, id: &str) -> Value {
        json!({
            "session": id,
            "title": self.title(),
            "speakers": self.speakers,
            "grains": self.grains,
            "first": self.first.ms(),
            "last": self.last.ms(),
        })
    }
}

/// The fields of a list that names none.
const FIELDS: [&str; 6] = ["session", "title", "speakers", "grains", "first", "last"];

const SPEAKERS_MAX: usize = 16;

/// As much of a first message as stands for a title.
const OPENING_LEN: usize = 120;
