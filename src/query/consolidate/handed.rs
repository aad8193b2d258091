//! The input of a program: the turns of one person in one namespace, and what is believed of them.

use std::collections::HashSet;

use crate::codec::{ContentAddress, Map, Value};
use crate::grain::{Grain, Type};
use crate::render::tokens;
use crate::store::Access;

use super::super::{Error, Filter, Found, Sort, SortBy, query};

/// Whose memory a grain is: turns of others are handed over apart, and a belief gets what its turns have.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Whose {
    pub(super) namespace: Option<String>,
    pub(super) user: Option<String>,
}

/// A turn that is handed over.
pub(super) struct Turn {
    pub(super) grain: Grain,
    pub(super) address: ContentAddress,
    members: Map,
    pub(super) tokens: usize,
}

/// A belief that is handed over.
pub(super) struct Belief {
    pub(super) address: ContentAddress,
    members: Map,
}

impl Whose {
    pub(super) fn of(grain: &Grain) -> Self {
        let text = |name: &str| grain.text(name).map(str::to_owned);
        Self {
            namespace: text("namespace"),
            user: text("user_id"),
        }
    }

    /// Returns the beliefs that a program is to know: those that are most like the words of the turns, then
    /// the newest, until they have so many tokens.
    pub(super) fn believed(
        &self,
        store: &Access,
        turns: &[Turn],
        budget: usize,
    ) -> Result<Vec<Belief>, Error> {
        let mut filter = Filter::new().of_type(Type::Belief);
        if let Some(namespace) = &self.namespace {
            filter = filter.namespace(namespace);
        }
        if let Some(user) = &self.user {
            filter = filter.user(user);
        }
        let mut found = alike(store, &filter, turns)?;
        let newest = filter.sorted(Sort::by(SortBy::Time).descending());
        found.extend(query(store, &newest, LOOKED_AT, None)?.results);
        let (mut beliefs, mut seen, mut left) = (Vec::new(), HashSet::new(), budget);
        for found in found {
            // A filter by namespace reaches the namespaces inside it too.
            if Self::of(&found.grain) != *self || !seen.insert(found.address) {
                continue;
            }
            let belief = Belief::of(&found);
            let cost = cost(&belief.members);
            if cost > left {
                break;
            }
            left -= cost;
            beliefs.push(belief);
        }
        Ok(beliefs)
    }

    /// Returns the current belief that states the same, whether it was handed over or not.
    pub(super) fn known(&self, store: &Access, statement: &[String; 3]) -> Result<bool, Error> {
        let [subject, relation, object] = statement;
        let same = Filter::new().of_type(Type::Belief).with_unreviewed();
        let same = same.subject(subject).relation(relation).object(object);
        let found = query(store, &same, LOOKED_AT, None)?;
        let mut found = found.results.iter();
        Ok(found.any(|found| Self::of(&found.grain) == *self))
    }
}

/// Returns the beliefs that a search for the words of turns finds.
#[cfg(feature = "text")]
fn alike(store: &Access, filter: &Filter, turns: &[Turn]) -> Result<Vec<Found>, Error> {
    use crate::code::ErrorCode;
    use crate::query::{Search, find};
    use crate::text::Query;

    let texts = turns.iter().filter_map(|turn| turn.grain.text("content"));
    let words: String = texts
        .flat_map(|text| text.chars().chain([' ']))
        .take(WORDS_LEN)
        .collect();
    let query = Query::words(&words);
    if query.is_empty() {
        return Ok(Vec::new());
    }
    match find(store, &Search::of(query).filter(filter).limit(LOOKED_AT)) {
        Ok(found) => Ok(found.results),
        // The newest are known without it.
        Err(error) if error.code() == ErrorCode::Text => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

#[cfg(not(feature = "text"))]
fn alike(_: &Access, _: &Filter, _: &[Turn]) -> Result<Vec<Found>, Error> {
    Ok(Vec::new())
}

impl Turn {
    /// Returns a turn with as much of its text as so many tokens hold; `None` of an event without a text.
    pub(super) fn of(grain: Grain, tokens_max: usize) -> Option<Self> {
        let text = grain.text("content").map(str::trim)?;
        let text = Some(text).filter(|text| !text.is_empty())?;
        let mut members = Map::from_iter([("kind", Value::from("turn"))]);
        for (name, field) in [("role", "role"), ("session", "session_id")] {
            if let Some(value) = grain.text(field) {
                members.insert(name, value);
            }
        }
        members.insert("time", grain.created_at().to_string());
        let shown = beginning(text, tokens_max);
        members.insert("text", shown);
        if shown.len() < text.len() {
            members.insert("is_cut", true);
        }
        Some(Self {
            address: grain.address(),
            tokens: cost(&members),
            members,
            grain,
        })
    }
}

impl Belief {
    fn of(found: &Found) -> Self {
        let grain = &found.grain;
        let mut members = Map::from_iter([("kind", Value::from("belief"))]);
        for name in ["subject", "relation", "object", "confidence"] {
            if let Some(value) = grain.field(name) {
                members.insert(name, value.clone());
            }
        }
        members.insert("since", grain.created_at().to_string());
        Self {
            address: found.address,
            members,
        }
    }
}

/// Returns the lines of a request.
pub(super) fn request(whose: &Whose, turns: &[Turn], beliefs: &[Belief]) -> String {
    let mut about = Map::from_iter([("kind", Value::from("about"))]);
    let whose = [("namespace", &whose.namespace), ("user", &whose.user)];
    for (name, value) in whose {
        if let Some(value) = value {
            about.insert(name, value.clone());
        }
    }
    let mut text = Value::Map(about).to_json();
    text.push('\n');
    let beliefs = beliefs.iter().map(|it| ('b', &it.members));
    let turns = turns.iter().map(|it| ('t', &it.members));
    for lines in [
        &mut beliefs.into_iter() as &mut dyn Iterator<Item = _>,
        &mut turns.into_iter(),
    ] {
        for (number, (kind, members)) in (1..).zip(lines) {
            let mut members = members.clone();
            members.insert("id", format!("{kind}{number}"));
            text.push_str(&Value::Map(members).to_json());
            text.push('\n');
        }
    }
    text
}

/// Returns as much of a text as so many tokens hold, by the measure of [`tokens`].
fn beginning(text: &str, tokens_max: usize) -> &str {
    let (mut quarters, max) = (0_usize, tokens_max.saturating_mul(4));
    let is_over = |(_, c): &(usize, char)| {
        quarters += if c.is_ascii() { 1 } else { 4 };
        quarters > max
    };
    let end = text.char_indices().find(is_over).map(|(at, _)| at);
    end.and_then(|end| text.get(..end)).unwrap_or(text)
}

/// Returns the tokens of a line, with those of its id.
fn cost(members: &Map) -> usize {
    tokens(&Value::Map(members.clone()).to_json()) + ID_TOKENS
}

const ID_TOKENS: usize = 4;

/// As many beliefs are looked at, of those alike and of the newest.
const LOOKED_AT: usize = 200;

/// So much of the turns is searched for, in characters.
#[cfg(feature = "text")]
const WORDS_LEN: usize = 4_000;
