//! An open store: the handle, opening, the parts of a store, the queue of writers, and the path by
//! which entries become visible. The rooms below add the operations.

mod apply;
mod caller;
mod embedding;
mod folder;
mod inner;
mod open;
mod processes;
mod queue;
mod recovery;
mod store;
#[cfg(feature = "text")]
mod text_feed;
#[cfg_attr(not(feature = "text"), path = "no_text.rs")]
mod text_view;
mod writer;

pub(crate) use caller::Caller;
pub(crate) use embedding::{EmbedQueue, EmbedText};
pub(crate) use folder::{LOCK, create_private, no_manifest, prepare_folder, this_process};
pub(crate) use inner::Inner;
#[doc(hidden)]
pub use processes::untrusted_file_system;
pub(crate) use queue::{Enqueued, LeaderGuard, Reply};
pub use recovery::RecoveryReport;
pub use store::{Admin, Maintenance, Store};
#[cfg(feature = "text")]
pub(crate) use text_feed::language;
pub(crate) use writer::{Exclusive, Writer};
