//! The table of sources, and a file for each: how its elements are read.

mod mcp_memory;

use super::source::Source;

/// Every source, in the order in which they are asked.
pub(in crate::interchange) static SOURCES: [&Source; 1] = [&mcp_memory::SOURCE];
