//! The memory stores and session logs of other tools, which are read; four of them are written too.
//!
//! A source is a file below `sources` and a line in its table: what its elements look like, and the
//! items that each says. An item is a fact, which becomes a Belief, or a turn, which becomes an Event;
//! the grain carries the element that it was read from, without the text that it has itself. A time that
//! an element lacks is that of the file, and none is invented. An element that says nothing is counted.

mod archive;
mod builder;
mod import;
mod item;
mod known;
mod reader;
mod source;
mod sources;
mod tar_gz;
mod write;
mod writer;

pub(in crate::interchange) use reader::{Neighbours, read_rows};
pub use sources::is_not_said;
pub(crate) use sources::logged_turn;
pub(in crate::interchange) use sources::sources;
