//! A copy of the store on object storage: ship it, follow it, fetch it for a restore.

mod fetch;
mod follow;
mod place;
mod replicate;
mod shipping;

pub(crate) use fetch::{fetched, is_url};
pub(crate) use follow::Follow;
pub(crate) use place::OpenArgs;
pub(crate) use replicate::Replicate;
pub(crate) use shipping::ship_beside;
