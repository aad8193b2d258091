//! An embedded memory store for AI agents. A memory is a *grain*: a small map of fields that never
//! changes, under the SHA-256 of its bytes as its [address](ContentAddress). A change is a new grain
//! that supersedes the old one. The crate opens a directory, needs no server and no model, and
//! implements the Open Memory Specification (OMS) 1.3.
//!
#![cfg_attr(feature = "text", doc = "```")]
#![cfg_attr(not(feature = "text"), doc = "```ignore")]
//! use grainstore::prelude::*;
//!
//! # let folder = tempfile::tempdir().expect("a folder");
//! # let path = folder.path().join("memory.grains");
//! // `path` is a directory of the store's own, such as "memory.grains".
//! let store = Store::open(&path, Options::default())?;
//! let old = store.put(Draft::belief("ana", "lives_in", "Lisbon").user("ana"))?; // durable
//! store.put(Draft::event("I start at the clinic on Monday").role("user").user("ana"))?;
//!
//! // By its address, by fields, by words, and for a prompt.
//! let grain = store.get(&old)?.expect("it was just put");
//! assert_eq!(grain.summary(), "ana lives in Lisbon");
//! assert_eq!(store.query(&Filter::new().subject("ana"), 10, None)?.total, 1);
//! assert_eq!(store.search("lisbon", &Filter::new(), 10)?.results[0].address, old);
//! let known = store.recall("Where does Ana live?", &Filter::new(), &Recall::default())?;
//! assert!(known.render(Format::Markdown).contains("ana lives in Lisbon"));
//!
//! // The new version names the old one, which stays in the history.
//! let moved = Draft::belief("ana", "lives_in", "Porto").user("ana");
//! let new = store.supersede(&old, moved, Some("she moved"))?;
//! assert_eq!(store.history(&new)?.len(), 2);
//!
//! // Every change since a moment, in the order of the ledger.
//! let morning = Time::parse("2026-01-15T00:00:00Z").expect("RFC 3339");
//! let today = store.changes(EntryId::FIRST).since(morning)?;
//! assert_eq!(today.matching(Filter::new().user("ana")).count(), 2);
//!
//! // A handle for an agent reaches one person's grains, and cannot be widened.
//! let agent = store.of_user("ana");
//! assert_eq!(agent.admin().unwrap_err().code(), "ERR_ACCESS_DENIED");
//!
//! // The owner erases: bytes, words and keys are gone when it returns.
//! let authorization = Authorization { reason: "asked for", authority: "the office" };
//! store.admin()?.delete(&new, authorization)?;
//! assert!(store.get(&new)?.is_none());
//!
//! // Calls block: asynchronous code hands them to a thread that may.
//! # mod tokio { pub mod task {
//! #     pub async fn spawn_blocking<T: Send + 'static>(
//! #         task: impl FnOnce() -> T + Send + 'static,
//! #     ) -> Result<T, std::convert::Infallible> { Ok(task()) }
//! # } }
//! async fn remember(store: Store, text: String) -> Result<ContentAddress, Error> {
//!     let put = tokio::task::spawn_blocking(move || store.put(Draft::event(text)));
//!     put.await.expect("no call panics")
//! }
//! # drop(remember(store, String::new()));
//! # Ok::<(), Error>(())
//! ```
//!
//! - **Calls block**, a write until the disk has it; every question after that finds it. A [`Store`] is
//!   cheap to clone and may be shared by threads.
//! - **A call is atomic**: [`Store::put_batch`] stores all grains or none, and says which were new,
//!   as [`Store::insert`] does of one; [`Store::supersede`] stores the new
//!   grain and the end of the old one. There is no transaction over several calls: of two
//!   supersessions of one grain the second gets `ERR_CONFLICT`. The pages of a query show one moment.
//! - **Questions**: [`Store::query`] by fields, and [`Store::pages`] for all pages; [`Store::find`] for a
//!   [`Search`] by words, a vector or both; [`Store::recall`] for a prompt.
//! - **Errors** have a stable [code](Error::code) ([`ErrorCode`]), and say whether they are a
//!   [refusal](Error::is_denied), pass [by themselves](Error::is_retryable) or are
//!   [damage](Error::is_corrupt). After a storage error the outcome of a write is unknown: a repeated
//!   `put` of a grain with its `created_at` stores nothing twice.
//! - **Processes**: any number on one machine open one directory. Each answer holds what any of them has
//!   acknowledged.
//! - **Rooms of the API**: [`Store`] reads and writes, [`Admin`] has the owner's decisions (policy, holds,
//!   consents, erasure, export), [`Maintenance`] check, backup and statistics; [`recovery`] makes a
//!   store out of a backup, or out of a damaged one. Names that this documentation does not show may
//!   change in every version.
//! - **Features**: `text` (search) and `sealing` (keys of persons) are on by default; `signatures`,
//!   `interchange` (import and export) and `encryption` (files with age) are asked for. None changes the
//!   files.
//!
//! Of the repository README has the limits, `docs/design.md` the guarantees and the architecture, and
//! `docs/guide.md` an agent in 15 minutes.

// The clock is an argument.
#![deny(clippy::disallowed_types)]
#![cfg_attr(docsrs, feature(doc_cfg))]

// The modules are declared in dependency order: each may use those above it and nothing below
// (`tests/it/tidy/rooms.rs`).

mod process;
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
pub mod recovery;

pub use code::{CodeDomain, ErrorCode};
pub use codec::ContentAddress;
pub use face::{Admin, Maintenance, Store, also_believed, newest_versions, original};
pub use grain::{Draft, Grain, Time, Type};
pub use query::{Filter, Page, Search};
pub use store::{Error, Options};

/// The names of the example above, to be imported together.
///
/// ```
/// use grainstore::prelude::*;
///
/// let store = Store::in_memory(Options::default())?;
/// let address = store.put(Draft::event("hello").role("user"))?;
/// assert!(store.exists(&address)?);
/// # Ok::<(), Error>(())
/// ```
pub mod prelude {
    pub use crate::ledger::EntryId;
    #[cfg(feature = "text")]
    pub use crate::query::Recall;
    pub use crate::render::Format;
    pub use crate::store::Authorization;
    pub use crate::{ContentAddress, Draft, Error, Filter, Options, Store, Time};
}

// The code of the guide and of README compiles and runs with the tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/guide.md")]
struct Guide;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
