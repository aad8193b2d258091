//! Handing a task to another agent and back (OMS 28.7), and reading a conversation (OMS 28.6).

use std::collections::BTreeSet;

use crate::codec::{ContentAddress, Map, Value};
use crate::crypto::Did;
use crate::grain::{Draft, Grain, Time, Type};
use crate::ledger::EntryId;
use crate::policy::{Capability, Delegation, Rule};
use crate::store::commit::{put, put_batch};
use crate::store::read::{record_reads, status, version_at};
use crate::store::records::DenialRecord;
use crate::store::txn::Transaction;
use crate::store::{Access, Error, read};

/// A task that one agent hands to another (OMS 28.7).
///
/// ```
/// use grainstore::crypto::Did;
/// use grainstore::store::Handoff;
/// use grainstore::{Draft, Options, Store};
///
/// let store = Store::in_memory(Options::default())?;
/// let (desk, expert): (Did, Did) =
///     ("did:web:desk.example".parse()?, "did:web:expert.example".parse()?);
/// let desk = store.as_actor(&desk).in_namespace("acme:help");
/// desk.put(Draft::event("my invoice is wrong").session("s1").role("user"))?;
/// let handed = desk.hand_off(&expert, &Handoff::of("settle the invoice").session("s1"))?;
///
/// let expert = store.as_actor(&expert).in_namespace("acme:help");
/// let context = expert.take_over(&handed.delegation)?;
/// assert_eq!(context.len(), 2); // the snapshot of the conversation, and its message
/// let (_, return_to) = expert.hand_back(&handed.delegation, "settled")?;
/// assert_eq!(return_to.as_deref(), Some("did:web:desk.example"));
/// assert!(expert.put(Draft::event("one more thing")).is_err());
/// # Ok::<(), grainstore::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Handoff {
    task: String,
    session: Option<String>,
    tools: Vec<String>,
    expires: Option<Time>,
    context: Vec<ContentAddress>,
}

/// The grains of a handoff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandedOff {
    /// The Goal that delegates.
    pub delegation: ContentAddress,
    /// The Event that records it.
    pub event: ContentAddress,
    /// The State of the conversation, if a session was handed over.
    pub state: Option<ContentAddress>,
}

impl Handoff {
    /// Starts a handoff of a task.
    pub fn of(task: impl Into<String>) -> Self {
        Self {
            task: task.into(),
            ..Self::default()
        }
    }

    /// Hands over a conversation: a snapshot of it, and its last messages.
    #[must_use]
    pub fn session(mut self, session_id: impl Into<String>) -> Self {
        self.session = Some(session_id.into());
        self
    }

    /// Permits a tool; if no tool is named, all are permitted.
    #[must_use]
    pub fn tool(mut self, name: impl Into<String>) -> Self {
        self.tools.push(name.into());
        self
    }

    /// Sets the time at which it ends, even if it is not handed back.
    #[must_use]
    pub const fn until(mut self, time: Time) -> Self {
        self.expires = Some(time);
        self
    }

    /// Adds a grain as context.
    #[must_use]
    pub fn context(mut self, address: ContentAddress) -> Self {
        self.context.push(address);
        self
    }
}

/// See [`Store::hand_off`](crate::Store::hand_off).
pub(crate) fn hand_off(store: &Access, to: &Did, handoff: &Handoff) -> Result<HandedOff, Error> {
    let own = author(store)?;
    let capability = store.own_capability();
    let profile = store.engine.options().profile;
    let now = store.engine.now();
    let finish = |draft: Draft| {
        let draft = capability.fill(draft).created_at_or(now);
        draft.finish(profile)
    };
    let mut grains = Vec::new();
    let mut context = handoff.context.clone();
    let mut state = None;
    if let Some(session) = &handoff.session {
        let messages = messages(store, session)?;
        let snapshot = finish(snapshot_of(&messages).session(session.as_str()))?;
        state = Some(snapshot.address());
        context.push(snapshot.address());
        let recent = messages.iter().rev().take(RECENT).rev();
        context.extend(recent.map(Grain::address));
        grains.push(snapshot);
    }
    let goal = finish(goal_of(own, to, handoff, &context, capability.namespace()))?;
    let delegation = goal.address();
    let record = Draft::new(Type::Event)
        .set("subject", own.as_str())
        .set("relation", "mg:handed_off_to")
        .set("object", to.as_str())
        .derived_from(delegation);
    let record = finish(in_session(record, handoff.session.as_deref()))?;
    let event = record.address();
    grains.extend([goal, record]);
    put_batch(store, grains)?;
    Ok(HandedOff {
        delegation,
        event,
        state,
    })
}

/// See [`Store::take_over`](crate::Store::take_over).
pub(crate) fn take_over(store: &Access, delegation: &ContentAddress) -> Result<Vec<Grain>, Error> {
    let goal = delegated(store, delegation, "take_over")?;
    let context = goal.field("context_grains").into_iter();
    let mut grains = Vec::new();
    for text in context.flat_map(Value::texts) {
        if let Ok(address) = ContentAddress::from_reference(text) {
            grains.extend(find_readable(store, &address)?);
        }
    }
    record_reads(store, "take_over", grains.iter())?;
    Ok(grains.into_iter().map(|(_, grain)| grain).collect())
}

/// See [`Store::hand_back`](crate::Store::hand_back).
pub(crate) fn hand_back(
    store: &Access,
    delegation: &ContentAddress,
    outcome: &str,
) -> Result<(ContentAddress, Option<String>), Error> {
    let goal = delegated(store, delegation, "hand_back")?;
    let task = goal.text("description").unwrap_or_default();
    let done = Draft::goal(format!("{task}: {outcome}"))
        .set("goal_state", "satisfied")
        .derived_from(*delegation);
    let done = in_session(done, goal.text("session_id"));
    let return_to = goal.text("return_to").map(str::to_owned);
    Ok((put(store, done)?.address, return_to))
}

/// Returns a delegation to its author that is in force; a request for any other is recorded.
fn delegated(store: &Access, delegation: &ContentAddress, operation: &str) -> Result<Grain, Error> {
    let own = author(store)?;
    let goal = read::find(store, delegation)?.map(|(_, goal)| goal);
    let goal = goal.ok_or(Error::NotFound {
        address: *delegation,
    })?;
    let is_own = Delegation::of(&goal).is_some_and(|one| one.to() == own.as_str());
    if !is_own || !status(store, delegation)?.is_current() {
        let (engine, rule) = (&*store.engine, Rule::Delegation);
        let denial = DenialRecord::new(Some(*delegation), operation, rule.name());
        // Before the turn to write: naming the actor may take one of its own.
        let caller = store.caller()?;
        Transaction::begin(engine, caller)?.refuse(denial)?;
        return Err(Error::Refused { rule });
    }
    Ok(goal)
}

/// Reads one of several grains: one without the consent to read it is left out.
fn find_readable(
    store: &Access,
    address: &ContentAddress,
) -> Result<Option<(EntryId, Grain)>, Error> {
    match read::find(store, address) {
        Err(Error::Denied { .. }) => Ok(None),
        found => found,
    }
}

fn author(store: &Access) -> Result<&Did, Error> {
    let rule = Rule::Author;
    let author = store.capability().and_then(Capability::acts_as);
    author.ok_or(Error::Refused { rule })
}

/// Returns the messages of a conversation that the handle sees, in the order in which they were
/// stored.
fn messages(store: &Access, session: &str) -> Result<Vec<Grain>, Error> {
    let snapshot = store.snapshot();
    let rows = snapshot.with_text(crate::index::Family::Session, session);
    let mut messages = Vec::new();
    for row in rows.rows()?.iter() {
        let grain = version_at(store, &snapshot, row)?.grain;
        let is_message = grain.type_() == Type::Event && grain.text("session_id") == Some(session);
        if is_message && snapshot.is_current(row) && store.sees(&snapshot, &grain)? {
            messages.push(grain);
        }
    }
    Ok(messages)
}

/// See [`Store::thread`](crate::Store::thread).
pub(crate) fn thread(store: &Access, message: &ContentAddress) -> Result<Vec<Grain>, Error> {
    let messages = thread_of(message, |address| match address == message {
        true => read::find(store, address),
        false => find_readable(store, address),
    })?;
    record_reads(store, "thread", messages.iter())?;
    Ok(messages.into_iter().map(|(_, grain)| grain).collect())
}

fn thread_of(
    message: &ContentAddress,
    find: impl Fn(&ContentAddress) -> Result<Option<(EntryId, Grain)>, Error>,
) -> Result<Vec<(EntryId, Grain)>, Error> {
    let mut messages = Vec::new();
    let mut next = Some(*message);
    // A grain names only grains that existed before it, so the loop ends.
    while let Some(found) = next.map(|address| find(&address)).transpose()?.flatten() {
        next = found.1.link("parent_message_id");
        messages.push(found);
    }
    messages.reverse();
    Ok(messages)
}

/// OMS 28.6: the state of a conversation.
fn snapshot_of(messages: &[Grain]) -> Draft {
    let names = ["author_did", "role"];
    let participants: BTreeSet<&str> = messages
        .iter()
        .filter_map(|message| names.iter().find_map(|name| message.text(name)))
        .collect();
    let participants: Vec<&str> = participants.into_iter().collect();
    let mut context = Map::from_iter([
        ("message_count", Value::from(messages.len() as u64)),
        ("participants", participants.into()),
    ]);
    if let Some(last) = messages.last() {
        context.insert("messages_tail", last.address());
    }
    Draft::state(context).set("relation", "mg:state_at")
}

fn goal_of(
    from: &Did,
    to: &Did,
    handoff: &Handoff,
    context: &[ContentAddress],
    namespace: Option<&str>,
) -> Draft {
    let mut goal = Draft::goal(handoff.task.as_str())
        .set("subject", from.as_str())
        .set("relation", Delegation::RELATION)
        .set("object", to.as_str())
        .set("return_to", from.as_str())
        .set("delegation_depth", 0);
    if let Some(namespace) = namespace {
        goal = goal.push("authorized_namespaces", namespace);
    }
    for tool in &handoff.tools {
        goal = goal.push("authorized_tools", tool.as_str());
    }
    for address in context {
        goal = goal.push("context_grains", *address);
    }
    if let Some(time) = handoff.expires {
        goal = goal.set("delegation_expiry", time.ms());
    }
    in_session(goal, handoff.session.as_deref())
}

fn in_session(draft: Draft, session: Option<&str>) -> Draft {
    match session {
        Some(session) => draft.session(session),
        None => draft,
    }
}

/// The number of messages that are handed over in full; the snapshot refers to the others.
const RECENT: usize = 20;
