//! The handle on an open store, and the operations that only the owner's has.

mod store;

pub use store::{Admin, Maintenance, Store};
