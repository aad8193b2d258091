//! The feed of the text view from committed entries: the searchable text of a grain, its language,
//! and its conversation.

use std::ops::Range;
use std::sync::Arc;

use crate::codec::{ContentAddress, Value};
use crate::grain::Grain;
use crate::index::Column;
use crate::ledger::{Disk, EntryId};
use crate::policy::Capability;
use crate::render::LineShape;
use crate::store::Error;
use crate::store::state::{DecodedEntry, Entry};
use crate::text::{self, Document, Language, Text, TextOptions};

use super::view::open;
use crate::store::engine::apply::WORTH_A_WORD;
use crate::store::engine::folder::remove_text;
use crate::store::engine::instance::Engine;
use crate::store::engine::processes::Reach;

/// Brings the text view to the end of the ledger. A view that cannot be fed is set aside.
pub(in crate::store::engine) fn catch_up_text(engine: &Engine) {
    let Some(text) = engine.text().current() else {
        return;
    };
    let entries = engine.ledger().len().saturating_sub(text.watermark());
    if entries >= WORTH_A_WORD {
        tracing::info!("adding {entries} entries of the ledger that the text index lacks");
    }
    if let Err(error) = feed_rest(engine, &text) {
        engine.text().give_up(&error);
    }
}

/// Feeds a text view with the entries that it lacks.
///
/// # Errors
/// `ERR_TEXT`; storage errors.
pub(in crate::store::engine) fn feed_rest(engine: &Engine, text: &Text) -> Result<(), Error> {
    let from = EntryId::new(text.watermark());
    let conversations = &mut Conversations::default();
    engine.each_entry(from, &mut |entry| feed(text, &entry, conversations))?;
    text.advance(engine.ledger().len());
    Ok(())
}

/// Feeds a view that has all before the entries `rows` with them; those that were erased may be
/// missing. A view that lacks more reads it later, see [`catch_up_text`].
pub(in crate::store::engine) fn feed_batch(
    engine: &Engine,
    rows: &Range<EntryId>,
    entries: &[DecodedEntry],
) {
    let text = engine.text().current();
    let Some(text) = text.filter(|text| text.watermark() == rows.start.get()) else {
        return;
    };
    let known = &mut Conversations::default();
    let mut entries = entries.iter().map(DecodedEntry::as_entry);
    match entries.try_for_each(|entry| feed(&text, &entry, known)) {
        Ok(()) => text.advance(rows.end.get()),
        Err(error) => engine.text().give_up(&error),
    }
}

/// Feeds committed entries to the text view.
///
/// They are durable and indexed: a full disk under the view must not make the caller believe
/// otherwise. The view catches up later.
pub(in crate::store::engine) fn feed_text(
    engine: &Engine,
    entries: &[Entry<'_>],
    rows: &Range<EntryId>,
) {
    let Some(text) = engine.text().current() else {
        return;
    };
    // It resumes where it failed and skips nothing: a skipped row would be missing for good.
    let known = &mut Conversations::default();
    let outcome = if text.watermark() == rows.start.get() {
        entries.iter().try_for_each(|it| feed(&text, it, known))
    } else {
        feed_rest(engine, &text)
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
pub(in crate::store) fn feed_text_of(engine: &Engine, entry: &Entry<'_>) -> Result<(), Error> {
    match engine.text().current() {
        Some(text) => feed(&text, entry, &mut Conversations::default()),
        None => Ok(()),
    }
}

/// Feeds the partitions of the unlocked persons. Rows that are there already change nothing.
///
/// # Errors
/// Storage errors.
#[cfg(feature = "sealing")]
pub(in crate::store::engine) fn feed_partitions(engine: &Engine, text: &Text) -> Result<(), Error> {
    let conversations = &mut Conversations::default();
    for uid in engine.keyring().uids() {
        for row in engine.index().snapshot().sealed_for(&uid).rows()?.iter() {
            let entry = match engine.ledger().read(row) {
                Err(crate::ledger::Error::Erased { .. }) => continue,
                entry => DecodedEntry::opened(entry?, engine.keyring())?,
            };
            feed(text, &entry.as_entry(), conversations)?;
        }
    }
    Ok(())
}

/// Commits the text view at the end, if that saves the next open more than it costs.
pub(in crate::store::engine) fn close_text(engine: &Engine) {
    let Some(text) = engine.text().current() else {
        return;
    };
    let uncommitted = engine.ledger().len().saturating_sub(text.committed());
    if uncommitted >= WORTH_A_COMMIT
        && let Err(error) = text.close()
    {
        tracing::warn!(%error, "closing without committing the text view");
    }
}

/// Returns the text view, and builds it anew if it was set aside.
///
/// # Errors
/// `ERR_TEXT` for a store that was opened without it, and while it cannot be built; storage
/// errors.
pub(crate) fn text_view(engine: &Engine) -> Result<Arc<Text>, Error> {
    if let Some(text) = engine.text().current() {
        return Ok(text);
    }
    let options = engine.text().options.ok_or(text::Error::Off)?;
    // Neither a writer nor an erasure may come between reading the ledger and feeding.
    let _writer = engine.exclusive(Reach::Here)?;
    if let Some(text) = engine.text().current() {
        return Ok(text);
    }
    let built = build_text(engine, &engine.derived_disk(), options);
    let text = built.inspect_err(|error| engine.text().give_up(error))?;
    engine.text().replace(Ok(Arc::clone(&text)));
    Ok(text)
}

/// Opens the view on another disk in place of this one.
pub(in crate::store::engine) fn reload_text(engine: &Engine, disk: &Arc<dyn Disk>) {
    if let Some(options) = engine.text().options {
        engine.text().replace(build_text(engine, disk, options));
    }
}

fn build_text(
    engine: &Engine,
    disk: &Arc<dyn Disk>,
    options: TextOptions,
) -> Result<Arc<Text>, Error> {
    let partitions = &engine.text().partitions;
    let (text, _) = open(disk, engine.ledger_handle(), partitions, options)?;
    let text = Arc::new(text);
    feed_rest(engine, &text)?;
    #[cfg(feature = "sealing")]
    feed_partitions(engine, &text)?;
    Ok(text)
}

/// Drops the words of a person from memory.
#[cfg(feature = "sealing")]
pub(in crate::store) fn drop_text_of(engine: &Engine, uid: &[u8; 16]) {
    engine.text().partitions.drop_partition(*uid);
}

/// Deletes the files of the text view: they may hold words that must go, or take the room that
/// an erasure needs.
///
/// # Errors
/// `ERR_TEXT`, `ERR_STORAGE_IO`.
pub(crate) fn remove_text_files(
    engine: &Engine,
    error: &dyn std::error::Error,
) -> Result<(), Error> {
    let Some(text) = engine.text().current() else {
        return remove_text(engine.disk());
    };
    engine.text().give_up(error);
    Ok(text.remove()?)
}

/// Erases the text of rows. A view in which that fails is deleted as a whole, and so is one
/// that is not open, because no later open would erase the rows there.
///
/// # Errors
/// `ERR_TEXT`; `ERR_STORAGE_IO`.
pub(crate) fn erase_text(engine: &Engine, rows: &[EntryId]) -> Result<(), Error> {
    let Some(text) = engine.text().current() else {
        engine.text().partitions.erase(rows);
        return remove_text(engine.disk());
    };
    match text.erase(rows) {
        Ok(()) => Ok(()),
        Err(error) => remove_text_files(engine, &error),
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
        .order(Column::address(&grain.address()) & TOLD_APART)
        .shape(LineShape::of(grain))
        .open_to_all(Capability::default().sees(grain))
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

/// The bits of an address that break ties between equal scores: enough to tell the grains of a store apart
/// nearly always, and a column takes as many bits as its values have.
const TOLD_APART: u64 = !0 << 24;

/// From this many rows on, a commit now is cheaper than feeding them at every open.
const WORTH_A_COMMIT: u64 = 1024;

/// Returns the language that a grain declares.
pub(crate) fn language(grain: &Grain) -> Option<Language> {
    let context = grain.field("context").and_then(Value::as_map);
    let locale = context.and_then(|context| context.get("con:locale")?.as_text());
    // An unknown tag is a language without a stemmer.
    grain.text("lang").or(locale)?.parse().ok()
}
