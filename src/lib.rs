#![doc = include_str!("../README.md")]
//!
//! # The rooms
//!
//! The modules are declared in dependency order: each may use those above it and nothing below
//! (`tests/it/tidy.rs` holds the crate to it). Most programs need [`Store`], [`Draft`] and
//! [`Filter`]; the rest is there for those who look closer. Names that this documentation does not
//! show are for the tests, the simulator, the fuzz targets and the benches of this repository, and
//! may change in every version.

mod code;
pub mod codec;
pub mod grain;
pub mod crypto;
pub mod policy;
#[cfg(feature = "interchange")]
pub mod interchange;
pub mod render;
pub mod ledger;
#[cfg(feature = "sealing")]
#[doc(hidden)]
pub mod vault;
pub mod index;
#[cfg(feature = "text")]
pub mod text;
#[doc(hidden)]
pub mod vector;
pub mod store;
pub mod query;
mod face;

pub use code::{CodeDomain, ErrorCode};
pub use codec::ContentAddress;
#[doc(hidden)]
pub use face::recover_on;
pub use face::{Admin, Maintenance, Store, newest_versions, recover, repair, restore};
pub use grain::{Draft, Grain, Time, Type};
pub use query::{Envelope, Filter};
pub use store::{Error, Options};

// The code of the guide compiles and runs with the tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/guide.md")]
struct Guide;
