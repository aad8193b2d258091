//! The first pass over an export: its owner, its newest time, and the kind of each of its files.

use crate::codec::{Map, Value};
use crate::interchange::io::file_set::FileSet;
use crate::interchange::io::source_file::SourceFile;
use crate::interchange::json::{BUFFER_LEN, JsonError, Position, stream_file};
use crate::interchange::{Diagnostics, Error, Loss};

use super::code::{fault, syntax};
use super::detect::{PAGE_HEAD_LEN, is_page};
use super::fact::Newest;
use super::item::Item;
use super::kinds::chatgpt::{self, Feedback};
use super::kinds::gemini::{self, Plan};
use super::kinds::{claude_memory, copilot, grok};
use super::{Provider, code, conversation};
use crate::interchange::formats::provider::item;
use crate::interchange::formats::provider::item::item;

/// The facts about an export that building its records needs.
#[derive(Default)]
pub(super) struct ValidationIndex {
    /// The kind of each of its files.
    pub(super) kinds: Vec<Kind>,
    pub(super) owner: Option<String>,
    /// The account of the first conversation that names one.
    pub(super) account: Option<String>,
    pub(super) newest: Newest,
    pub(super) feedback: Feedback,
    pub(super) findings: Diagnostics,
    pub(super) loss: Loss,
    /// A file that is a web page, which is not read.
    page: Option<String>,
}

/// The kind of a file.
pub(super) enum Kind {
    /// One without records.
    Other,
    /// One with conversations, and perhaps with facts.
    Items { has_facts: bool },
    /// A table of messages.
    CompactTable,
    /// Exchanges, which are grouped to conversations.
    Activity(Plan),
}

/// An element of a file, as far as the rest of the export depends on it.
struct ElementSummary {
    position: Position,
    newest: Newest,
    account: Option<String>,
    has_facts: bool,
    is_other: bool,
    /// How many documents of it are none.
    no_documents: usize,
}

impl ValidationIndex {
    /// Reads an export.
    ///
    /// # Errors
    /// `PROVIDER_SYNTAX`, `PROVIDER_ZIP`, `ERR_IO`; `PROVIDER_SHAPE` where nothing is of this
    /// provider.
    pub(super) fn of(files: &FileSet, provider: Provider) -> Result<Self, Error> {
        let mut index = Self::default();
        for file in files.each() {
            let (name, part) = file?;
            let kind = index.file(provider, name, &part)?;
            index.kinds.push(kind);
        }
        let is_other = |kind: &Kind| matches!(kind, Kind::Other);
        if index.kinds.iter().all(is_other) {
            let message = match index.page {
                Some(page) => format!(
                    "{page} is a web page: have Takeout export My Activity, Gemini Apps again, as JSON"
                ),
                None => format!("holds no export of {}", provider.name()),
            };
            return Err(fault(code::SHAPE, "", message));
        }
        Ok(index)
    }

    fn file(&mut self, provider: Provider, name: &str, part: &SourceFile) -> Result<Kind, Error> {
        let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
        if provider == Provider::Copilot && !last.ends_with(".json") {
            return self.table(name, part);
        }
        match last {
            "user.json" | "users.json" | "prod-mc-auth-mgmt-api.json" => {
                let value = whole(name, part)?;
                self.owner = self.owner.take().or_else(|| owner_of(&value));
            }
            "message_feedback.json" => self.feedback = chatgpt::feedback(&whole(name, part)?),
            _ if provider == Provider::Gemini => return self.activity(name, part),
            _ => return self.items(provider, name, part),
        }
        Ok(Kind::Other)
    }

    fn table(&mut self, name: &str, part: &SourceFile) -> Result<Kind, Error> {
        let read = part.read(BUFFER_LEN, |input| copilot::conversations(input));
        let read = read.map_err(|source| part.error(name, source))?;
        let (_, bad, empty) = read.map_err(|message| syntax(name, message))?;
        (0..empty).for_each(|_| self.loss.count("empty message"));
        let timeless = bad
            .more
            .saturating_add(u64::try_from(bad.list.len()).unwrap_or(u64::MAX));
        (0..timeless).for_each(|_| self.loss.count("message"));
        let listed = bad.list.iter().map(|row| {
            let place = format!("row {row} of {name}");
            fault(code::TIME, &place, "has no time that can be read".into())
        });
        self.findings.append(Diagnostics {
            list: listed.collect(),
            more: bad.more,
        });
        Ok(Kind::CompactTable)
    }

    fn activity(&mut self, name: &str, part: &SourceFile) -> Result<Kind, Error> {
        let head = part.head(u64::try_from(PAGE_HEAD_LEN).unwrap_or_default());
        if is_page(&head.map_err(|source| part.error(name, source))?) {
            self.page = Some(name.to_owned());
            return Ok(Kind::Other);
        }
        let mut plan = Plan::default();
        let make = |value: Value, position: Position| {
            let is_other = value.as_map().is_some_and(|map| !gemini::is_of_gemini(map));
            (gemini::summarize(&value), is_other, position)
        };
        let mut others = 0_usize;
        let arrays = item::arrays(Provider::Gemini);
        let value = read(
            name,
            part,
            arrays,
            make,
            |(summarize, is_other, position)| {
                others = others.saturating_add(usize::from(is_other));
                plan.note(summarize, position.start);
            },
        )?;
        if value.as_array().is_none() {
            return Ok(Kind::Other);
        }
        let skipped = plan.finish().saturating_sub(others);
        if others > 0 {
            let message = format!("{others} records are activity in other products");
            self.findings.push(fault(code::SHAPE, name, message));
        }
        if skipped > 0 {
            (0..skipped).for_each(|_| self.loss.count("record"));
            let message = format!("{skipped} records have no time or are no exchange");
            self.findings.push(fault(code::SHAPE, name, message));
        }
        Ok(Kind::Activity(plan))
    }

    fn items(&mut self, provider: Provider, name: &str, part: &SourceFile) -> Result<Kind, Error> {
        let mut found = Self::default();
        let mut has_facts = false;
        let arrays = item::arrays(provider);
        let make = |value: Value, position| summarize(provider, &value, position);
        let value = read(name, part, arrays, make, |summarize: ElementSummary| {
            has_facts |= summarize.has_facts;
            found.newest.merge(summarize.newest);
            found.account = found.account.take().or(summarize.account);
            (0..summarize.no_documents).for_each(|_| found.loss.count("document"));
            if summarize.is_other {
                found.loss.count("record");
                let error = other(arrays, name, summarize.position);
                found.findings.push(error);
            }
        })?;
        if is_alone(&value, arrays) {
            // An element by itself is a list of one.
            let alone = summarize(provider, &value, Position::default());
            if alone.is_other {
                return Ok(Kind::Other);
            }
            has_facts = alone.has_facts;
            found.newest.merge(alone.newest);
            found.account = alone.account;
        } else if let Value::Map(map) = &value {
            for (at, message) in grok::unread(map) {
                let at = format!("{name}#{at}");
                found.findings.push(fault(code::SHAPE, &at, message));
            }
        } else if value.as_array().is_none() {
            return Ok(Kind::Other);
        }
        self.newest.merge(found.newest);
        self.account = self.account.take().or(found.account);
        self.findings.append(found.findings);
        self.loss.merge(&found.loss);
        Ok(Kind::Items { has_facts })
    }
}

fn summarize(provider: Provider, value: &Value, position: Position) -> ElementSummary {
    let mut summarize = ElementSummary {
        position,
        newest: Newest::default(),
        account: None,
        has_facts: false,
        is_other: false,
        no_documents: 0,
    };
    match item(provider, value, position) {
        Item::Conversation(conversation) => {
            summarize.newest = Newest::of_talk(&conversation);
            summarize.account = conversation.account;
        }
        Item::Facts(facts) => {
            summarize.newest = Newest::of_facts(&facts);
            summarize.has_facts = true;
            summarize.no_documents = claude_memory::no_documents(value);
        }
        Item::Other => summarize.is_other = true,
    }
    summarize
}

/// Returns whether a document is one element that stands alone: an object without any of the arrays.
pub(super) fn is_alone(value: &Value, arrays: &[&str]) -> bool {
    let has_array = |map: &Map| arrays.iter().any(|name| map.contains(name));
    value.as_map().is_some_and(|map| !has_array(map))
}

fn owner_of(value: &Value) -> Option<String> {
    let map = match value {
        Value::Array(items) => items.first()?.as_map()?,
        value => value.as_map()?,
    };
    if let Some(user) = map.get("user").and_then(Value::as_map) {
        return conversation::text(user, "userId").map(str::to_owned);
    }
    let names = ["id", "uuid", "user_id"];
    let id = names
        .into_iter()
        .find_map(|name| conversation::text(map, name));
    id.map(str::to_owned)
}

/// Returns the finding of an element that is not read.
fn other(arrays: &[&str], name: &str, position: Position) -> Error {
    let number = position.number;
    let (at, message) = match arrays.get(position.array) {
        Some(array @ (&"media_posts" | &"projects")) => (
            format!("{name}#/{array}/{number}"),
            "says nothing that a memory could",
        ),
        _ => (format!("{name}#/{number}"), "is no conversation"),
    };
    fault(code::SHAPE, &at, message.to_owned())
}

/// Reads a file; returns the rest of the document beside its long arrays.
pub(super) fn read<T: Send>(
    name: &str,
    part: &SourceFile,
    arrays: &'static [&'static str],
    make: impl Fn(Value, Position) -> T + Sync,
    mut take: impl FnMut(T),
) -> Result<Value, Error> {
    let take = |one| {
        take(one);
        true
    };
    let value = stream_file(part, arrays, |_| true, make, take);
    let value = value.map_err(|error| broken(name, part, error))?;
    Ok(value.unwrap_or(Value::Nil))
}

pub(super) fn broken(name: &str, part: &SourceFile, error: JsonError) -> Error {
    match error {
        JsonError::Flaw(_, message) => syntax(name, message),
        JsonError::Io(source) => part.error(name, source),
    }
}

/// Reads a short file.
fn whole(name: &str, part: &SourceFile) -> Result<Value, Error> {
    read(name, part, &[], |_, _| (), |()| ())
}
