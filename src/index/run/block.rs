//! Blocks: prefix-compressed keys with restart points, and the cursor over one block.
//!
//! Checks are the run's. Bytes that no builder makes are an error, never a panic.

use std::marker::PhantomData;

use crate::index::key::encoding::{Key, high, low};

/// The layout of the keys of a run: rows count from the run's first, in as few bytes as they need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct KeyLayout {
    pub(in crate::index) first: u64,
    pub(super) row_len: usize,
}

impl KeyLayout {
    /// Returns the layout of a run that covers `first..end`.
    pub(in crate::index) fn of(first: u64, end: u64) -> Self {
        let last = end.saturating_sub(first).saturating_sub(1);
        let bits = (u64::BITS - last.leading_zeros()).max(1);
        Self {
            first,
            row_len: bits.div_ceil(8) as usize,
        }
    }

    pub(super) const fn width<K: Key>(self) -> usize {
        8 * K::PARTS + self.row_len
    }

    /// Writes a key so that the order of bytes is the order of keys.
    pub(in crate::index) fn write<K: Key>(self, key: K) -> Bytes {
        let mut bytes = [0; KEY_LEN_MAX];
        let words = key.parts().into_iter().take(K::PARTS);
        let row = key.row().saturating_sub(self.first) << self.bits_behind();
        for (slot, word) in bytes
            .as_chunks_mut::<8>()
            .0
            .iter_mut()
            .zip(words.chain([row]))
        {
            *slot = word.to_be_bytes();
        }
        bytes
    }

    /// Returns the number of bits behind a row in the last 8 bytes of a written key.
    const fn bits_behind(self) -> usize {
        64 - 8 * self.row_len
    }

    /// Returns the row of a written key, less the first.
    fn row_in<K: Key>(self, bytes: &Bytes) -> u64 {
        let word = bytes.as_chunks::<8>().0.get(K::PARTS);
        word.map_or(0, |word| u64::from_be_bytes(*word)) >> self.bits_behind()
    }

    /// Reads what [`Self::write`] wrote; bytes behind the key do not matter.
    #[inline]
    pub(in crate::index) fn read<K: Key>(self, bytes: &Bytes) -> K {
        let [a, b, c] = {
            let (words, _) = bytes.as_chunks::<8>();
            let word = |n| words.get(n).map_or(0, |word| u64::from_be_bytes(*word));
            [word(0), word(1), word(2)]
        };
        let (parts, row) = match K::PARTS {
            1 => ([a, 0], b),
            _ => ([a, b], c),
        };
        K::new(parts, self.first + (row >> self.bits_behind()))
    }
}

/// A written key, with zeros behind it.
pub(super) type Bytes = [u8; KEY_LEN_MAX];

const KEY_LEN_MAX: usize = 24;

/// Builds one block with prefix compression: except at restart points, a key leaves out the bytes it
/// shares with the key before it, or all but its distance from that one.
#[derive(Debug)]
pub(super) struct BlockBuilder {
    bytes: Vec<u8>,
    restarts: Vec<u16>,
    /// The number of keys since the last restart, and where it is.
    since_restart: usize,
    restarted_at: usize,
    previous: Bytes,
}

impl BlockBuilder {
    pub(in crate::index) fn new() -> Self {
        Self {
            bytes: Vec::with_capacity(BLOCK_LEN + 64),
            restarts: Vec::new(),
            since_restart: 0,
            restarted_at: 0,
            previous: [0; KEY_LEN_MAX],
        }
    }

    pub(in crate::index) const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(super) const fn is_full(&self) -> bool {
        self.bytes.len() >= BLOCK_LEN
    }

    /// Adds a key, as `layout` wrote it.
    pub(in crate::index) fn push<K: Key>(&mut self, layout: KeyLayout, key: &Bytes) {
        let before = std::mem::replace(&mut self.previous, *key);
        let shared = match self.restart_if_due() {
            true => 0,
            false => shared_len(&before, key),
        };
        let [row, row_before] = [key, &before].map(|key| layout.row_in::<K>(key));
        match u8::try_from(row.wrapping_sub(row_before).wrapping_sub(1)) {
            Ok(tag) if tag < SHARES && shared >= 8 * K::PARTS => self.bytes.push(tag),
            _ => self.push_rest(key, shared, layout.width::<K>()),
        }
        self.since_restart += 1;
    }

    /// Makes the next key a restart if it is the first, or far enough from the last restart; returns
    /// whether it is one.
    fn restart_if_due(&mut self) -> bool {
        let at = self.bytes.len();
        let is_due = at == 0
            || self.since_restart >= RESTART_KEYS && at - self.restarted_at >= RESTART_BYTES;
        if is_due {
            (self.since_restart, self.restarted_at) = (0, at);
            // A block is closed long before 64 KiB.
            self.restarts.push(u16::try_from(at).unwrap_or(u16::MAX));
        }
        is_due
    }

    fn push_rest(&mut self, key: &Bytes, shared: usize, width: usize) {
        let shared = shared.min(width);
        self.bytes.push(SHARES | u8::try_from(shared).unwrap_or(0));
        let rest = key.get(shared..width).unwrap_or_default();
        self.bytes.extend_from_slice(rest);
    }

    /// Returns the block, without its check, and starts the next.
    pub(in crate::index) fn finish(&mut self) -> Vec<u8> {
        let mut bytes = std::mem::replace(&mut self.bytes, Vec::with_capacity(BLOCK_LEN + 64));
        for restart in &self.restarts {
            bytes.extend_from_slice(&restart.to_be_bytes());
        }
        let restarts = u16::try_from(self.restarts.len()).unwrap_or(u16::MAX);
        bytes.extend_from_slice(&restarts.to_be_bytes());
        self.restarts.clear();
        bytes
    }
}

fn shared_len(a: &Bytes, b: &Bytes) -> usize {
    for (n, (a, b)) in a
        .as_chunks::<8>()
        .0
        .iter()
        .zip(b.as_chunks::<8>().0)
        .enumerate()
    {
        let differ = u64::from_be_bytes(*a) ^ u64::from_be_bytes(*b);
        if differ != 0 {
            return 8 * n + differ.leading_zeros() as usize / 8;
        }
    }
    KEY_LEN_MAX
}

/// A block whose check was valid.
#[derive(Debug)]
pub(in crate::index) struct Block {
    bytes: Vec<u8>,
    /// Where the keys end and the restarts begin.
    end: usize,
}

impl Block {
    /// Takes the bytes of a finished block; `None` if they cannot be one.
    pub(in crate::index) fn new(bytes: Vec<u8>) -> Option<Self> {
        let (rest, count) = bytes.split_last_chunk::<2>()?;
        let restarts = usize::from(u16::from_be_bytes(*count)) * 2;
        let end = rest.len().checked_sub(restarts)?;
        Some(Self { bytes, end })
    }

    pub(in crate::index) const fn len_bytes(&self) -> usize {
        self.bytes.len()
    }

    fn restart(&self, n: usize) -> Option<usize> {
        let at = self.end + 2 * n;
        let bytes = self.bytes.get(at..at + 2)?.first_chunk()?;
        Some(usize::from(u16::from_be_bytes(*bytes)))
    }

    const fn restarts(&self) -> usize {
        (self.bytes.len() - self.end - 2) / 2
    }
}

/// A cursor over the keys of one block.
#[derive(Debug)]
pub(super) struct BlockCursor<K> {
    layout: KeyLayout,
    at: usize,
    /// The bytes of the key: those of its last component and its row, and those before. As integers they
    /// stay in registers in a long scan.
    tail: u128,
    head: u64,
    kind: PhantomData<K>,
}

impl<K: Key> BlockCursor<K> {
    /// Starts at the first key.
    pub(in crate::index) const fn new(layout: KeyLayout) -> Self {
        Self {
            layout,
            at: 0,
            tail: 0,
            head: 0,
            kind: PhantomData,
        }
    }

    /// Starts at the last restart point below `low`, or at the first.
    pub(in crate::index) fn seek(layout: KeyLayout, block: &Block, low: K) -> Self {
        let (mut from, mut to) = (0, block.restarts());
        while to - from > 1 {
            let middle = usize::midpoint(from, to);
            let mut cursor = Self::new(layout);
            cursor.at = block.restart(middle).unwrap_or(0);
            match cursor.next(block) {
                Ok(Some(key)) if key < low => from = middle,
                _ => to = middle,
            }
        }
        let mut cursor = Self::new(layout);
        cursor.at = block.restart(from).unwrap_or(0);
        cursor
    }

    /// Returns the next key that is not below `low`; `None` at the end.
    ///
    /// # Errors
    /// As [`Self::next`].
    pub(in crate::index) fn next_from(
        &mut self,
        block: &Block,
        low: K,
    ) -> Result<Option<K>, &'static str> {
        loop {
            match self.next(block)? {
                Some(key) if key < low => {}
                found => return Ok(found),
            }
        }
    }

    /// Returns the next key; `None` at the end.
    ///
    /// # Errors
    /// The fault of a block that no builder makes.
    #[inline]
    pub(in crate::index) fn next(&mut self, block: &Block) -> Result<Option<K>, &'static str> {
        if self.at >= block.end {
            return Ok(None);
        }
        let tag = block.bytes.get(self.at).copied().unwrap_or(SHARES);
        let from = self.at + 1;
        let Some(shared) = tag.checked_sub(SHARES) else {
            let by = (u128::from(tag) + 1) << self.layout.bits_behind();
            // Bytes that no builder makes may take it beyond the last row.
            self.tail = self.tail.wrapping_add(by);
            self.at = from;
            return Ok(Some(self.key()));
        };
        let (shared, width) = (usize::from(shared), self.layout.width::<K>());
        let end = (from + width).checked_sub(shared).unwrap_or(from);
        if shared > width || end > block.end {
            return Err(OVER_THE_END);
        }
        let in_tail = shared.checked_sub(8 * (K::PARTS - 1));
        let bytes = block.bytes.get(from..).and_then(<[u8]>::first_chunk);
        if let (Some(shared @ 0..16), Some(bytes)) = (in_tail, bytes) {
            let bits = 8 * shared;
            // Bytes behind the key do not matter.
            let word = u128::from_be_bytes(*bytes) >> bits;
            self.tail = self.tail & !(u128::MAX >> bits) | word;
        } else {
            let rest = block.bytes.get(from..end).ok_or(OVER_THE_END)?;
            self.put(shared, rest);
        }
        self.at = end;
        Ok(Some(self.key()))
    }

    #[inline]
    fn key(&self) -> K {
        let (part, row) = (high(self.tail), low(self.tail));
        let parts = match K::PARTS {
            1 => [part, 0],
            _ => [self.head, part],
        };
        K::new(
            parts,
            self.layout.first + (row >> self.layout.bits_behind()),
        )
    }

    /// Puts bytes behind the first `shared` of the key.
    fn put(&mut self, shared: usize, bytes: &[u8]) {
        let mut key = [0; KEY_LEN_MAX];
        let (head, tail) = key.split_at_mut(KEY_LEN_MAX - 16);
        head.copy_from_slice(&self.head.to_be_bytes());
        tail.copy_from_slice(&self.tail.to_be_bytes());
        let before = 8 * (2 - K::PARTS);
        for (slot, byte) in key.iter_mut().skip(before + shared).zip(bytes) {
            *slot = *byte;
        }
        self.head = key
            .first_chunk()
            .map_or(0, |head| u64::from_be_bytes(*head));
        self.tail = key
            .last_chunk()
            .map_or(0, |tail| u128::from_be_bytes(*tail));
    }
}

const OVER_THE_END: &str = "a key runs over the end of its block";

/// The length at which a block is closed, in bytes.
const BLOCK_LEN: usize = 4_000;

/// The least number of keys from one restart point to the next, and of bytes.
const RESTART_KEYS: usize = 32;
const RESTART_BYTES: usize = 128;

/// The bit of a key's first byte that says that the others count the bytes shared with the key before;
/// without it the parts are those of the key before, and the byte is the distance of their rows less 1.
const SHARES: u8 = 0x80;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::key::encoding::{Pair, Single};

    fn round_trip<K: Key>(keys: &[K], layout: KeyLayout) {
        let mut builder = BlockBuilder::new();
        for key in keys {
            builder.push::<K>(layout, &layout.write(*key));
        }
        let block = Block::new(builder.finish()).unwrap();
        for (n, low) in keys.iter().enumerate() {
            let mut cursor = BlockCursor::<K>::seek(layout, &block, *low);
            let mut seen = 0;
            while let Some(key) = cursor.next(&block).unwrap() {
                if key >= *low {
                    assert_eq!(key, keys[n + seen]);
                    seen += 1;
                } else {
                    assert_eq!(seen, 0);
                }
            }
            assert_eq!(n + seen, keys.len());
        }
    }

    #[test]
    fn a_block_gives_back_its_keys_from_anywhere() {
        for (first, end) in [
            (0, 2),
            (0, 300),
            (5_000_000_000, 5_000_070_000),
            (9, 1 << 39),
        ] {
            let layout = KeyLayout::of(first, end);
            let row = |n: u64| first + n * 7_919 % (end - first);
            let mut singles: Vec<_> = (0..200)
                .map(|n: u64| Single::new([n / 3 * 0x0100_0000_0001, 0], row(n)))
                .collect();
            singles.sort_unstable();
            singles.dedup();
            round_trip(&singles, layout);
            let near = |n: u64| first + (n + n / 100 * 128) % (end - first);
            let mut lists: Vec<_> = (0..1_000)
                .map(|n| Single::new([n / 400, 0], near(n)))
                .collect();
            lists.sort_unstable();
            lists.dedup();
            round_trip(&lists, layout);
            let mut pairs: Vec<_> = (0..120)
                .map(|n: u64| Pair::new([n << 60, u64::MAX - n % 5], row(n)))
                .collect();
            pairs.sort_unstable();
            pairs.dedup();
            round_trip(&pairs, layout);
            let mut pairs: Vec<_> = (0..700).map(|n| Pair::new([7, n / 200], near(n))).collect();
            pairs.sort_unstable();
            pairs.dedup();
            round_trip(&pairs, layout);
        }
        let lens =
            [(0, 1), (0, 256), (0, 257), (7, 7), (0, 1 << 40)].map(|(a, b)| KeyLayout::of(a, b));
        assert_eq!(lens.map(|layout| layout.row_len), [1, 1, 2, 1, 5]);
    }

    #[test]
    fn bytes_that_are_no_block_are_an_error_and_never_a_panic() {
        let layout = KeyLayout::of(0, 100);
        for bytes in [
            &b""[..],
            b"\0",
            b"\0\x09",
            b"\xff\0\0",
            b"\x81\x02\x03\0\0",
            b"\x83\xff\xff\0\x01",
        ] {
            if let Some(block) = Block::new(bytes.to_vec()) {
                let mut cursor =
                    BlockCursor::<Single>::seek(layout, &block, Single::new([9, 0], 9));
                assert!(!matches!(cursor.next(&block), Ok(Some(_))), "{bytes:?}");
            }
        }
    }
}
