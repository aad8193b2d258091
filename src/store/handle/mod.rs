//! Operations between agents on narrowed handles: the handoff of tasks, and reading a conversation.

mod handoff;

pub use handoff::{HandedBack, HandedOff, Handoff};
