//! The sources: a file for each, which says how its elements are read.

mod agents;
mod blocks;
mod chats;
mod conversation;
mod names;
mod stores;

pub use blocks::is_not_said;

use super::source::Source;
pub(crate) use agents::logged_turn;

/// Returns every source, in the order in which they are asked.
pub(in crate::interchange) fn sources() -> impl Iterator<Item = &'static Source> {
    let all = [stores::SOURCES, agents::SOURCES, chats::SOURCES];
    all.into_iter().flatten().copied()
}
