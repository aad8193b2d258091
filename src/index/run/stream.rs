//! Sequential streams of keys, and their merge.
//!
//! Merges and checks use them: they read ahead and leave the block cache alone.

use std::sync::Arc;

use super::block::{Block, BlockCursor};
use super::reader::{Run, RunKey};
use crate::index::key::encoding::Key;
use crate::index::{Error, Family};

/// Reads all keys of a family of a run in order, past the cache, in bounded memory.
pub(in crate::index) struct Stream<K> {
    run: Arc<Run>,
    family: Family,
    next: usize,
    /// The bytes read ahead, from `window_at` on.
    window: Vec<u8>,
    window_at: u64,
    block: Option<Block>,
    cursor: BlockCursor<K>,
}

impl<K: RunKey> Stream<K> {
    pub(in crate::index) fn new(run: Arc<Run>, family: Family) -> Self {
        Self {
            cursor: BlockCursor::new(run.layout),
            run,
            family,
            next: 0,
            window: Vec::new(),
            window_at: 0,
            block: None,
        }
    }

    /// Starts at the block of the first key from `low` on: keys before it may come first.
    pub(in crate::index) fn from(run: Arc<Run>, family: Family, low: K) -> Self {
        let section = run.section::<K>(family);
        let after = section.map_or(0, |section| {
            section.fences.partition_point(|fence| *fence <= low)
        });
        Self {
            next: after.saturating_sub(1),
            ..Self::new(run, family)
        }
    }

    /// Returns the next key; `None` at the end.
    pub(in crate::index) fn next(&mut self) -> Result<Option<K>, Error> {
        loop {
            if let Some(block) = &self.block {
                let key = self.cursor.next(block);
                if let Some(key) = key.map_err(|reason| self.run.damaged(self.window_at, reason))? {
                    return Ok(Some(key));
                }
            }
            let Some(block) = self.read_block()? else {
                return Ok(None);
            };
            self.block = Some(block);
            self.cursor = BlockCursor::new(self.run.layout);
        }
    }

    fn read_block(&mut self) -> Result<Option<Block>, Error> {
        let run = &*self.run;
        let Some(section) = run.section::<K>(self.family) else {
            return Ok(None);
        };
        let rest = section.offsets.get(self.next..).unwrap_or_default();
        let [offset, end, ..] = *rest else {
            return Ok(None);
        };
        self.next += 1;
        if end > self.window_at + self.window.len() as u64 || offset < self.window_at {
            let fits = rest.iter().take_while(|at| **at - offset <= WINDOW_LEN);
            let window_end = fits.last().copied().unwrap_or(end).max(end);
            self.window = run.read(offset, window_end)?;
            self.window_at = offset;
        }
        let within = |at: u64| usize::try_from(at - self.window_at).unwrap_or(usize::MAX);
        let bytes = self
            .window
            .get(within(offset)..within(end))
            .unwrap_or_default();
        run.checked_block(bytes.to_vec(), offset).map(Some)
    }
}

/// A source of sorted keys.
pub(in crate::index) enum Source<K> {
    List(std::vec::IntoIter<K>),
    Run(Box<Stream<K>>),
}

impl<K: RunKey> Source<K> {
    fn next(&mut self) -> Result<Option<K>, Error> {
        match self {
            Self::List(keys) => Ok(keys.next()),
            Self::Run(stream) => stream.next(),
        }
    }
}

/// A merge of several sources into one order.
pub(super) struct Merge<K> {
    sources: Vec<(K, Source<K>)>,
}

impl<K: RunKey + Key> Merge<K> {
    pub(in crate::index) fn new(sources: Vec<Source<K>>) -> Result<Self, Error> {
        let mut heads = Vec::with_capacity(sources.len());
        for mut source in sources {
            if let Some(head) = source.next()? {
                heads.push((head, source));
            }
        }
        Ok(Self { sources: heads })
    }

    pub(in crate::index) fn next(&mut self) -> Result<Option<K>, Error> {
        // For few sources a linear search costs less than a heap.
        let least = self
            .sources
            .iter_mut()
            .enumerate()
            .min_by_key(|(_, (head, _))| *head);
        let Some((at, (head, source))) = least else {
            return Ok(None);
        };
        let key = *head;
        match source.next()? {
            Some(next) => *head = next,
            None => drop(self.sources.swap_remove(at)),
        }
        Ok(Some(key))
    }
}

/// The bytes read ahead for each source of a merge.
const WINDOW_LEN: u64 = 64 << 10;
