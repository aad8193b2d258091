//! The text view of a store in a build without the feature `text`: there is none, and nothing is
//! fed.
//!
//! A build with the feature may have left one in the folder of the store. It lags behind like that
//! of a store opened without its view, and the next open with the feature brings it up to date.

use std::ops::Range;
use std::sync::Arc;

use crate::ledger::{Disk, EntryId, Ledger};
#[cfg(feature = "sealing")]
use crate::store::records::Uid;
use crate::store::state::Entry;
use crate::store::{Error, Options};

use super::folder::remove_text;
use super::inner::Inner;
use super::recovery::RecoveryReport;

/// No text view.
#[derive(Debug)]
pub(crate) struct TextView;

impl TextView {
    pub(super) fn open(
        _disk: &Arc<dyn Disk>,
        _ledger: &Arc<Ledger>,
        _options: &Options,
        _recovery: &mut RecoveryReport,
    ) -> Self {
        Self
    }

    pub(crate) fn unavailable(&self) -> Option<String> {
        None
    }

    pub(crate) fn is_behind(&self, _ledger_len: u64) -> bool {
        false
    }

    pub(crate) fn compact(&self) -> Result<(), Error> {
        Ok(())
    }

    pub(crate) fn close(&self) -> Result<(), Error> {
        Ok(())
    }

    pub(crate) fn size(&self) -> Result<(usize, u64), Error> {
        Ok((0, 0))
    }

    pub(crate) fn verify(&self) -> Vec<String> {
        Vec::new()
    }
}

impl Inner {
    pub(super) fn catch_up_text(&self) {}

    pub(super) fn feed_text(&self, _entries: &[Entry<'_>], _rows: &Range<EntryId>) {}

    /// Deletes a view that is there, because no later open would erase the rows from it.
    pub(crate) fn erase_text(&self, _rows: &[EntryId]) -> Result<(), Error> {
        remove_text(self.disk())
    }

    pub(crate) fn remove_text_files(&self, _: &dyn std::error::Error) -> Result<(), Error> {
        remove_text(self.disk())
    }

    pub(super) fn reload_text(&self, _disk: &Arc<dyn Disk>) {}

    pub(super) fn close_text(&self) {}

    #[cfg(feature = "sealing")]
    pub(in crate::store) fn feed_text_of(&self, _entry: &Entry<'_>) -> Result<(), Error> {
        Ok(())
    }

    #[cfg(feature = "sealing")]
    pub(in crate::store) fn drop_text_of(&self, _uid: &Uid) {}
}
