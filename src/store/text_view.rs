use std::ops::{ControlFlow, Range};

use crate::codec::{ContentAddress, Value};
use crate::grain::Grain;
use crate::index::Column;
use crate::ledger::Kind;
use crate::text::{self, Document, Text};

use super::commit::{Frame, What};
use super::open::{Inner, Opened};
use super::{Error, Store};

impl Store {
    /// Commits the text view, so that the next open need not feed it again.
    ///
    /// Grains are durable without it; it only saves time. Of a store opened without the view there
    /// is nothing to do.
    ///
    /// # Errors
    /// `ERR_TEXT`.
    pub fn flush_text(&self) -> Result<(), Error> {
        match &self.inner.text {
            Some(text) => Ok(text.close()?),
            None => Ok(()),
        }
    }

    pub(crate) fn text_view(&self) -> Result<&Text, text::Error> {
        self.inner.text.as_ref().ok_or(text::Error::Off)
    }
}

impl Inner {
    /// Brings the text view to where the ledger is.
    pub(super) fn catch_up_text(&self) -> Result<(), Error> {
        let Some(text) = &self.text else {
            return Ok(());
        };
        let mut outcome = Ok(());
        self.ledger.scan(text.watermark(), &mut |entry| {
            if entry.header.kind == Kind::Grain
                && let Ok(grain) = Grain::from_proven(entry.body.to_vec())
            {
                outcome = feed(text, entry.header.sequence, &grain);
            }
            match outcome {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        })?;
        outcome?;
        text.advance(self.ledger.len());
        Ok(())
    }

    /// Feeds a frame to the text view.
    ///
    /// The grains are durable and indexed: a full disk under the view must not make the caller
    /// believe otherwise. It catches up later.
    pub(super) fn feed_text(&self, rows: &Range<u64>, frame: &Frame) {
        let Some(text) = &self.text else {
            return;
        };
        // After a failure, and never past it: what is skipped would be missing for good.
        let outcome = if text.watermark() == rows.start {
            let items = rows.clone().zip(&frame.items);
            let mut grains = items.filter_map(|(row, item)| match &item.what {
                What::Grain(grain, _) => Some((row, grain)),
                What::Record(..) => None,
            });
            grains.try_for_each(|(row, grain)| feed(text, row, grain))
        } else {
            self.catch_up_text()
        };
        match outcome {
            Ok(()) => text.advance(rows.end),
            Err(error) => tracing::warn!(%error, "the text view lags behind"),
        }
    }

    /// Commits the text view at the end, if that saves the next open more than it costs.
    pub(super) fn close_text(&self) {
        let Some(text) = &self.text else {
            return;
        };
        let uncommitted = self.ledger.len().saturating_sub(text.committed());
        if uncommitted >= WORTH_A_COMMIT
            && let Err(error) = text.close()
        {
            tracing::warn!(%error, "closing without committing the text view");
        }
    }
}

/// Opens the view at `place`, unless the options do without.
pub(super) fn open(
    place: &text::Place,
    ledger_len: u64,
    options: Option<text::Options>,
    opened: &mut Opened,
) -> Result<Option<Text>, Error> {
    let Some(options) = options else {
        return Ok(None);
    };
    let (text, found) = Text::open(place, ledger_len, options)?;
    if let text::Opened::Rebuilt { reason } = found {
        opened.text_rebuilt = Some(reason);
    }
    Ok(Some(text))
}

fn feed(text: &Text, row: u64, grain: &Grain) -> Result<(), Error> {
    Ok(text.add(row, document(grain))?)
}

/// Returns what a grain says, and what ranks it.
fn document(grain: &Grain) -> Document {
    let mut document = Document::default()
        .time_ms(grain.created_at().ms())
        .thread(thread(grain))
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

/// Returns the language that a grain says it is in.
pub(crate) fn language(grain: &Grain) -> Option<text::Language> {
    let context = grain.field("context").and_then(Value::as_map);
    let locale = context.and_then(|context| context.get("con:locale")?.as_text());
    // An unknown tag is a language without a stemmer.
    grain.text("lang").or(locale)?.parse().ok()
}

/// Returns what the turns of a conversation have in common: 64 bits of a hash of where and what it
/// is called.
fn thread(grain: &Grain) -> u64 {
    let Some(session) = grain.text("session_id") else {
        return 0;
    };
    let namespace = grain.text("namespace").unwrap_or_default();
    let user = grain.text("user_id").unwrap_or_default();
    let name = format!("{namespace}\0{user}\0{session}");
    let [a, b, c, d, e, f, g, h, ..] = *ContentAddress::of(name.as_bytes()).as_bytes();
    u64::from_be_bytes([a, b, c, d, e, f, g, h])
}

/// Rows that are quicker committed now than fed at every open.
const WORTH_A_COMMIT: u64 = 1024;
