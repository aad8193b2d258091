//! Servers for agents, and their place in the configuration of the usual clients.

mod clients;
mod install;
mod mcp;
mod splice;

pub(crate) use mcp::McpTool;
