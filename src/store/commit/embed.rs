//! The steps of embedding: the texts of the grains that wait for a vector of a model, and storing the
//! vectors that it made of them.
//!
//! The queue, and the thread that runs the steps, are in `engine/embedding/worker.rs`.

use crate::code::ErrorCode;
use crate::codec::ContentAddress;
use crate::grain::Grain;
use crate::ledger::{EntryId, Kind};
#[cfg(feature = "text")]
use crate::store::Access;
use crate::store::engine::{Caller, EmbedQueue, EmbedText, Engine};
use crate::store::error::with_sources;
use crate::store::read::{Embedding, Lengths, judge_embedding, without_vector};
use crate::store::records::Record;
use crate::store::txn::Transaction;
use crate::store::{Embedder, EmbedderStatus, Error};

/// Returns the model that embeds questions.
#[cfg(feature = "text")]
pub(crate) fn embedder(store: &Access) -> Option<&dyn Embedder> {
    store.engine.options().embedders.first().map(|it| &**it)
}

/// Returns the vector of a question; `None` if it says nothing to the model, or there is none.
///
/// # Errors
/// `ERR_EMBEDDER`.
#[cfg(feature = "text")]
pub(crate) fn embedded(store: &Access, question: &str) -> Result<Option<Vec<f32>>, Error> {
    let question = question.trim();
    let Some(embedder) = embedder(store).filter(|_| !question.is_empty()) else {
        return Ok(None);
    };
    let vector = embedder.embed_query(cut(question));
    let vector = vector.map_err(|source| Error::embedder(embedder, source))?;
    check_vector(embedder, &vector)?;
    let says_something = vector.iter().any(|value| *value != 0.0);
    Ok(says_something.then_some(vector))
}

/// Returns the texts of the next batch; none if no grain waits or another process embeds.
///
/// # Errors
/// Storage errors.
pub(crate) fn next_to_embed(engine: &Engine, model: &EmbedQueue) -> Result<Vec<EmbedText>, Error> {
    if !engine.is_keeper() {
        return Ok(Vec::new());
    }
    find_waiting(engine, model)?;
    loop {
        let rows = model.waiting().first();
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let snapshot = engine.snapshot();
        let lacking = without_vector(engine, &snapshot, model.embedder.model(), &rows)?;
        let mut batch = Vec::new();
        for row in rows.iter() {
            let text = match lacking.contains(row) {
                true => text_to_embed(engine, row)?,
                false => None,
            };
            match text {
                Some(text) => batch.push(text),
                None => model.waiting().rows.remove(row),
            }
        }
        if !batch.is_empty() {
            return Ok(batch);
        }
    }
}

/// Stores the vectors of a batch, of those grains that are still there; returns how many.
///
/// # Errors
/// `ERR_EMBEDDER` for vectors of another length than the model says; `ERR_EMBEDDING`; storage
/// errors.
pub(crate) fn keep_embedded(
    engine: &Engine,
    model: &EmbedQueue,
    batch: &[EmbedText],
    vectors: Vec<Vec<f32>>,
) -> Result<u64, Error> {
    let embedder = &*model.embedder;
    let mut txn = Transaction::begin(engine, Caller::default())?;
    let snapshot = engine.snapshot();
    let mut lengths = Lengths::default();
    for (of, vector) in batch.iter().zip(vectors) {
        check_vector(embedder, &vector)?;
        // Erased or locked while the model worked: nothing of it may be stored.
        let is_there = engine.as_of(&snapshot).locate(&of.address)?.is_some();
        let says_nothing = vector.iter().all(|value| *value == 0.0);
        if !is_there || says_nothing {
            continue;
        }
        let embedding = Embedding {
            of: of.address,
            model: embedder.model().to_owned(),
            vector,
        };
        judge_embedding(engine, &snapshot, &embedding, &mut lengths)?;
        txn.record(&Record::Embedding(embedding.to_record(None)))?;
    }
    let kept = txn.frame().len() as u64;
    txn.commit()?;
    Ok(kept)
}

/// Embeds every grain that waits, by the calling thread.
///
/// # Errors
/// `ERR_EMBEDDER`; storage errors.
pub(crate) fn embed_waiting(engine: &Engine) -> Result<(), Error> {
    for model in engine.embeddings().models() {
        let _turn = model.turn();
        model.waiting().retry();
        let drained = model.drain(
            || Some(next_to_embed(engine, model)),
            |batch, vectors| Some(keep_embedded(engine, model, batch, vectors)),
        );
        drained.unwrap_or(Ok(()))?;
        if let Some(reason) = model.status(0).failed {
            return Err(Error::embedder(&*model.embedder, reason.into()));
        }
    }
    Ok(())
}

/// Returns how far the grains are embedded, by each model.
pub(crate) fn embedder_statuses(engine: &Engine) -> Vec<EmbedderStatus> {
    let status = |model: &EmbedQueue| {
        let looked = match engine.is_keeper() {
            true => find_waiting(engine, model),
            false => Ok(()),
        };
        let mut status = model.status(engine.ledger().len());
        if let Err(error) = looked {
            status.failed = Some(with_sources(&error));
        }
        status
    };
    engine.embeddings().models().iter().map(status).collect()
}

/// Looks for the grains without a vector, if that was not done yet.
fn find_waiting(engine: &Engine, model: &EmbedQueue) -> Result<(), Error> {
    // First, so that a grain which comes meanwhile is there too.
    if std::mem::replace(&mut model.waiting().is_known, true) {
        return Ok(());
    }
    let snapshot = engine.snapshot();
    let found = without_vector(
        engine,
        &snapshot,
        model.embedder.model(),
        &snapshot.grains(),
    );
    let mut waiting = model.waiting();
    match found {
        Ok(rows) => {
            waiting.rows.unite(&rows);
            Ok(())
        }
        Err(error) => {
            waiting.is_known = false;
            Err(error)
        }
    }
}

/// Returns the text of a grain; `None` of one without words, and of one that is gone, locked or
/// damaged.
fn text_to_embed(engine: &Engine, row: EntryId) -> Result<Option<EmbedText>, Error> {
    let entry = match engine.entry(row) {
        Ok(entry) => entry,
        // It may be there again at the next attempt.
        Err(error) if error.code() == ErrorCode::StorageIo => return Err(error),
        Err(_) => return Ok(None),
    };
    if entry.header.kind != Kind::Grain {
        return Ok(None);
    }
    let address = ContentAddress::new(entry.hash);
    let Ok(grain) = Grain::from_verified(entry.body.into_owned(), address) else {
        return Ok(None);
    };
    let mut text = String::new();
    for (_, words) in grain.searchable_text() {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(words.trim());
    }
    let text = cut(text.trim());
    Ok((!text.is_empty()).then(|| EmbedText {
        row,
        address: grain.address(),
        text: text.to_owned(),
    }))
}

/// Checks the length of a vector that a model made, and that it is a vector.
fn check_vector(embedder: &dyn Embedder, vector: &[f32]) -> Result<(), Error> {
    let (found, wanted) = (vector.len(), embedder.dimensions());
    let reason = if found != wanted {
        format!("a vector of {found} numbers instead of {wanted}")
    } else if vector.iter().any(|value| !value.is_finite()) {
        "a vector of numbers that are not finite".to_owned()
    } else {
        return Ok(());
    };
    Err(Error::embedder(embedder, reason.into()))
}

/// Cuts a text to the length that a model is asked about.
fn cut(text: &str) -> &str {
    let mut end = text.len().min(TEXT_LEN_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// The longest text that a model is asked about, in bytes.
const TEXT_LEN_MAX: usize = 32 << 10;
