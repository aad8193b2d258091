//! grainstore where agents live: MCP ([`mcp`]), HTTP ([`http`]) and files for chat clients
//! ([`memory`]), on the library's public face only.
//!
//! The library is synchronous: each question and each change runs on a thread that may block.

mod receipt;
mod scope;
mod wire;

pub mod http;
pub mod mcp;
pub mod memory;

pub use receipt::receipt_json;
pub use scope::Scope;
