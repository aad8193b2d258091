//! The keys of unlocked persons, in memory: bounded in number, revocable, wiped.

pub(super) mod cache;
pub(super) mod unlocked;
