//! What narrowed handles are for: handing tasks from agent to agent.

mod handoff;

pub use handoff::{HandedBack, HandedOff, Handoff};
