use clap::Args;
use grainstore::{Filter, Store, Time, Type};

use crate::address;

/// Which grains: all that is given must hold.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Filters")]
pub(crate) struct Filters {
    /// Of this type: belief, event, state, workflow, action, observation, goal, reasoning, …
    #[arg(long = "type", value_name = "TYPE", value_parser = grain_type)]
    of: Option<Type>,
    /// In this namespace or inside it
    #[arg(long, value_name = "NAME")]
    namespace: Option<String>,
    /// About this user (user_id)
    #[arg(long, value_name = "ID")]
    user: Option<String>,
    /// With this subject
    #[arg(long, value_name = "TEXT")]
    subject: Option<String>,
    /// With this relation, such as mg:prefers
    #[arg(long, value_name = "TEXT")]
    relation: Option<String>,
    /// With this object; of one that is a map, its JSON
    #[arg(long, value_name = "TEXT")]
    object: Option<String>,
    /// Of this session (session_id)
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Of this run (run_id)
    #[arg(long, value_name = "ID")]
    run: Option<String>,
    /// With this structural tag; may be given several times
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Derived from this grain
    #[arg(long, value_name = "ADDRESS")]
    derived_from: Option<String>,
    /// Created at this time or later (RFC 3339, a day, or milliseconds since 1970)
    #[arg(long, value_name = "TIME", value_parser = since)]
    since: Option<Time>,
    /// Created at this time or earlier; of a day, its end (UTC)
    #[arg(long, value_name = "TIME", value_parser = until)]
    until: Option<Time>,
}

impl Filters {
    /// Returns the time from which on grains are asked for.
    pub(crate) const fn since(&self) -> Option<Time> {
        self.since
    }

    /// Returns the filter that the library knows; it shows current grains only.
    pub(crate) fn filter(self, store: &Store) -> anyhow::Result<Filter> {
        let mut filter = Filter::new();
        if let Some(of) = self.of {
            filter = filter.of_type(of);
        }
        type Set = fn(Filter, String) -> Filter;
        let texts: [(Option<String>, Set); 7] = [
            (self.namespace, Filter::namespace),
            (self.user, Filter::user),
            (self.subject, Filter::subject),
            (self.relation, Filter::relation),
            (self.object, Filter::object),
            (self.session, Filter::session),
            (self.run, Filter::run),
        ];
        for (text, set) in texts {
            if let Some(text) = text {
                filter = set(filter, text);
            }
        }
        for tag in self.tag {
            filter = filter.tag(tag);
        }
        if let Some(text) = &self.derived_from {
            filter = filter.derived_from(address::resolve(store, text)?);
        }
        if let Some(time) = self.since {
            filter = filter.created_from(time);
        }
        if let Some(time) = self.until {
            filter = filter.created_to(time);
        }
        Ok(filter)
    }
}

/// Reads the name or the byte of a type.
pub(crate) fn grain_type(text: &str) -> Result<Type, String> {
    let byte = text.strip_prefix("0x");
    let byte = byte.and_then(|digits| u8::from_str_radix(digits, 16).ok());
    match byte {
        Some(byte) => Ok(Type::from_byte(byte)),
        None => Type::named(text).ok_or_else(|| {
            let names = Type::STANDARD.iter().filter_map(|of| of.name());
            let names: Vec<_> = names.collect();
            format!(
                "the types are {}; others go by 0x0b to 0xff",
                names.join(", ")
            )
        }),
    }
}

fn since(text: &str) -> Result<Time, String> {
    time(text, "T00:00:00Z")
}

fn until(text: &str) -> Result<Time, String> {
    time(text, "T23:59:59.999Z")
}

/// Reads a time, or a day and the moment of it that is meant.
fn time(text: &str, of_day: &str) -> Result<Time, String> {
    let is_day = text.len() == "2026-01-15".len() && text.as_bytes().get(4) == Some(&b'-');
    if is_day {
        Time::parse(&format!("{text}{of_day}"))
    } else {
        Time::parse(text)
    }
}
