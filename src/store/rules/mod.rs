//! The rules for a new grain: one table of which rule holds for which way in, and the function that
//! asks them. Each rule is stated in the room of its subject; a change of a stored grain is decided
//! by `policy::decide`.

mod admit;
mod table;

pub(crate) use admit::{Proposed, admit};
pub(crate) use table::Way;
pub use table::describe;
