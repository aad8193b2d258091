//! Putting: a draft is finished, its signature checked, and the grain prepared for its frame.

use crate::codec::ContentAddress;
use crate::crypto::verify_signature;
use crate::grain::{Draft, Grain, Time};
use crate::index::Snapshot;
use crate::ledger::Binding;
use crate::process::parallel::*;
use crate::process::{ProcessId, in_parallel};
use crate::store::engine::{Caller, Engine};
use crate::store::records::{EntryBody, PendingPut};
use crate::store::rules::non_superseding_parents;
use crate::store::txn::{authorize_put, put_all};
use crate::store::{Access, Error, Options};

/// A grain to be stored: finished, or a draft that the store finishes.
#[derive(Debug, Clone)]
pub enum NewGrain {
    /// A draft; it gets the store's time as `created_at` if it has none.
    Draft(Box<Draft>),
    /// A finished grain.
    Grain(Box<Grain>),
    /// Either, with permission to store it again after it was deleted (OMS 28.4).
    Again(Box<Self>),
}

impl From<Draft> for NewGrain {
    fn from(draft: Draft) -> Self {
        Self::Draft(Box::new(draft))
    }
}

impl From<Grain> for NewGrain {
    fn from(grain: Grain) -> Self {
        Self::Grain(Box::new(grain))
    }
}

impl NewGrain {
    /// Permits storing a grain that was deleted from the store before.
    ///
    /// ```
    /// use grainstore::store::{Authorization, NewGrain};
    /// use grainstore::{Draft, Options, Store};
    ///
    /// let store = Store::in_memory(Options::default())?;
    /// let hello = Draft::event("hello").created_at(grainstore::Time::from_ms(1));
    /// let address = store.put(hello.clone())?;
    /// store.admin()?.delete(&address, Authorization { reason: "asked for", authority: "its author" })?;
    /// assert_eq!(store.put(hello.clone()).unwrap_err().code(), "ERR_ERASED");
    /// assert_eq!(store.put(NewGrain::from(hello).again())?, address);
    /// # Ok::<(), grainstore::Error>(())
    /// ```
    #[must_use]
    pub fn again(self) -> Self {
        Self::Again(Box::new(self))
    }

    /// Makes a draft name the grain that it replaces; a finished grain stays as it is.
    pub(crate) fn replacing(self, old: ContentAddress) -> Self {
        match self {
            Self::Draft(draft) => Self::Draft(Box::new(draft.replacing(old))),
            Self::Again(new) => Self::Again(Box::new(new.replacing(old))),
            Self::Grain(_) => self,
        }
    }

    /// Validates the grain and verifies its signature: an invalid signature is never stored.
    pub(crate) fn finish(
        self,
        now: Time,
        options: &Options,
        caller: Caller<'_>,
    ) -> Result<Grain, Error> {
        let profile = options.profile;
        let grain = match self {
            Self::Draft(draft) => {
                let draft = match caller.capability {
                    Some(capability) => capability.fill(*draft),
                    None => *draft,
                };
                draft.created_at_or(now).finish(profile)?
            }
            // A grain from a foreign blob may break rules that apply to new grains only; a put is
            // validated as a new grain (rulings F12, I2).
            Self::Grain(grain) => grain.judged_again(profile)?,
            Self::Again(new) => return new.finish(now, options, caller),
        };
        if grain.is_signed() {
            verify_signature(&grain, &*options.resolver)?;
        }
        Ok(grain)
    }

    const fn is_again(&self) -> bool {
        matches!(self, Self::Again(_))
    }
}

/// A grain that is stored, as [`Store::insert`](crate::Store::insert) and
/// [`Store::put_batch`](crate::Store::put_batch) tell it.
///
/// ```
/// use grainstore::{Draft, Options, Store, Time};
///
/// let store = Store::in_memory(Options::default())?;
/// let turn = Draft::event("hello").created_at(Time::from_ms(1));
/// let first = store.insert(turn.clone())?;
/// let again = store.insert(turn)?;
/// assert_eq!((first.is_new, again.is_new), (true, false));
/// assert_eq!(first.address, again.address);
/// # Ok::<(), grainstore::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Put {
    /// Its address.
    pub address: ContentAddress,
    /// Whether this call stored it: it was not there before.
    pub is_new: bool,
}

/// See [`Store::insert`](crate::Store::insert).
pub(crate) fn put(store: &Access, grain: impl Into<NewGrain>) -> Result<Put, Error> {
    put_one(&store.engine, grain.into(), store.caller()?)
}

/// See [`Store::put_batch`](crate::Store::put_batch).
pub(crate) fn put_batch<G: Into<NewGrain>>(
    store: &Access,
    grains: impl IntoIterator<Item = G>,
) -> Result<Vec<Put>, Error> {
    let grains = grains.into_iter().map(Into::into).collect();
    put_many(&store.engine, grains, store.caller()?)
}

pub(crate) fn put_one(engine: &Engine, grain: NewGrain, caller: Caller<'_>) -> Result<Put, Error> {
    let now = engine.now();
    let again = grain.is_again();
    let grain = grain.finish(now, engine.options(), caller)?;
    authorize_put(engine, caller, &grain)?;
    let address = grain.address();
    let snapshot = engine.snapshot();
    // A visible grain is acknowledged already; only grains that are not stored yet wait in the
    // queue, and those that bring a signature.
    let mut is_new = false;
    if grain.is_signed() || engine.as_of(&snapshot).locate(&address)?.is_none() {
        let by = ProcessId::current();
        let salt = engine.salts(1, by)?.pop().unwrap_or_default();
        let put = prepare(engine, &snapshot, grain, salt, again, caller)?;
        let known = put_all(engine, vec![put], by).map_err(Error::unbatched)?;
        is_new = known.is_empty();
    }
    Ok(Put { address, is_new })
}

fn put_many(engine: &Engine, grains: Vec<NewGrain>, caller: Caller<'_>) -> Result<Vec<Put>, Error> {
    let by = ProcessId::current();
    let puts = finish_all(engine, grains, caller, by)?;
    commit_all(engine, puts, caller, by)
}

/// Stores prepared grains together.
pub(super) fn commit_all(
    engine: &Engine,
    puts: Vec<PendingPut>,
    caller: Caller<'_>,
    by: ProcessId,
) -> Result<Vec<Put>, Error> {
    for (index, put) in puts.iter().enumerate() {
        authorize_put(engine, caller, &put.grain).map_err(|source| Error::batch(index, source))?;
    }
    let stored = puts.iter().map(|put| Put {
        address: put.grain.address(),
        is_new: true,
    });
    let mut stored: Vec<_> = stored.collect();
    if !puts.is_empty() {
        for known in put_all(engine, puts, by)? {
            stored[known].is_new = false;
        }
    }
    Ok(stored)
}

/// Prepares a finished grain, as far as possible without the right to write.
fn prepare(
    engine: &Engine,
    snapshot: &Snapshot,
    grain: Grain,
    salt: [u8; Binding::SALT_LEN],
    again: bool,
    caller: Caller<'_>,
) -> Result<PendingPut, Error> {
    Ok(PendingPut {
        non_superseding_parents: non_superseding_parents(&engine.as_of(snapshot), &grain)?,
        signature: EntryBody::signature_of(&grain)?,
        binding: Binding::new(salt, grain.address().as_bytes()),
        grain,
        again,
        actor: caller.actor,
        capability: caller.capability.cloned(),
    })
}

/// Finishes grains before any lock is taken, on several threads if there are many.
pub(super) fn finish_all(
    engine: &Engine,
    grains: Vec<NewGrain>,
    caller: Caller<'_>,
    by: ProcessId,
) -> Result<Vec<PendingPut>, Error> {
    let now = engine.now();
    let salts = engine.salts(grains.len(), by)?;
    let snapshot = engine.snapshot();
    let prepare = |(grain, salt): (NewGrain, _)| {
        let again = grain.is_again();
        let grain = grain.finish(now, engine.options(), caller)?;
        prepare(engine, &snapshot, grain, salt, again, caller)
    };
    let made: Vec<Result<PendingPut, Error>> = if grains.len() < 2 * CHUNK {
        grains.into_iter().zip(salts).map(prepare).collect()
    } else {
        in_parallel(|| {
            let grains = grains.into_par_iter().zip(salts);
            grains.with_min_len(CHUNK).map(prepare).collect()
        })
    };
    // The first refused grain of the batch is reported, whichever thread finished first.
    let made = made.into_iter().enumerate();
    made.map(|(index, put)| put.map_err(|source| Error::batch(index, source)))
        .collect()
}

/// The least number of grains for a thread: fewer are finished before the thread has started.
const CHUNK: usize = 64;
