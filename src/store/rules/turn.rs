//! The turn of a conversation with an agent. A hook stores it as a turn, and an import of the agent's log as a
//! message: two grains with other fields, which the agent, the session, the time, the role and the text make one.

use crate::codec::Value;
use crate::crypto::TombstoneKey;
use crate::grain::{Grain, Type};

/// A turn: two Events of which all of this is equal are the same one.
#[derive(PartialEq, Eq)]
pub(crate) struct Turn<'a> {
    agent: &'a str,
    session: &'a str,
    at_ms: i64,
    role: &'a str,
    text: &'a str,
}

impl<'a> Turn<'a> {
    /// Returns the turn that a grain is; `None` for one that no agent and session are known of.
    pub(crate) fn of(grain: &'a Grain) -> Option<Self> {
        let context = grain.field("context").and_then(Value::as_map);
        let agent = context.and_then(|context| context.get("agent"));
        (grain.type_() == Type::Event).then_some(())?;
        Some(Self {
            agent: agent.and_then(Value::as_text)?,
            session: grain.text("session_id")?,
            at_ms: grain.created_at().ms(),
            role: grain.text("role").unwrap_or_default(),
            text: grain.text("content")?.trim(),
        })
    }

    /// Returns the mark that the turn leaves when it is deleted: its other form must not bring it back
    /// (OMS 28.4).
    pub(crate) fn mark(&self, key: &TombstoneKey) -> [u8; 32] {
        let at = self.at_ms.to_be_bytes();
        let parts = [self.agent, self.session, self.role, self.text].map(str::as_bytes);
        let [agent, session, role, text] = parts;
        key.of_turn(&[agent, session, &at, role, text])
    }
}
