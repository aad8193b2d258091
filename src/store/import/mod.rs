//! Import: the records of a file are stored as grains. Every import takes this path; reading and
//! validating files is the task of `interchange`.

mod admission;
mod batch;
mod conflict;
mod corrections;
mod entries;
mod forks;
mod holds;
mod lookup;
mod preview;
mod refusal;
mod summary;
mod tree;
mod turn;
mod vectors;

use crate::interchange::{ImportFile, Record, Signature};

use super::{Access, Error, Owner};
use crate::store::engine::Caller;
use crate::store::records::{ImportRecord, Record as Entry};
use crate::store::txn::Transaction;

use batch::Importer;
pub(crate) use conflict::{conflicts, exportable, resolve_conflict};
use preview::Preview;
pub use summary::{Conflict, Summary};
pub(crate) use tree::current_item;
pub(crate) use turn::has_turn;

/// See [`Store::import`](crate::Store::import).
pub(crate) fn import(store: &Access, reading: ImportFile) -> Result<Summary, Error> {
    import_with(store, reading, &mut |_| {})
}

/// See [`Store::import_with`](crate::Store::import_with).
pub(crate) fn import_with(
    store: &Access,
    reading: ImportFile,
    progress: &mut dyn FnMut(u64),
) -> Result<Summary, Error> {
    let format = reading.format;
    // AIMEM 5.3: a skipped check is part of the audit trail.
    let signature = reading.signature.map(Signature::name);
    let footer = reading.footer;
    let caller = store.caller()?;
    let importer = Importer::new(&store.engine, caller, None);
    let summary = run(store, importer, reading, progress)?;
    let record = Entry::Import(ImportRecord {
        format: format.name().to_owned(),
        signature: signature.map(str::to_owned),
        footer,
        counts: [
            summary.inserted,
            summary.updated,
            summary.unchanged,
            summary.conflicts.len() as u64,
            summary.refusals(),
        ],
    });
    let mut txn = Transaction::begin(&store.engine, caller)?;
    txn.record(&record)?;
    txn.commit()?;
    Ok(summary)
}

fn run(
    store: &Access,
    mut importer: Importer<'_>,
    mut reading: ImportFile,
    progress: &mut dyn FnMut(u64),
) -> Result<Summary, Error> {
    // No signature is stored that did not verify here, even if the reader of the file checked
    // it.
    reading.verify_signatures(store.engine.resolver());
    importer.summary = Summary {
        refused: reading.errors,
        findings: reading.findings,
        loss: reading.loss,
        ..Summary::default()
    };
    if let Some(base) = &reading.base {
        importer.expect(base)?;
    }
    // A handle that is not the owner's has no copy of the owner's own.
    importer.is_own = reading.is_own && importer.caller.is_owner();
    let ended = importer.continue_tree(&reading.records)?;
    let mut done = 0;
    let mut batch = Vec::new();
    let mut bytes = 0;
    reading.records.each(|record: Record| {
        bytes += record.grain.blob().len();
        batch.push(record);
        if batch.len() < BATCH_LEN && bytes < BATCH_BYTES {
            return Ok(());
        }
        bytes = 0;
        done += batch.len() as u64;
        let next = Vec::with_capacity(BATCH_LEN);
        importer.add_all(std::mem::replace(&mut batch, next))?;
        progress(done);
        Ok::<(), Error>(())
    })?;
    done += batch.len() as u64;
    importer.add_all(batch)?;
    progress(done);
    importer.end(ended)?;
    importer.keep(&reading.vectors)?;
    importer.finish()
}

/// See [`Admin::preview_import`](crate::Admin::preview_import).
pub(crate) fn preview_import(owner: Owner<'_>, reading: ImportFile) -> Result<Summary, Error> {
    owner.authorize_whole()?;
    let importer = Importer::new(owner.engine(), Caller::default(), Some(Preview::default()));
    run(owner.store(), importer, reading, &mut |_| {})
}

/// Records in a batch: enough to make a sync cheap, few enough to bound memory.
const BATCH_LEN: usize = 1_000;

/// The bytes of their blobs after which a batch is full.
const BATCH_BYTES: usize = 1 << 22;
