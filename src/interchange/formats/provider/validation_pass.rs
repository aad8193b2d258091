//! The first pass over an export: the kind of each of its files, its newest time, and its records, which are
//! judged on the way.

use crate::codec::{Map, Value};
use crate::interchange::io::file_set::FileSet;
use crate::interchange::io::source_file::SourceFile;
use crate::interchange::json::{BUFFER_LEN, JsonError, Position, stream_file};
use crate::interchange::{Diagnostics, Error, Loss};

use super::beside::last_of;
use super::code::{fault, syntax};
use super::detect::{PAGE_HEAD_LEN, is_page};
use super::export::{Builder, Pass, Said};
use super::fact::Newest;
use super::item::{Item, holds_facts, item};
use super::kinds::gemini::{self, Plan};
use super::kinds::{claude_memory, copilot, grok};
use super::{Provider, code, item};

/// The facts about an export that reading it again needs.
#[derive(Default)]
pub(super) struct ValidationIndex {
    /// The kind of each of its files.
    pub(super) kinds: Vec<Kind>,
    pub(super) newest: Newest,
}

/// The first pass over an export.
pub(super) struct ValidationPass<'a> {
    index: ValidationIndex,
    findings: Diagnostics,
    loss: Loss,
    /// A file that is a web page, which is not read.
    page: Option<String>,
    records: Pass<'a>,
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
    has_facts: bool,
    is_other: bool,
    /// How many documents of it are none.
    no_documents: usize,
    /// The conversation that it is.
    said: Option<Said>,
}

impl<'a> ValidationPass<'a> {
    pub(super) fn new(records: Pass<'a>) -> Self {
        Self {
            index: ValidationIndex::default(),
            findings: Diagnostics::default(),
            loss: Loss::default(),
            page: None,
            records,
        }
    }

    /// Reads an export; `beside` is what came of the files that were read before.
    ///
    /// # Errors
    /// `PROVIDER_SYNTAX`, `PROVIDER_ZIP`, `ERR_IO`; `PROVIDER_SHAPE` where nothing is of this
    /// provider.
    pub(super) fn go(
        &mut self,
        files: &FileSet,
        beside: Vec<Option<Result<(), Error>>>,
    ) -> Result<(), Error> {
        for (file, beside) in files.each().zip(beside) {
            let (name, part) = file?;
            let kind = match beside {
                Some(read) => read.map(|()| Kind::Other)?,
                None => self.file(name, &part)?,
            };
            self.index.kinds.push(kind);
        }
        let is_other = |kind: &Kind| matches!(kind, Kind::Other);
        if self.index.kinds.iter().all(is_other) {
            let message = match &self.page {
                Some(page) => format!(
                    "{page} is a web page: have Takeout export My Activity, Gemini Apps again, as JSON"
                ),
                None => format!("holds no export of {}", self.provider().name()),
            };
            return Err(fault(code::SHAPE, "", message));
        }
        self.records.known(files, &self.index)
    }

    /// Returns what came of it: beside the records, the findings and losses that came of the files.
    pub(super) fn finish(self) -> (ValidationIndex, Pass<'a>, Diagnostics, Loss) {
        (self.index, self.records, self.findings, self.loss)
    }

    const fn provider(&self) -> Provider {
        self.records.builder.provider
    }

    fn file(&mut self, name: &str, part: &SourceFile) -> Result<Kind, Error> {
        match self.provider() {
            Provider::Copilot if !last_of(name).ends_with(".json") => self.table(name, part),
            Provider::Gemini => self.activity(name, part),
            _ => self.items(name, part),
        }
    }

    fn table(&mut self, name: &str, part: &SourceFile) -> Result<Kind, Error> {
        let read = part.read(BUFFER_LEN, |input| copilot::conversations(input));
        let read = read.map_err(|source| part.error(name, source))?;
        let (conversations, bad, empty) = read.map_err(|message| syntax(name, message))?;
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
        for conversation in conversations {
            self.records
                .conversation(self.records.builder.said(conversation));
        }
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
        let read = self.records.activity(part, &plan);
        read.map_err(|error| broken(name, part, error))?;
        Ok(Kind::Activity(plan))
    }

    fn items(&mut self, name: &str, part: &SourceFile) -> Result<Kind, Error> {
        let builder = self.records.builder;
        let (mut newest, mut loss) = (Newest::default(), Loss::default());
        let (mut findings, mut has_facts) = (Diagnostics::default(), false);
        let arrays = item::arrays(builder.provider);
        let make = |value: Value, position| summarize(builder, value, position);
        let value = read(name, part, arrays, make, |one: ElementSummary| {
            has_facts |= one.has_facts;
            newest.merge(one.newest);
            (0..one.no_documents).for_each(|_| loss.count("document"));
            if one.is_other {
                loss.count("record");
                findings.push(other(arrays, name, one.position));
            }
            one.said
                .into_iter()
                .for_each(|it| self.records.conversation(it));
        })?;
        if is_alone(&value, arrays) {
            // An element by itself is a list of one.
            let alone = summarize(builder, value, Position::default());
            if alone.is_other {
                return Ok(Kind::Other);
            }
            has_facts = alone.has_facts;
            newest.merge(alone.newest);
            alone
                .said
                .into_iter()
                .for_each(|it| self.records.conversation(it));
        } else if let Value::Map(map) = &value {
            for (at, message) in grok::unread(map) {
                let at = format!("{name}#{at}");
                findings.push(fault(code::SHAPE, &at, message));
            }
        } else if value.as_array().is_none() {
            return Ok(Kind::Other);
        }
        self.index.newest.merge(newest);
        self.findings.append(findings);
        self.loss.merge(&loss);
        Ok(Kind::Items { has_facts })
    }
}

fn summarize(builder: &Builder, value: Value, position: Position) -> ElementSummary {
    let mut summarize = ElementSummary {
        position,
        newest: Newest::default(),
        has_facts: false,
        is_other: false,
        no_documents: 0,
        said: None,
    };
    let no_documents = match holds_facts(builder.provider) {
        true => claude_memory::no_documents(&value),
        false => 0,
    };
    match item(builder.provider, value, position) {
        Item::Conversation(conversation) => {
            if holds_facts(builder.provider) {
                summarize.newest = Newest::of_talk(&conversation);
            }
            summarize.said = Some(builder.said(*conversation));
        }
        Item::Facts(facts) => {
            summarize.newest = Newest::of_facts(&facts);
            summarize.has_facts = true;
            summarize.no_documents = no_documents;
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
