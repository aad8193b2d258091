//! Servers and hooks for agents, and their place in the configuration of the usual clients.

mod clients;
mod comments;
mod hook;
mod install;
mod mcp;
mod splice;

pub(crate) use hook::{HookTool, is_run_by_agent};
pub(crate) use mcp::McpTool;
