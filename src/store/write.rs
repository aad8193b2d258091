use std::collections::HashSet;
use std::ops::Range;

use parking_lot::MutexGuard;

use crate::codec::{ContentAddress, Profile};
use crate::grain::{Draft, Grain, Time};
use crate::index::Batch;
use crate::ledger::{Kind, NewEntry};
use crate::policy;

use super::open::{Inner, Writer};
use super::{Error, Store, replay};

/// A grain to be stored: finished, or a draft that the store finishes.
#[derive(Debug, Clone)]
pub enum NewGrain {
    /// A draft; it gets the store's time as `created_at` if it has none.
    Draft(Box<Draft>),
    /// A finished grain.
    Grain(Box<Grain>),
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
    pub(super) fn finish(self, now: Time, profile: Profile) -> Result<Grain, Error> {
        match self {
            Self::Draft(draft) => Ok(draft.created_at_or(now).finish(profile)?),
            // A grain read from a foreign blob may be one that only its bytes excuse: what is put
            // here is judged as written here (rulings F12, I2).
            Self::Grain(grain) => Ok(Grain::from_blob(grain.into_blob(), profile)?),
        }
    }
}

impl Store {
    /// Stores a grain and returns its address once it is durable. Storing it again is a no-op.
    ///
    /// # Errors
    /// The codes of OMS 19 for what is not a valid grain; `ERR_INVALIDATION_DENIED` for a grain
    /// that would replace a current one without [`Store::supersede`] (OMS 17.2); storage errors,
    /// after which the outcome is unknown and a retry is safe.
    pub fn put(&self, grain: impl Into<NewGrain>) -> Result<ContentAddress, Error> {
        let now = self.inner.options.clock.now();
        let grain = grain.into().finish(now, self.inner.options.profile)?;
        let address = grain.address();
        self.inner.put_all(vec![grain]).map_err(Error::unbatched)?;
        Ok(address)
    }

    /// Stores grains together: all of them, or none if one is refused. Returns their addresses.
    ///
    /// # Errors
    /// As [`Store::put`], with the place of the grain in the batch.
    pub fn put_batch<G: Into<NewGrain>>(
        &self,
        grains: impl IntoIterator<Item = G>,
    ) -> Result<Vec<ContentAddress>, Error> {
        let now = self.inner.options.clock.now();
        let grains = grains.into_iter().enumerate().map(|(index, grain)| {
            let grain = grain.into().finish(now, self.inner.options.profile);
            grain.map_err(|source| Error::batch(index, source))
        });
        let grains: Vec<Grain> = grains.collect::<Result<_, _>>()?;
        let addresses = grains.iter().map(Grain::address).collect();
        self.inner.put_all(grains)?;
        Ok(addresses)
    }
}

impl Inner {
    fn put_all(&self, grains: Vec<Grain>) -> Result<(), Error> {
        let mut writer = self.writer.lock();
        let snapshot = self.index.snapshot();
        let mut frame = Frame::default();
        let mut seen = HashSet::new();
        for (index, grain) in grains.into_iter().enumerate() {
            // Decided under the writer's lock, so that no two frames hold one grain.
            if self.locate(&snapshot, &grain.address())?.is_some() || !seen.insert(grain.address())
            {
                continue;
            }
            self.refuse_implied_supersession(&grain)
                .map_err(|source| Error::batch(index, source))?;
            frame.grain(grain);
        }
        self.commit(&mut writer, &frame)?;
        Ok(())
    }

    /// OMS 17.2: put must not do what supersede must be asked for.
    pub(super) fn refuse_implied_supersession(&self, grain: &Grain) -> Result<(), Error> {
        let snapshot = self.index.snapshot();
        let parents: Vec<_> = grain.derived_from().collect();
        for address in parents {
            let Some(row) = self.locate(&snapshot, &address)? else {
                continue;
            };
            if !snapshot.is_current(row) {
                continue;
            }
            let parent = self.grain_at(row, &address)?;
            let declared = [
                "supersession_justification",
                "supersession_auth",
                "invalidation_type",
            ];
            let declares = declared.iter().any(|name| grain.field(name).is_some());
            if declares || policy::implies_supersession(grain, &parent) {
                return Err(Error::ImpliedSupersession { address });
            }
        }
        Ok(())
    }

    /// Appends a frame, makes it durable, and applies it. The one door to the ledger.
    pub(super) fn commit(
        &self,
        writer: &mut MutexGuard<'_, Writer>,
        frame: &Frame,
    ) -> Result<Range<u64>, Error> {
        let now = self.options.clock.now().max(writer.last);
        let mut salts = vec![0; frame.items.len() * SALT_LEN];
        self.options.random.fill(&mut salts)?;
        let mut salts = salts.chunks_exact(SALT_LEN);
        let entries: Vec<NewEntry<'_>> = frame.items.iter().map(Item::entry).collect();
        let rows = self.ledger.append(now.ms(), &entries, &mut |salt| {
            if let Some(random) = salts.next() {
                salt.copy_from_slice(random);
            }
        })?;
        writer.last = now;
        self.apply(&rows, frame, now)?;
        for (row, item) in rows.clone().zip(&frame.items) {
            // The grain is durable and indexed: a full disk under the text view must not make the
            // caller believe otherwise. The next open feeds the view from its watermark.
            if let Item::Grain(grain) = item
                && let Err(error) = self.feed_text(row, grain)
            {
                tracing::warn!(%error, row, "the text view missed a row");
                return Ok(rows);
            }
        }
        self.text.advance(rows.end);
        Ok(rows)
    }
}

impl Inner {
    /// Makes a durable frame visible.
    fn apply(&self, rows: &Range<u64>, frame: &Frame, now: Time) -> Result<(), Error> {
        let snapshot = self.index.snapshot();
        let mut batch = self.index.batch();
        let mut resolve = |batch: &Batch, address: &_| self.locate_with(&snapshot, batch, address);
        for (row, item) in rows.clone().zip(&frame.items) {
            match item {
                Item::Grain(grain) => batch.grain(row, grain, now.ms()),
                Item::Record(kind, body) => {
                    replay::apply_record(&mut batch, row, *kind, body, &mut resolve)?;
                }
            }
        }
        self.index.publish(batch, rows.end);
        self.settle();
        Ok(())
    }
}

/// The entries of one atomic batch.
#[derive(Debug, Default)]
pub(super) struct Frame {
    items: Vec<Item>,
}

#[derive(Debug)]
enum Item {
    Grain(Box<Grain>),
    Record(Kind, Vec<u8>),
}

impl Frame {
    pub(super) fn grain(&mut self, grain: Grain) {
        self.items.push(Item::Grain(Box::new(grain)));
    }

    pub(super) fn record(&mut self, kind: Kind, body: Vec<u8>) {
        self.items.push(Item::Record(kind, body));
    }
}

impl Item {
    fn entry(&self) -> NewEntry<'_> {
        match self {
            Self::Grain(grain) => NewEntry {
                kind: Kind::Grain,
                actor: None,
                body: grain.blob(),
                hash: Some(*grain.address().as_bytes()),
            },
            Self::Record(kind, body) => NewEntry {
                kind: *kind,
                actor: None,
                body,
                hash: None,
            },
        }
    }
}

impl Error {
    fn batch(index: usize, source: Self) -> Self {
        Self::Batch {
            index,
            source: Box::new(source),
        }
    }

    /// Of a batch of one, the place says nothing.
    fn unbatched(self) -> Self {
        match self {
            Self::Batch { source, .. } => *source,
            other => other,
        }
    }
}

const SALT_LEN: usize = 16;
