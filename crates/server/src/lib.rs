//! grainstore where agents live: MCP ([`mcp`]) and HTTP ([`http`]), on the library's public face only.
//!
//! The library is synchronous: each question and each change runs on a thread that may block.

pub mod http;
pub mod mcp;
