//! The index: sorted keys that say in which ledger entries something stands (OMS 17.3, 28.4).
//!
//! A row is a ledger sequence. Every grain and every later entry about it becomes keys of several
//! families; a question is a scan of keys that begin alike. A batch becomes a sorted chunk in
//! memory; every so many entries the chunks become one immutable run on disk, and runs of a size
//! are merged. What there is at one moment is a state, which is replaced and never changed, so a
//! snapshot is a reference to one.
//!
//! All of it is derived: what is in doubt is deleted and built anew from the ledger. Strings are
//! hashed with a key of the store's own, so that nobody can prepare collisions; whoever reads a row
//! checks the strings.

mod error;
mod options;
mod family;
mod term;
mod key;
mod rows;
mod row_set;
mod chunk;
mod batch;
mod map;
mod filter;
mod block;
mod cache;
mod run;
mod current;
mod state;
mod scan;
mod derived;
mod column;
mod ended;
mod engine;
mod maintain;
mod opening;
mod worker;
mod snapshot;
mod live;
mod compare;
mod structure;
mod accesses;

pub use accesses::{Access, Accesses};
pub use batch::Batch;
pub use column::Column;
pub use compare::Comparison;
pub use error::Error;
pub use family::Family;
pub use live::{Index, Opened};
pub use options::{Addresses, Options};
pub use row_set::RowSet;
pub use rows::Rows;
pub use scan::{Estimate, Scan};
pub use snapshot::{Pattern, Snapshot};
pub use term::TermKey;
