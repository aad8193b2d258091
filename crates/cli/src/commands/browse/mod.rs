//! Commands that show what a store holds to a person: an overview, a grain as a page, conversations.

mod conversation;
mod ls;
mod page;
mod sessions;
mod show;
mod survey;

pub(crate) use conversation::minute;
pub(crate) use ls::Ls;
pub(crate) use sessions::Sessions;
pub(crate) use show::Show;
pub(crate) use survey::readable;
