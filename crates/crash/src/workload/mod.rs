//! The program that uses the store: what it asks, what it was told, and what the store must answer.
//!
//! The oracle compares a store with a plain map. Nothing here decides where a crash happens.

pub(crate) mod draft;
pub(crate) mod model;
pub(crate) mod options;
pub(crate) mod oracle;
pub(crate) mod run;
pub(crate) mod steps;
pub(crate) mod governance;
pub(crate) mod backups;
pub(crate) mod ops;
