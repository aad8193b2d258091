//! One file per command: its arguments, whose doc comments are its help, and its `run`.
//!
//! The folders are the groups of `grainstore help`, but for `browse` and `change` (grains, for
//! people), `signing` (keys, signatures and trust), `agents` (servers) and `maintenance`, which also
//! has `init`, `completions` and `man`.

pub(crate) mod agents;
pub(crate) mod audit;
pub(crate) mod browse;
pub(crate) mod change;
pub(crate) mod demo;
pub(crate) mod files;
pub(crate) mod grains;
pub(crate) mod maintenance;
pub(crate) mod policy;
pub(crate) mod questions;
#[cfg(feature = "replica")]
pub(crate) mod replica;
#[cfg(feature = "postgres")]
pub(crate) mod shared;
pub(crate) mod serving;
pub(crate) mod signing;
pub(crate) mod user;
pub(crate) mod vault;
