//! Erasure: deleting grains so that nothing of them stays, and keeping them from coming back.

mod delete;
mod erase;
mod tombstones;

pub(crate) use delete::Deletion;
