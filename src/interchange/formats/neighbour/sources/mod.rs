//! The table of sources, and a file for each: how its elements are read.

mod blocks;
mod claude_code;
mod codex;
mod graphiti;
mod langgraph;
mod mcp_memory;
mod mem0;
mod memory_list;

use super::source::Source;

/// Every source, in the order in which they are asked.
pub(in crate::interchange) static SOURCES: [&Source; 7] = [
    &mcp_memory::SOURCE,
    &mem0::SOURCE,
    &memory_list::SOURCE,
    &langgraph::SOURCE,
    &claude_code::SOURCE,
    &codex::SOURCE,
    &graphiti::SOURCE,
];
