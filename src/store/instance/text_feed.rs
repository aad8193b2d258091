//! The feed of the text view from committed entries: the searchable text of a grain, its language,
//! and its conversation.

use std::ops::Range;
use std::sync::Arc;

use crate::codec::{ContentAddress, Value};
use crate::grain::Grain;
use crate::index::Column;
use crate::ledger::Disk;
use crate::store::state::Entry;
use crate::store::{Error, Options};
use crate::text::{self, Document, Language, OpenOutcome, Text};

use super::folder::remove_text;
use super::inner::Inner;
use super::recovery::RecoveryReport;

impl Inner {
    /// Brings the text view to the end of the ledger.
    ///
    /// # Errors
    /// `ERR_TEXT`; storage errors.
    pub(super) fn catch_up_text(&self) -> Result<(), Error> {
        let Some(text) = &self.text().0 else {
            return Ok(());
        };
        self.each_entry(text.watermark(), &mut |entry| feed(text, &entry))?;
        text.advance(self.ledger().len());
        Ok(())
    }

    /// Feeds committed entries to the text view.
    ///
    /// They are durable and indexed: a full disk under the view must not make the caller believe
    /// otherwise. The view catches up later.
    pub(super) fn feed_text(&self, entries: &[Entry<'_>], rows: &Range<u64>) {
        let Some(text) = &self.text().0 else {
            return;
        };
        // It resumes where it failed and skips nothing: a skipped row would be missing for good.
        let outcome = if text.watermark() == rows.start {
            entries.iter().try_for_each(|entry| feed(text, entry))
        } else {
            self.catch_up_text()
        };
        match outcome {
            Ok(()) => text.advance(rows.end),
            Err(error) => tracing::warn!(%error, "the text view lags behind"),
        }
    }

    /// Erases the text of rows. A view that is not open is deleted, because no later open would
    /// erase them there.
    ///
    /// # Errors
    /// `ERR_TEXT`; `ERR_STORAGE_IO`.
    pub(crate) fn erase_text(&self, rows: &[u64]) -> Result<(), Error> {
        match &self.text().0 {
            Some(text) => Ok(text.erase(rows)?),
            None => remove_text(self.disk()),
        }
    }

    /// Commits the text view at the end, if that saves the next open more than it costs.
    pub(super) fn close_text(&self) {
        let Some(text) = &self.text().0 else {
            return;
        };
        let uncommitted = self.ledger().len().saturating_sub(text.committed());
        if uncommitted >= WORTH_A_COMMIT
            && let Err(error) = text.close()
        {
            tracing::warn!(%error, "closing without committing the text view");
        }
    }
}

/// The text view of an open store; `None` if the options do without.
#[derive(Debug)]
pub(crate) struct TextView(Option<Text>);

impl TextView {
    /// Opens the view on a disk, unless the options do without.
    ///
    /// # Errors
    /// `ERR_TEXT`.
    pub(super) fn open(
        disk: &Arc<dyn Disk>,
        ledger_len: u64,
        options: &Options,
        recovery: &mut RecoveryReport,
    ) -> Result<Self, Error> {
        let Some(options) = options.text else {
            return Ok(Self(None));
        };
        let (text, found) = Text::open(disk, ledger_len, options)?;
        if let OpenOutcome::Rebuilt { reason } = found {
            recovery.text_rebuilt = Some(reason);
        }
        Ok(Self(Some(text)))
    }

    /// Returns the view.
    ///
    /// # Errors
    /// `ERR_TEXT` of a store opened without it.
    pub(super) fn text(&self) -> Result<&Text, text::Error> {
        self.0.as_ref().ok_or(text::Error::Off)
    }

    /// Returns whether entries of a ledger of this length are missing.
    pub(crate) fn is_behind(&self, ledger_len: u64) -> bool {
        let text = self.0.as_ref();
        text.is_some_and(|text| text.watermark() < ledger_len)
    }

    /// # Errors
    /// As [`Text::compact`].
    pub(crate) fn compact(&self) -> Result<(), Error> {
        self.0.as_ref().map_or(Ok(()), Text::compact)?;
        Ok(())
    }

    /// # Errors
    /// As [`Text::close`].
    pub(crate) fn close(&self) -> Result<(), Error> {
        self.0.as_ref().map_or(Ok(()), Text::close)?;
        Ok(())
    }

    /// # Errors
    /// As [`Text::size`].
    pub(crate) fn size(&self) -> Result<(usize, u64), Error> {
        let size = self.0.as_ref().map(Text::size);
        Ok(size.transpose()?.unwrap_or_default())
    }

    /// # Errors
    /// As [`Text::verify`].
    pub(crate) fn verify(&self) -> Result<Vec<String>, Error> {
        let findings = self.0.as_ref().map(Text::verify);
        Ok(findings.transpose()?.unwrap_or_default())
    }
}

fn feed(text: &Text, entry: &Entry<'_>) -> Result<(), Error> {
    match entry.grain() {
        Some(grain) => Ok(text.add(entry.row, document(grain))?),
        None => Ok(()),
    }
}

/// Returns the document of a grain: its words, and the values that rank it.
fn document(grain: &Grain) -> Document {
    let mut document = Document::default()
        .time_ms(grain.created_at().ms())
        .thread(conversation(grain))
        .order(Column::address(&grain.address()))
        .importance(
            grain
                .field("importance")
                .and_then(Value::as_f64)
                .unwrap_or(0.0),
        );
    for (field, words) in grain.searchable_text() {
        document = document.passage(field, words);
    }
    match language(grain) {
        Some(language) => document.language(language),
        None => document,
    }
}

/// Returns the number that the turns of one conversation share: 64 bits of a hash of its session,
/// user and namespace; 0 of a grain without a session.
fn conversation(grain: &Grain) -> u64 {
    let Some(session) = grain.text("session_id") else {
        return 0;
    };
    let namespace = grain.text("namespace").unwrap_or_default();
    let user = grain.text("user_id").unwrap_or_default();
    let name = format!("{namespace}\0{user}\0{session}");
    let [a, b, c, d, e, f, g, h, ..] = *ContentAddress::of(name.as_bytes()).as_bytes();
    u64::from_be_bytes([a, b, c, d, e, f, g, h])
}

/// From this many rows on, a commit now is cheaper than feeding them at every open.
const WORTH_A_COMMIT: u64 = 1024;

/// Returns the language that a grain declares.
pub(crate) fn language(grain: &Grain) -> Option<Language> {
    let context = grain.field("context").and_then(Value::as_map);
    let locale = context.and_then(|context| context.get("con:locale")?.as_text());
    // An unknown tag is a language without a stemmer.
    grain.text("lang").or(locale)?.parse().ok()
}
