//! Access to an open store, and the owner's to what no narrowed one reaches.

mod access;

pub(crate) use access::{Access, Owner};
