//! Checkpoints as signed notes (C2SP `signed-note` and `tlog-checkpoint`), with the cosignatures of
//! witnesses (C2SP `tlog-cosignature`).
//!
//! Text that other implementations read and sign: a store id, a number of entries, a root. Whether
//! a ledger agrees with it is for the store to say.

mod key;
mod text;

pub use key::NoteKey;
pub use text::Note;
