//! The index: sorted keys that say in which ledger entries something stands (OMS 17.3, 28.4).
//!
//! A row is a ledger sequence. Every grain and every later entry about it becomes keys of several
//! families; a question is a scan of one prefix. All of it is derived: the memtable is rebuilt from
//! the ledger when a store is opened, and equals its fold. Strings are hashed with a key of the
//! store's own, so that nobody can prepare collisions; whoever reads a row checks the strings.

mod family;
mod key;
mod memtable;
mod snapshot;
mod term;

pub use family::Family;
pub use memtable::Index;
pub use snapshot::{Pattern, Rows, Snapshot};
pub use term::TermKey;
