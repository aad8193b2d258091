//! The public operations of a store, gathered from the rooms that carry them out. Each is one call of
//! a function of its room, which takes the [`Access`](crate::store::Access) behind the handle.

mod store;
mod reading;
mod writing;
mod admin;
mod erasing;
#[cfg(feature = "interchange")]
mod exchange;
mod maintenance;

pub use admin::Admin;
pub use maintenance::Maintenance;
pub use reading::{also_believed, newest_versions, original};
pub use store::Store;
