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
use crate::store::state::{DecodedEntry, Entry};
use crate::store::{Error, Options};

use super::folder::remove_text;
use super::instance::Engine;
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

    pub(crate) fn uncommitted(&self, _ledger_len: u64) -> u64 {
        0
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

pub(super) fn catch_up_text(_: &Engine) {}

pub(super) fn feed_batch(_: &Engine, _rows: &Range<EntryId>, _entries: &[DecodedEntry]) {}

pub(super) fn feed_text(_: &Engine, _entries: &[Entry<'_>], _rows: &Range<EntryId>) {}

/// Deletes a view that is there, because no later open would erase the rows from it.
pub(crate) fn erase_text(engine: &Engine, _rows: &[EntryId]) -> Result<(), Error> {
    remove_text(engine.disk())
}

pub(crate) fn remove_text_files(engine: &Engine, _: &dyn std::error::Error) -> Result<(), Error> {
    remove_text(engine.disk())
}

pub(super) fn reload_text(_: &Engine, _disk: &Arc<dyn Disk>) {}

pub(super) fn close_text(_: &Engine) {}

#[cfg(feature = "sealing")]
pub(in crate::store) fn feed_text_of(_: &Engine, _entry: &Entry<'_>) -> Result<(), Error> {
    Ok(())
}

#[cfg(feature = "sealing")]
pub(in crate::store) fn drop_text_of(_: &Engine, _uid: &Uid) {}
