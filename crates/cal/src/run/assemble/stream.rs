//! STREAM: what happens in an ASSEMBLE, as events in a fixed order (CAL 1.12).

use grainstore::render::tokens;
use serde_json::{Value as Json, json};

use crate::assemble::{StreamOption, Unit};
use crate::code::Code;
use crate::condition::Value;
use crate::error::Error;
use crate::place::At;
use crate::run::{Context, SourceUse};

/// An event of a stream.
///
/// ```
/// use grainstore::{Draft, Options as StoreOptions, Store, Time};
/// use grainstore_cal::{Options, parse};
///
/// let store = Store::in_memory(StoreOptions::default())?;
/// store.put(Draft::belief("alice", "mg:prefers", "tea").confidence(0.9))?;
/// let query = parse("ASSEMBLE FROM (RECALL beliefs) STREAM { chunks }").unwrap();
/// let mut names = Vec::new();
/// let tell = &mut |event: grainstore_cal::Event| {
///     names.push(event.name);
///     true
/// };
/// query.stream(&store, &Options::at(Time::from_ms(0)), tell).unwrap();
/// assert_eq!(names, ["chunk"]);
/// # Ok::<(), grainstore::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The name, such as `chunk`.
    pub name: &'static str,
    /// The members.
    pub data: Json,
}

/// A reader of events: whether the assembly goes on.
pub(crate) type Tell<'a> = &'a mut dyn FnMut(Event) -> bool;

/// The events that a statement asks for, and their reader.
pub(in crate::run) struct Stream<'a> {
    tell: Tell<'a>,
    kinds: Vec<&'static str>,
    chunk_len: usize,
}

impl<'a> Stream<'a> {
    pub(in crate::run) fn new(tell: Tell<'a>) -> Self {
        Self {
            tell,
            kinds: Vec::new(),
            chunk_len: CHUNK_LEN,
        }
    }

    /// Takes the options of STREAM; a bare one is everything.
    pub(super) fn take(&mut self, options: &[StreamOption]) {
        let all = ["progress", "budget", "chunks"];
        let named = |kind: &&str| {
            let mut options = options.iter();
            options.any(|option| option.name == *kind || option.name == "all")
        };
        self.kinds = all.into_iter().filter(named).collect();
        if self.kinds.is_empty() {
            self.kinds = all.to_vec();
        }
        let len = options.iter().find_map(|option| match option.value {
            Some(Value::Int(len)) => usize::try_from(len).ok(),
            _ => None,
        });
        self.chunk_len = len.unwrap_or(CHUNK_LEN);
    }

    /// Tells an event of a kind.
    ///
    /// # Errors
    /// CAL-E082 where its reader wants no more.
    pub(super) fn tell(&mut self, kind: &str, name: &'static str, data: Json) -> Result<(), Error> {
        let is_wanted = !self.kinds.contains(&kind) || (self.tell)(Event { name, data });
        match is_wanted {
            true => Ok(()),
            false => {
                let (name, data) = ("cancelled", json!({"reason": "the reader"}));
                (self.tell)(Event { name, data });
                let message = "the assembly was cancelled";
                Err(Error::new(Code::Cancelled, At::default(), message))
            }
        }
    }

    /// Tells what a context has of its sources, then its text, in pieces of whole lines, so that no
    /// element and no row is cut.
    pub(super) fn finish(&mut self, context: &Context) -> Result<(), Error> {
        let allocated = context.sources.iter().map(allocated);
        let allocated: Vec<Json> = allocated.collect();
        let budget = json!({"total": context.budget, "used": context.used, "sources": allocated});
        self.tell("budget", "budget_allocated", budget)?;
        let level = json!({"level": context.level});
        self.tell("budget", "disclosure_decided", level)?;
        let is_tokens = context.unit == Unit::Tokens;
        let (mut piece, mut told, mut index) = (String::new(), 0, 0);
        let mut lines = context.text.split_inclusive('\n').peekable();
        while let Some(line) = lines.next() {
            piece.push_str(line);
            let next = lines.peek().map(|next| tokens(next));
            if next.is_some_and(|next| tokens(&piece) + next <= self.chunk_len) {
                continue;
            }
            told += tokens(&piece);
            let mut data = json!({"index": index, "text": std::mem::take(&mut piece)});
            if is_tokens {
                data["budget_remaining"] = context.budget.saturating_sub(told).into();
            }
            self.tell("chunks", "chunk", data)?;
            index += 1;
        }
        let data = json!({"used": context.used, "chunks": index});
        self.tell("progress", "assembly_completed", data)
    }
}

fn allocated(source: &SourceUse) -> Json {
    json!({"label": source.label, "grains": source.used.len(), "tokens": source.tokens})
}

/// CAL 1.9.
const CHUNK_LEN: usize = 100;
