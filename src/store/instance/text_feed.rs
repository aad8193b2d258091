//! The feed of the text view from committed entries: the searchable text of a grain, its language,
//! and its conversation.

use std::ops::Range;

use crate::codec::{ContentAddress, Value};
use crate::grain::Grain;
use crate::index::Column;
use crate::ledger::EntryId;
use crate::store::Error;
#[cfg(feature = "sealing")]
use crate::store::state::DecodedEntry;
use crate::store::state::Entry;
use crate::text::{Document, Language, Text};

use super::apply::WORTH_A_WORD;
use super::inner::Inner;

impl Inner {
    /// Brings the text view to the end of the ledger. A view that cannot be fed is set aside.
    pub(super) fn catch_up_text(&self) {
        let Some(text) = self.text().current() else {
            return;
        };
        let entries = self.ledger().len().saturating_sub(text.watermark());
        if entries >= WORTH_A_WORD {
            tracing::info!("adding {entries} entries of the ledger that the text index lacks");
        }
        if let Err(error) = self.feed_rest(&text) {
            self.text().give_up(&error);
        }
    }

    /// Feeds a text view with the entries that it lacks.
    ///
    /// # Errors
    /// `ERR_TEXT`; storage errors.
    pub(super) fn feed_rest(&self, text: &Text) -> Result<(), Error> {
        let from = EntryId::new(text.watermark());
        let conversations = &mut Conversations::default();
        self.each_entry(from, &mut |entry| feed(text, &entry, conversations))?;
        text.advance(self.ledger().len());
        Ok(())
    }

    /// Feeds committed entries to the text view.
    ///
    /// They are durable and indexed: a full disk under the view must not make the caller believe
    /// otherwise. The view catches up later.
    pub(super) fn feed_text(&self, entries: &[Entry<'_>], rows: &Range<EntryId>) {
        let Some(text) = self.text().current() else {
            return;
        };
        // It resumes where it failed and skips nothing: a skipped row would be missing for good.
        let known = &mut Conversations::default();
        let outcome = if text.watermark() == rows.start.get() {
            entries.iter().try_for_each(|it| feed(&text, it, known))
        } else {
            self.feed_rest(&text)
        };
        // The rest is read as it lies in the ledger, where a sealed entry has no words.
        let sealed = entries.iter().filter(|entry| entry.card.is_some());
        let mut sealed = sealed.into_iter();
        let outcome = outcome.and_then(|()| sealed.try_for_each(|it| feed(&text, it, known)));
        match outcome {
            Ok(()) => text.advance(rows.end.get()),
            Err(error) => tracing::warn!(%error, "the text view lags behind"),
        }
    }

    /// Adds the words of an opened entry to the partition of its person, in memory. While the view
    /// is set aside nothing is added: the view that is built anew is fed with all of them.
    #[cfg(feature = "sealing")]
    pub(in crate::store) fn feed_text_of(&self, entry: &Entry<'_>) -> Result<(), Error> {
        match self.text().current() {
            Some(text) => feed(&text, entry, &mut Conversations::default()),
            None => Ok(()),
        }
    }

    /// Feeds the partitions of the unlocked persons. Rows that are there already change nothing.
    ///
    /// # Errors
    /// Storage errors.
    #[cfg(feature = "sealing")]
    pub(super) fn feed_partitions(&self, text: &Text) -> Result<(), Error> {
        let conversations = &mut Conversations::default();
        for uid in self.keyring().uids() {
            for row in self.index().snapshot().sealed_for(&uid).rows()?.iter() {
                let entry = match self.ledger().read(row) {
                    Err(crate::ledger::Error::Erased { .. }) => continue,
                    entry => DecodedEntry::opened(entry?, self.keyring())?,
                };
                feed(text, &entry.as_entry(), conversations)?;
            }
        }
        Ok(())
    }

    /// Commits the text view at the end, if that saves the next open more than it costs.
    pub(super) fn close_text(&self) {
        let Some(text) = self.text().current() else {
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

/// Feeds an entry: the words of a sealed one go to the partition of its person, and to no file.
fn feed(text: &Text, entry: &Entry<'_>, known: &mut Conversations) -> Result<(), Error> {
    match (entry.grain(), entry.card) {
        (Some(grain), None) => text.add(entry.row, document(grain, known))?,
        (Some(grain), Some(card)) => {
            text.add_to_partition(card.uid, entry.row, document(grain, known));
        }
        (None, _) => {}
    }
    Ok(())
}

/// Returns the document of a grain: its words, and the values that rank it.
fn document(grain: &Grain, known: &mut Conversations) -> Document {
    let mut document = Document::default()
        .time_ms(grain.event_time().ms())
        .thread(known.number_of(grain))
        .said_by(grain.text("role"), grain.text("observer_id"))
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

/// The conversation of the grain before: turns of one follow each other, and its number is a hash.
#[derive(Default)]
struct Conversations {
    name: String,
    next: String,
    number: u64,
}

impl Conversations {
    /// Returns the number that the turns of one conversation share: 64 bits of a hash of its
    /// session, user and namespace; 0 of a grain without a session.
    fn number_of(&mut self, grain: &Grain) -> u64 {
        let Some(session) = grain.text("session_id") else {
            return 0;
        };
        let namespace = grain.text("namespace").unwrap_or_default();
        let user = grain.text("user_id").unwrap_or_default();
        self.next.clear();
        for part in [namespace, "\0", user, "\0", session] {
            self.next.push_str(part);
        }
        if self.next != self.name {
            let [a, b, c, d, e, f, g, h, ..] = *ContentAddress::of(self.next.as_bytes()).as_bytes();
            self.number = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
            std::mem::swap(&mut self.next, &mut self.name);
        }
        self.number
    }
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
