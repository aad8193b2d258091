//! The text view of an open store: the view, open, broken or off (`view.rs`), and its feed from committed
//! entries (`feed.rs`).

mod feed;
mod view;

pub(super) use feed::{catch_up_text, close_text, feed_batch, feed_text, reload_text};
#[cfg(feature = "sealing")]
pub(super) use feed::{drop_text_of, feed_text_of};
pub(crate) use feed::{erase_text, language, remove_text_files, text_view};
pub(super) use view::TextView;
