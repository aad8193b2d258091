//! Handing a task to another agent and back (OMS 28.7), and reading a conversation (OMS 28.6).

use std::collections::BTreeSet;

use crate::codec::{ContentAddress, Map, Value};
use crate::crypto::Did;
use crate::grain::{Draft, Grain, Time, Type};
use crate::ledger::EntryId;
use crate::policy::{Capability, Delegation, Rule};
use crate::store::records::DenialRecord;
use crate::store::txn::Transaction;
use crate::store::{Error, Store};

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
/// desk.put(Draft::event("my invoice is wrong").session("s1").set("role", "user"))?;
/// let handed = desk.hand_off(&expert, &Handoff::of("settle the invoice").session("s1"))?;
///
/// let expert = store.as_actor(&expert).in_namespace("acme:help");
/// let context = expert.take_over(&handed.delegation)?;
/// assert_eq!(context.len(), 2); // the snapshot of the conversation, and its message
/// let done = expert.hand_back(&handed.delegation, "settled")?;
/// assert_eq!(done.return_to.as_deref(), Some("did:web:desk.example"));
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

/// The end of a handoff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandedBack {
    /// The Goal that records it.
    pub goal: ContentAddress,
    /// The agent to which control returns.
    pub return_to: Option<String>,
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

impl Store {
    /// Hands a task to another agent: a snapshot of the conversation, the Goal that delegates it
    /// within the handle's namespace without further delegation, and the Event that records it.
    /// They are stored together or not at all (OMS 6.11, 28.6, 28.7).
    ///
    /// # Errors
    /// `ERR_ACCESS_DENIED` for a handle without an author; as [`Store::put`].
    pub fn hand_off(&self, to: &Did, handoff: &Handoff) -> Result<HandedOff, Error> {
        let own = self.author()?;
        let capability = self.own_capability();
        let profile = self.engine.options().profile;
        let now = self.engine.now();
        let finish = |draft: Draft| {
            let draft = capability.fill(draft).created_at_or(now);
            draft.finish(profile)
        };
        let mut grains = Vec::new();
        let mut context = handoff.context.clone();
        let mut state = None;
        if let Some(session) = &handoff.session {
            let messages = self.messages(session)?;
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
        self.put_batch(grains)?;
        Ok(HandedOff {
            delegation,
            event,
            state,
        })
    }

    /// Takes a handoff over: returns the grains it names as context, as far as this handle sees
    /// them and their consents permit it, in their order.
    ///
    /// # Errors
    /// `ERR_NOT_FOUND` for a delegation it does not see; `ERR_ACCESS_DENIED` for one that is not to
    /// its author or not in force; the refusal is recorded.
    pub fn take_over(&self, delegation: &ContentAddress) -> Result<Vec<Grain>, Error> {
        let goal = self.delegated(delegation, "take_over")?;
        let context = goal.field("context_grains").into_iter();
        let mut grains = Vec::new();
        for text in context.flat_map(Value::texts) {
            if let Ok(address) = ContentAddress::from_reference(text) {
                grains.extend(self.find_readable(&address)?);
            }
        }
        self.record_reads("take_over", grains.iter())?;
        Ok(grains.into_iter().map(|(_, grain)| grain).collect())
    }

    /// Hands a task back: a Goal that is satisfied and derived from the delegation, which ends with
    /// it (OMS 28.7).
    ///
    /// # Errors
    /// As [`Store::take_over`] and [`Store::put`].
    pub fn hand_back(
        &self,
        delegation: &ContentAddress,
        outcome: &str,
    ) -> Result<HandedBack, Error> {
        let goal = self.delegated(delegation, "hand_back")?;
        let task = goal.text("description").unwrap_or_default();
        let done = Draft::goal(format!("{task}: {outcome}"))
            .set("goal_state", "satisfied")
            .derived_from(*delegation);
        let done = in_session(done, goal.text("session_id"));
        Ok(HandedBack {
            goal: self.put(done)?,
            return_to: goal.text("return_to").map(str::to_owned),
        })
    }

    /// Returns a delegation to its author that is in force; a request for any other is recorded.
    fn delegated(&self, delegation: &ContentAddress, operation: &str) -> Result<Grain, Error> {
        let own = self.author()?;
        let goal = self.find(delegation)?.map(|(_, goal)| goal);
        let goal = goal.ok_or(Error::NotFound {
            address: *delegation,
        })?;
        let is_own = Delegation::of(&goal).is_some_and(|one| one.to() == own.as_str());
        if !is_own || !self.status(delegation)?.is_current() {
            let (engine, rule) = (&*self.engine, Rule::Delegation);
            let denial = DenialRecord::new(Some(*delegation), operation, rule.name());
            // Before the turn to write: naming the actor may take one of its own.
            let caller = self.caller()?;
            Transaction::begin(engine, caller)?.refuse(denial)?;
            return Err(Error::Refused { rule });
        }
        Ok(goal)
    }

    /// Reads one of several grains: one without the consent to read it is left out.
    fn find_readable(&self, address: &ContentAddress) -> Result<Option<(EntryId, Grain)>, Error> {
        match self.find(address) {
            Err(Error::Denied { .. }) => Ok(None),
            found => found,
        }
    }

    fn author(&self) -> Result<&Did, Error> {
        let rule = Rule::Author;
        let author = self.capability().and_then(Capability::acts_as);
        author.ok_or(Error::Refused { rule })
    }

    /// Returns the messages of a conversation that the handle sees, in the order in which they were
    /// stored.
    fn messages(&self, session: &str) -> Result<Vec<Grain>, Error> {
        let snapshot = self.snapshot();
        let rows = snapshot.with_text(crate::index::Family::Session, session);
        let mut messages = Vec::new();
        for row in rows.rows()?.iter() {
            let grain = self.version_at(&snapshot, row)?.grain;
            let is_message =
                grain.type_() == Type::Event && grain.text("session_id") == Some(session);
            if is_message && snapshot.is_current(row) && self.sees(&snapshot, &grain)? {
                messages.push(grain);
            }
        }
        Ok(messages)
    }

    /// Returns a message and those before it in its conversation, oldest first, as far as they are
    /// stored and their consents permit it (OMS 28.6).
    ///
    /// ```
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// let asked = store.put(Draft::event("how are you?").session("s1"))?;
    /// let answer = Draft::event("well").session("s1").set("parent_message_id", asked);
    /// let thread = store.thread(&store.put(answer)?)?;
    /// assert_eq!(thread[0].text("content"), Some("how are you?"));
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Store::get`].
    pub fn thread(&self, message: &ContentAddress) -> Result<Vec<Grain>, Error> {
        let messages = thread(message, |address| match address == message {
            true => self.find(address),
            false => self.find_readable(address),
        })?;
        self.record_reads("thread", messages.iter())?;
        Ok(messages.into_iter().map(|(_, grain)| grain).collect())
    }
}

fn thread(
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
