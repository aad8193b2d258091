//! The text view of an open store: open, broken or off.
//!
//! The view is derived, so nothing that happens to it keeps a store from opening, from reading or
//! from erasing: a view that cannot be used is set aside with the reason, and built anew by the
//! next search.

use std::sync::Arc;

use parking_lot::RwLock;

use crate::ledger::{Disk, EntryId, Ledger};
use crate::store::error::with_sources;
use crate::store::{Error, Options};
use crate::text::{self, OpenOutcome, Partitions, Text, TextOptions};

use super::folder::remove_text;
use super::inner::Inner;
use super::recovery::RecoveryReport;

/// The text view of an open store.
#[derive(Debug)]
pub(crate) struct TextView {
    /// `None` for a store that was opened without the view.
    options: Option<TextOptions>,
    state: RwLock<ViewState>,
    /// The words of unlocked persons, which outlive a view that is set aside.
    partitions: Arc<Partitions>,
}

#[derive(Debug)]
enum ViewState {
    Open(Arc<Text>),
    /// Why it cannot be used.
    Broken(String),
    Off,
}

impl TextView {
    /// Opens the view on a disk, unless the options do without.
    pub(super) fn open(
        disk: &Arc<dyn Disk>,
        ledger: &Arc<Ledger>,
        options: &Options,
        recovery: &mut RecoveryReport,
    ) -> Self {
        let partitions = Arc::default();
        let opened = options.text;
        let opened = opened.map(|text| open(disk, ledger, &partitions, text));
        let state = match opened {
            None => ViewState::Off,
            Some(Err(error)) => ViewState::Broken(with_sources(&error)),
            Some(Ok((text, found))) => {
                if let OpenOutcome::Rebuilt { reason } = found {
                    recovery.text_rebuilt = Some(reason);
                }
                ViewState::Open(Arc::new(text))
            }
        };
        Self {
            options: options.text,
            state: RwLock::new(state),
            partitions,
        }
    }

    /// Replaces the view by one on another disk that covers the ledger.
    pub(super) fn replace(&self, text: Result<Arc<Text>, Error>) {
        match text {
            Ok(text) => *self.state.write() = ViewState::Open(text),
            Err(error) => self.give_up(&error),
        }
    }

    /// Returns the view if it is open.
    pub(super) fn current(&self) -> Option<Arc<Text>> {
        match &*self.state.read() {
            ViewState::Open(text) => Some(Arc::clone(text)),
            ViewState::Broken(_) | ViewState::Off => None,
        }
    }

    /// Returns why the view of a store that has one cannot be used.
    pub(crate) fn unavailable(&self) -> Option<String> {
        match &*self.state.read() {
            ViewState::Broken(reason) => Some(reason.clone()),
            ViewState::Open(_) | ViewState::Off => None,
        }
    }

    /// Sets the view aside.
    pub(super) fn give_up(&self, error: &dyn std::error::Error) {
        let reason = with_sources(error);
        tracing::warn!(%reason, "the text view is set aside until the next search");
        *self.state.write() = ViewState::Broken(reason);
    }

    /// Returns whether entries of a ledger of this length are missing.
    pub(crate) fn is_behind(&self, ledger_len: u64) -> bool {
        let text = self.current();
        text.is_some_and(|text| text.watermark() < ledger_len)
    }

    /// # Errors
    /// As [`Text::compact`].
    pub(crate) fn compact(&self) -> Result<(), Error> {
        self.current().map_or(Ok(()), |text| text.compact())?;
        Ok(())
    }

    /// # Errors
    /// As [`Text::close`].
    pub(crate) fn close(&self) -> Result<(), Error> {
        self.current().map_or(Ok(()), |text| text.close())?;
        Ok(())
    }

    /// # Errors
    /// As [`Text::size`].
    pub(crate) fn size(&self) -> Result<(usize, u64), Error> {
        let size = self.current().map(|text| text.size());
        Ok(size.transpose()?.unwrap_or_default())
    }

    /// Returns the damage of the files of the view, and why they cannot be read.
    pub(crate) fn verify(&self) -> Vec<String> {
        let found = self.current().map(|text| text.verify());
        match found {
            None => Vec::new(),
            Some(Ok(found)) => found,
            Some(Err(error)) => vec![with_sources(&error)],
        }
    }
}

impl Inner {
    /// Returns the text view, and builds it anew if it was set aside.
    ///
    /// # Errors
    /// `ERR_TEXT` for a store that was opened without it, and while it cannot be built; storage
    /// errors.
    pub(crate) fn text_view(&self) -> Result<Arc<Text>, Error> {
        if let Some(text) = self.text().current() {
            return Ok(text);
        }
        let options = self.text().options.ok_or(text::Error::Off)?;
        // Neither a writer nor an erasure may come between reading the ledger and feeding.
        let _writer = self.exclusive()?;
        if let Some(text) = self.text().current() {
            return Ok(text);
        }
        let built = self.build_text(&self.derived_disk(), options);
        let text = built.inspect_err(|error| self.text().give_up(error))?;
        *self.text().state.write() = ViewState::Open(Arc::clone(&text));
        Ok(text)
    }

    /// Opens the view on another disk in place of this one.
    pub(super) fn reload_text(&self, disk: &Arc<dyn Disk>) {
        if let Some(options) = self.text().options {
            self.text().replace(self.build_text(disk, options));
        }
    }

    fn build_text(&self, disk: &Arc<dyn Disk>, options: TextOptions) -> Result<Arc<Text>, Error> {
        let partitions = &self.text().partitions;
        let (text, _) = open(disk, self.ledger_handle(), partitions, options)?;
        let text = Arc::new(text);
        self.feed_rest(&text)?;
        #[cfg(feature = "sealing")]
        self.feed_partitions(&text)?;
        Ok(text)
    }

    /// Drops the words of a person from memory.
    #[cfg(feature = "sealing")]
    pub(in crate::store) fn drop_text_of(&self, uid: &[u8; 16]) {
        self.text().partitions.drop_partition(*uid);
    }

    /// Deletes the files of the text view: they may hold words that must go, or take the room that
    /// an erasure needs.
    ///
    /// # Errors
    /// `ERR_TEXT`, `ERR_STORAGE_IO`.
    pub(crate) fn remove_text_files(&self, error: &dyn std::error::Error) -> Result<(), Error> {
        let Some(text) = self.text().current() else {
            return remove_text(self.disk());
        };
        self.text().give_up(error);
        Ok(text.remove()?)
    }

    /// Erases the text of rows. A view in which that fails is deleted as a whole, and so is one
    /// that is not open, because no later open would erase the rows there.
    ///
    /// # Errors
    /// `ERR_TEXT`; `ERR_STORAGE_IO`.
    pub(crate) fn erase_text(&self, rows: &[EntryId]) -> Result<(), Error> {
        let Some(text) = self.text().current() else {
            self.text().partitions.erase(rows);
            return remove_text(self.disk());
        };
        match text.erase(rows) {
            Ok(()) => Ok(()),
            Err(error) => self.remove_text_files(&error),
        }
    }
}

/// Opens the view of a ledger.
fn open(
    disk: &Arc<dyn Disk>,
    ledger: &Arc<Ledger>,
    partitions: &Arc<Partitions>,
    options: TextOptions,
) -> Result<(Text, OpenOutcome), text::Error> {
    let len = ledger.len();
    let ledger = Arc::clone(ledger);
    let fingerprint = move |entries| {
        let found = ledger.fingerprint(entries);
        found.unwrap_or_else(|error| {
            tracing::warn!(%error, "the text view cannot be bound to the ledger");
            None
        })
    };
    let fingerprint = Arc::new(fingerprint) as _;
    Text::open_of(disk, len, &fingerprint, partitions, options)
}
