//! Opening a store: its files, the completion of what a crash interrupted, and the threads that work
//! behind it.

use std::path::Path;
use std::sync::Arc;

use crate::code::ErrorCode;
use crate::ledger::{Disk, FileDisk, MemoryDisk};
use crate::store::audit::anchored;
use crate::store::commit::{keep_embedded, next_to_embed};
use crate::store::engine::{
    Background, Engine, authorize_locks, join, open_to_read, prepare_folder, refuse_follower,
    refuse_planted, report_stale,
};
use crate::store::erasure::{self, expunge_followed, resume_erasures};
#[cfg(feature = "sealing")]
use crate::store::keys::seal_unsealed;
use crate::store::{Access, Create, Error, Options};

use super::cache::{bring_up, fold_again, prepare_cache, refuse_cache};

/// See [`Store::open`](crate::Store::open).
pub(crate) fn open(path: impl AsRef<Path>, options: Options) -> Result<Access, Error> {
    match options.create {
        Create::ReadOnly => open_read_only(path.as_ref(), options),
        _ => open_folder(path.as_ref(), options, false),
    }
}

pub(crate) fn open_folder(path: &Path, options: Options, is_repair: bool) -> Result<Access, Error> {
    authorize_locks(path)?;
    let options = match options.shared.clone() {
        Some(sequence) => prepare_cache(path, &*sequence, options)?,
        None => options,
    };
    prepare_folder(path, options.create)?;
    let disk = Arc::new(FileDisk::new(path));
    refuse_planted(&disk, path)?;
    refuse_follower(&disk)?;
    refuse_cache(&disk, &options)?;
    let is_cache = options.shared.is_some();
    let engine = match join(Arc::clone(&disk) as _, path, options.clone(), is_repair) {
        Err(error) if is_cache && error.code() == ErrorCode::StorageDamaged => {
            fold_again(path, &options)?;
            join(disk, path, options, is_repair)?
        }
        joined => joined?,
    };
    finished(engine)
}

/// See [`Store::open_on`](crate::Store::open_on).
pub(crate) fn open_on(disk: Arc<dyn Disk>, options: Options) -> Result<Access, Error> {
    let path = Path::new("memory");
    match options.create {
        Create::ReadOnly => reader(&disk, path, options),
        _ => finished(join(disk, path, options, false)?),
    }
}

/// See [`Store::in_memory`](crate::Store::in_memory).
pub(crate) fn in_memory(options: Options) -> Result<Access, Error> {
    let options = Options {
        ballast_bytes: 0,
        ..options
    };
    let disk = MemoryDisk::in_unnamed_files(options.scratch.as_deref());
    open_on(Arc::new(disk), options)
}

/// See [`Create::ReadOnly`].
fn open_read_only(path: &Path, options: Options) -> Result<Access, Error> {
    prepare_folder(path, Create::ReadOnly)?;
    let disk = FileDisk::new(path);
    refuse_planted(&disk, path)?;
    let disk: Arc<dyn Disk> = Arc::new(disk);
    reader(&disk, path, options)
}

fn reader(disk: &Arc<dyn Disk>, path: &Path, options: Options) -> Result<Access, Error> {
    anchored(with_background(open_to_read(disk, path, options)?))
}

/// See [`Maintenance::tend`](crate::Maintenance::tend).
pub(crate) fn tend(store: &Access) -> Result<(), Error> {
    erasure::tend(&store.engine, store.engine.vacancy())
}

/// Completes what a crash interrupted, if this process keeps the store.
fn finished(mut engine: Engine) -> Result<Access, Error> {
    let stale_since = bring_up(&engine)?;
    if engine.is_keeper() {
        let waits = resume_at_opening(&engine).err();
        #[cfg(feature = "sealing")]
        seal_unsealed(&engine);
        engine.report_opening(waits.map(|error| error.to_string()));
    }
    report_stale(&mut engine, stale_since);
    anchored(with_background(engine))
}

fn with_background(engine: Engine) -> Access {
    Access::start(
        engine,
        Background {
            tend: erasure::tend,
            next_to_embed,
            keep_embedded,
        },
    )
}

/// Completes the erasures that a crash or a full disk interrupted. On a full disk the runs of
/// the index make room: they are derived, and no reader has them yet.
///
/// # Errors
/// Storage errors. The erasure then waits, and the store opens all the same.
fn resume_at_opening(engine: &Engine) -> Result<(), Error> {
    let resumed = expunge_followed(engine).and_then(|()| resume_erasures(engine));
    let resumed = match resumed {
        Err(error) if error.code() == ErrorCode::StorageFull => {
            engine.move_index_to_memory()?;
            resume_erasures(engine)
        }
        resumed => resumed,
    };
    resumed.inspect_err(|error| {
        tracing::warn!(%error, "an erasure waits");
        engine.erase_later();
    })
}
