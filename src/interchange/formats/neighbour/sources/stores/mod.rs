//! Memory stores.

mod claude_mem;
mod cogx;
mod graphiti;
mod hindsight;
mod langgraph;
mod letta;
mod mcp_memory;
mod mcp_memory_service;
mod mem0;
mod mem0_history;
mod memory_list;
mod openmemory;

use crate::interchange::formats::neighbour::source::Source;

pub(super) static SOURCES: &[&Source] = &[
    &mcp_memory::SOURCE,
    &openmemory::SOURCE,
    &mcp_memory_service::SOURCE,
    &mem0::SOURCE,
    &memory_list::SOURCE,
    &langgraph::SOURCE,
    &letta::SOURCE,
    &cogx::SOURCE,
    &hindsight::SOURCE,
    &claude_mem::SOURCE,
    &graphiti::SOURCE,
];
