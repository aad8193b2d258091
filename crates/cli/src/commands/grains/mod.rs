//! Commands on single grains, by content address: write, read, supersede, delete, show state.
//!
//! Finding grains by their content is in `questions`.

mod contradict;
mod delete;
mod exists;
mod get;
mod history;
mod list;
mod put;
mod record;
pub(crate) mod state;
mod status;
mod supersede;
mod tail;
pub(crate) mod timeline;

pub(crate) use contradict::Contradict;
pub(crate) use delete::Delete;
pub(crate) use exists::Exists;
pub(crate) use get::Get;
pub(crate) use history::History;
pub(crate) use list::List;
pub(crate) use put::{Put, examples};
pub(crate) use record::{GRAIN_FIELDS, found_record};
pub(crate) use status::Status;
pub(crate) use supersede::Supersede;
pub(crate) use tail::Tail;
