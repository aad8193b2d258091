//! Opening the cache of a shared ledger: a directory that is brought to the head of the sequence, from
//! nothing if it was lost.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use grainstore_shared::{Identity, Sequence};

use crate::code::ErrorCode;
use crate::grain::Time;
use crate::ledger::{self, Disk, EntryId, FileDisk};
use crate::store::engine::{
    Engine, authorize_cache, mark_cache, prepare_folder, pull, refuse_planted,
};
use crate::store::records::Manifest;
use crate::store::replica::{begin_shared, fold, shared_identity};
use crate::store::{Create, Error, Options};

/// Makes sure that the directory is a cache of the sequence, which is begun if the options allow.
/// Returns the options with which it is opened.
///
/// # Errors
/// As [`Store::open`](crate::Store::open) for a store of its own, said of the sequence; `ERR_UNREACHABLE`
/// unless the options allow a cache that is stale; `ERR_BACKUP_DIVERGED` for the cache of another store.
pub(super) fn prepare_cache(
    path: &Path,
    sequence: &dyn Sequence,
    options: Options,
) -> Result<Options, Error> {
    let identity = shared_identity(sequence);
    let identity = match (identity, options.create) {
        (Ok(Some(_)), Create::New) => {
            return Err(Error::Exists {
                path: path.to_owned(),
            });
        }
        (Ok(Some(identity)), _) => identity,
        (Ok(None), Create::Never | Create::ReadOnly) => {
            // The sequence knows its own name.
            let missing = || grainstore_shared::Error::Missing(path.display().to_string());
            let missing = sequence.head().err().unwrap_or_else(missing);
            return Err(ledger::Error::from(missing).into());
        }
        (Ok(None), _) => {
            let manifest = Manifest::new(&*options.random, options.clock.now())?;
            begin_shared(sequence, &manifest.to_json().into_bytes())?
        }
        (Err(error), _) if is_offline(&error.code(), &options) => {
            tracing::warn!(%error, "the cache is opened as it is");
            return Ok(Options {
                create: Create::Never,
                ..options
            });
        }
        (Err(error), _) => return Err(error.into()),
    };
    fold_if_missing(path, sequence, &identity, &options)?;
    Ok(Options {
        create: Create::Never,
        ..options
    })
}

/// Folds the sequence into a directory in which there is no store yet.
fn fold_if_missing(
    path: &Path,
    sequence: &dyn Sequence,
    identity: &Identity,
    options: &Options,
) -> Result<(), Error> {
    prepare_folder(path, Create::IfMissing)?;
    let disk = FileDisk::new(path);
    refuse_planted(&disk, path)?;
    match Manifest::read(&disk, path)? {
        Some(found) if found != Manifest::parse(&identity.manifest)? => {
            return Err(Error::OtherStore {
                path: path.to_owned(),
            });
        }
        Some(_) => return authorize_cache(&disk, true),
        None => mark_cache(&disk)?,
    }
    fold_in_turn(path, sequence, identity, options)
}

/// Folds the sequence, or waits for the process that does.
fn fold_in_turn(
    path: &Path,
    sequence: &dyn Sequence,
    identity: &Identity,
    options: &Options,
) -> Result<(), Error> {
    let mut waited = Duration::ZERO;
    loop {
        match fold(sequence, identity, path) {
            Err(error) if error.code() == ErrorCode::StoreLocked && waited < FOLD_WAIT => {
                options.clock.pause(FOLD_POLL);
                waited = waited.saturating_add(FOLD_POLL);
            }
            folded => return folded,
        }
    }
}

/// Folds the sequence into a cache that does not open: frames of it that a crash kept from being whole are
/// there, or an erasure that accounts for a blank body is not.
pub(super) fn fold_again(path: &Path, options: &Options) -> Result<(), Error> {
    let Some(sequence) = &options.shared else {
        return Ok(());
    };
    let identity = shared_identity(&**sequence)?;
    let missing = || grainstore_shared::Error::Missing(path.display().to_string());
    let identity = identity.ok_or_else(|| ledger::Error::from(missing()))?;
    fold_in_turn(path, &**sequence, &identity, options)
}

/// Brings an open cache to the head. Returns the time of the newest entry of one whose sequence does not
/// answer.
///
/// # Errors
/// As [`pull`], unless the options allow a cache that is stale.
pub(super) fn bring_up(engine: &Engine) -> Result<Option<Time>, Error> {
    match pull(engine) {
        Err(error) if is_offline(&error.code(), engine.options()) => {
            let last = engine.ledger().len().checked_sub(1).map(EntryId::new);
            let newest = last.and_then(|last| engine.ledger().stated(last).ok());
            let newest = newest.map(|header| Time::from_ms(header.time_ms));
            Ok(Some(newest.unwrap_or(engine.manifest().created_at)))
        }
        pulled => pulled.map(|()| None),
    }
}

fn is_offline(code: &ErrorCode, options: &Options) -> bool {
    *code == ErrorCode::Unreachable && options.stale_ok
}

/// Refuses a cache that is opened as a store of its own.
///
/// # Errors
/// As [`authorize_cache`].
pub(super) fn refuse_cache(disk: &Arc<FileDisk>, options: &Options) -> Result<(), Error> {
    let disk: &dyn Disk = &**disk;
    authorize_cache(disk, options.shared.is_some())
}

const FOLD_POLL: Duration = Duration::from_millis(20);
/// A sequence of a million entries is folded in less.
const FOLD_WAIT: Duration = Duration::from_secs(120);
