//! A cursor over a range of keys of one run, block by block through the cache.
//!
//! For all keys of a family in order, past the cache, see `Stream`.

use std::sync::Arc;

use super::block::{Block, BlockCursor};
use super::cache::Blocks;
use super::reader::{Run, RunKey, Section};
use crate::index::{Error, Family};

/// A cursor over a range of keys of one run.
#[derive(Debug)]
pub(in crate::index) struct RunCursor<'a, K> {
    run: &'a Run,
    /// The offsets of the block and of its end, then of the ends of the next blocks.
    offsets: &'a [u64],
    block: Arc<Block>,
    cursor: BlockCursor<K>,
    /// A key that was read while looking for the first.
    ahead: Option<K>,
}

impl<'a, K: RunKey> RunCursor<'a, K> {
    /// Seeks the first key from `low` on; `None` if there is none up to `high`.
    pub(in crate::index) fn new(
        run: &'a Run,
        family: Family,
        cache: &Blocks,
        low: K,
        high: K,
    ) -> Result<Option<Self>, Error> {
        let Some(section) = run.section::<K>(family) else {
            return Ok(None);
        };
        if section.last < Some(low) || section.fences.first().is_none_or(|first| *first > high) {
            return Ok(None);
        }
        let after = section.fences.partition_point(|fence| *fence <= low);
        let offsets = section.offsets.get(after.saturating_sub(1)..);
        let Some(offsets @ [offset, end, ..]) = offsets else {
            return Ok(None);
        };
        let block = run.block(cache, *offset, *end)?;
        let mut cursor = BlockCursor::seek(run.layout, &block, low);
        let found = cursor.next_from(&block, low);
        let mut within = Self {
            run,
            offsets,
            ahead: found.map_err(|reason| run.damaged(*offset, reason))?,
            cursor,
            block,
        };
        // Where the block has none, the fences say that the next one begins behind `low`.
        within.ahead = within.next(cache, high)?;
        Ok(within.ahead.is_some().then_some(within))
    }

    /// Returns the next key; `None` if there is none up to `high`.
    #[inline]
    pub(in crate::index) fn next(&mut self, cache: &Blocks, high: K) -> Result<Option<K>, Error> {
        // The step of a long scan; all else is looked at again below.
        if self.ahead.is_none()
            && let Ok(Some(key)) = self.cursor.next(&self.block)
        {
            return Ok((key <= high).then_some(key));
        }
        self.next_block(cache, high)
    }

    /// Returns the next key where it is not the next one of the block.
    #[inline(never)]
    fn next_block(&mut self, cache: &Blocks, high: K) -> Result<Option<K>, Error> {
        if let Some(key) = self.ahead.take() {
            return Ok((key <= high).then_some(key));
        }
        loop {
            let key = self.cursor.next(&self.block);
            let at = self.offsets.first().copied().unwrap_or(0);
            if let Some(key) = key.map_err(|reason| self.run.damaged(at, reason))? {
                return Ok((key <= high).then_some(key));
            }
            self.offsets = self.offsets.split_first().map_or(&[], |(_, rest)| rest);
            let [offset, end, ..] = self.offsets else {
                return Ok(None);
            };
            self.block = self.run.block(cache, *offset, *end)?;
            self.cursor = BlockCursor::new(self.run.layout);
        }
    }
}

impl<K: RunKey> Section<K> {
    /// Returns the number of blocks that may hold keys from `low` to `high`, and an estimate of the
    /// keys.
    pub(in crate::index) fn between(&self, low: K, high: K) -> (usize, u64) {
        if self.last < Some(low) {
            return (0, 0);
        }
        let from = self.fences.partition_point(|fence| *fence <= low);
        let to = self.fences.partition_point(|fence| *fence <= high);
        let blocks = to.saturating_sub(from.saturating_sub(1));
        let all = self.fences.len().max(1) as u64;
        // The first and the last are assumed to be half full of them.
        let full = blocks.saturating_sub(1) as u64;
        (blocks, self.keys * full / all)
    }
}
