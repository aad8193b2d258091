//! An open store without rules: its files, the processes that have it open, the queue of writers, sealed
//! persons, and the path by which entries become visible. The rooms below decide and write.

mod apply;
mod caller;
mod closing;
mod embedding;
mod folder;
mod follow;
mod instance;
mod note;
mod open;
#[cfg(feature = "sealing")]
mod persons;
mod processes;
mod queue;
mod recovery;
mod root_names;
mod sharing;
#[cfg_attr(not(feature = "text"), path = "no_text.rs")]
mod text;
mod writer;

pub(crate) use caller::Caller;
pub(crate) use embedding::{Background, EmbedQueue, EmbedText, EmbedWorker};
pub(crate) use folder::{
    LOCK, WRITER, create_private, no_manifest, prepare_folder, refuse_follower, refuse_planted,
    this_process,
};
pub(crate) use instance::{Engine, report_stale};
#[cfg(feature = "signatures")]
pub(crate) use note::note_if_due;
pub(crate) use note::{note, with_tree};
pub(crate) use open::{join, open_to_read};
#[cfg(feature = "sealing")]
pub(crate) use persons::{
    is_vault_rotten, lock_persons, lock_wiped, master_key, renew_unlocked, unlock_for_writer,
    vault_fault, vault_of, vault_or_new,
};
#[doc(hidden)]
pub use processes::untrusted_file_system;
pub(crate) use processes::{Reach, authorize_locks};
pub(crate) use queue::{Enqueued, LeaderGuard, Reply};
pub use recovery::RecoveryReport;
pub(crate) use sharing::{
    authorize_cache, blank_shared, leave_expunged, mark_cache, offer, pull, pull_all, shared_age,
    take_expunged,
};
pub(crate) use text::{erase_text, remove_text_files};
#[cfg(feature = "text")]
pub(crate) use text::{language, text_view};
pub(crate) use writer::{Exclusive, PutAnswer, Writer};
