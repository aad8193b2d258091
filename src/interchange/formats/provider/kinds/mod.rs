//! One file for each provider: how its conversations and facts are read.

pub(super) mod chatgpt;
pub(super) mod claude;
pub(super) mod claude_memory;
pub(super) mod copilot;
pub(super) mod cursor;
pub(super) mod deepseek;
pub(super) mod gemini;
pub(super) mod grok;
