//! The text view of an open store: open, broken or off.
//!
//! The view is derived, so nothing that happens to it keeps a store from opening, from reading or
//! from erasing: a view that cannot be used is set aside with the reason, and built anew by the
//! next search.

use std::sync::Arc;

use crate::ledger::{Disk, Ledger};
use crate::process::RwLock;
use crate::store::error::with_sources;
use crate::store::{Error, Options};
use crate::text::{self, OpenOutcome, Partitions, Text, TextOptions};

use crate::store::engine::recovery::RecoveryReport;

/// The text view of an open store.
#[derive(Debug)]
pub(crate) struct TextView {
    /// `None` for a store that was opened without the view.
    pub(super) options: Option<TextOptions>,
    state: RwLock<ViewState>,
    /// The words of unlocked persons, which outlive a view that is set aside.
    pub(super) partitions: Arc<Partitions>,
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
    pub(in crate::store::engine) fn open(
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
    pub(in crate::store::engine) fn replace(&self, text: Result<Arc<Text>, Error>) {
        match text {
            Ok(text) => *self.state.write() = ViewState::Open(text),
            Err(error) => self.give_up(&error),
        }
    }

    /// Returns the view if it is open.
    pub(in crate::store::engine) fn current(&self) -> Option<Arc<Text>> {
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
    pub(in crate::store::engine) fn give_up(&self, error: &dyn std::error::Error) {
        let reason = with_sources(error);
        tracing::warn!(%reason, "the text view is set aside until the next search");
        *self.state.write() = ViewState::Broken(reason);
    }

    /// Returns whether entries of a ledger of this length are missing.
    pub(crate) fn is_behind(&self, ledger_len: u64) -> bool {
        let text = self.current();
        text.is_some_and(|text| text.watermark() < ledger_len)
    }

    /// Returns how many of the entries of a ledger of this length no file of the view covers.
    pub(crate) fn uncommitted(&self, ledger_len: u64) -> u64 {
        let committed = self.current().map(|text| text.committed());
        committed.map_or(0, |committed| ledger_len.saturating_sub(committed))
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

/// Opens the view of a ledger.
pub(super) fn open(
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
