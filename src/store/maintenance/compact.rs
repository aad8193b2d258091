//! Compaction: index runs and text segments are merged, segments of the ledger are compressed, and
//! the room of blank bodies in it is given back.

use crate::store::engine::Reach;
use crate::store::erasure::{require_keeper, resume_erasures};
#[cfg(feature = "sealing")]
use crate::store::keys::rekey_due_in_passing;
use crate::store::{Access, Error};

/// The sizes of the files that compaction writes again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sizes {
    /// The length of the ledger's segments together, in bytes.
    pub ledger_bytes: u64,
    /// Files of the index.
    pub index_runs: usize,
    /// Their length together, in bytes.
    pub index_bytes: u64,
    /// Segments of the text view.
    pub text_segments: usize,
    /// Their length together, in bytes.
    pub text_bytes: u64,
}

/// The result of [`Maintenance::compact`](crate::Maintenance::compact).
///
/// ```
/// use grainstore::{Draft, Options, Store};
///
/// let store = Store::in_memory(Options::default())?;
/// store.put(Draft::event("hello"))?;
/// let compacted = store.maintenance()?.compact()?;
/// assert_eq!((compacted.before.index_runs, compacted.after.index_runs), (0, 1));
/// # Ok::<(), grainstore::store::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Compacted {
    /// The sizes before.
    pub before: Sizes,
    /// The sizes after.
    pub after: Sizes,
}

/// See [`Maintenance::compact`](crate::Maintenance::compact).
pub(crate) fn compact(store: &Access, compress: bool) -> Result<Compacted, Error> {
    let engine = store.engine();
    require_keeper(engine)?;
    let before = sizes(store)?;
    resume_erasures(engine)?;
    #[cfg(feature = "sealing")]
    rekey_due_in_passing(engine)?;
    let right = || engine.exclusive(Reach::Here);
    let writer = right()?;
    engine.ledger().remove_torn_files()?;
    drop(writer);
    engine.ledger().compact(compress, right)?;
    let writer = right()?;
    engine.freeze();
    drop(writer);
    engine.index().merge_all()?;
    engine.text().compact()?;
    Ok(Compacted {
        before,
        after: sizes(store)?,
    })
}

fn sizes(store: &Access) -> Result<Sizes, Error> {
    let engine = &*store.engine;
    let (text_segments, text_bytes) = engine.text().size()?;
    Ok(Sizes {
        ledger_bytes: engine.ledger().stored_bytes()?,
        index_runs: engine.index().runs(),
        index_bytes: engine.index().len_bytes(),
        text_segments,
        text_bytes,
    })
}
