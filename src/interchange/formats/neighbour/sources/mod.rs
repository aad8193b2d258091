//! The table of sources, and a file for each: how its elements are read.

mod mcp_memory;
mod mem0;

use super::source::Source;

/// Every source, in the order in which they are asked.
pub(in crate::interchange) static SOURCES: [&Source; 2] = [&mcp_memory::SOURCE, &mem0::SOURCE];
