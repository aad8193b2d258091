//! The tree of a ledger as it grew: the root after any number of entries, and proofs between them.
//!
//! Derived and kept in memory: the nodes above blocks of 256 leaves, and the leaf before each block.
//! The leaves of one block are computed anew from the headers, so that a proof reads one or two.

use std::ops::Range;

use super::path::{consistency_path, inclusion_path, split};
use super::tree::node;
use crate::ledger::offsets::entry_offsets::origin;
use crate::ledger::segment::entry::leaf;
use crate::ledger::{EntryHeader, EntryId, Error, Ledger};

type Hash = [u8; 32];

/// The nodes of a ledger's Merkle tree, up to some number of entries (RFC 9162, 2.1).
///
/// Invariant: headers of a ledger never change, also by redaction, so what was read stays true.
#[derive(Debug, Default)]
pub(crate) struct TreeHistory {
    /// `nodes[0]` has the roots of whole blocks, each next the roots over two below.
    nodes: Vec<Vec<Hash>>,
    /// The leaf before each whole block; the first is the origin.
    before: Vec<Hash>,
    /// The leaf behind the last whole block.
    last: Option<Hash>,
}

/// A history, the ledger it is of, and the leaves of the blocks that a question has read.
#[derive(Debug)]
pub(crate) struct TreeView<'a> {
    history: &'a TreeHistory,
    ledger: &'a Ledger,
    len: u64,
    blocks: Vec<(u64, Vec<Hash>)>,
}

impl TreeHistory {
    /// Brings the history to the present end of the ledger, and returns it with the ledger.
    ///
    /// # Errors
    /// `ERR_STORAGE_DAMAGED` if a header is not the one this process knows, or the leaves do not
    /// end in the head; `ERR_STORAGE_IO`.
    pub(crate) fn view<'a>(&'a mut self, ledger: &'a Ledger) -> Result<TreeView<'a>, Error> {
        let end = ledger.position();
        let (len, head) = (end.entries, end.head);
        let start = self.before.len() as u64 * BLOCK;
        let mut chain = self.last.unwrap_or_else(|| origin(&ledger.store_id));
        let mut before = chain;
        let mut block = Vec::new();
        ledger.headers(EntryId::new(start)..EntryId::new(len), &mut |header| {
            chain = leaf(&chain, header);
            block.push(chain);
            if block.len() as u64 == BLOCK {
                self.add(before, &block);
                (before, self.last) = (chain, Some(chain));
                block.clear();
            }
        })?;
        if chain != head {
            return Err(ledger.unlike(len));
        }
        Ok(TreeView {
            blocks: vec![(self.before.len() as u64, block)],
            history: self,
            ledger,
            len,
        })
    }

    fn add(&mut self, before: Hash, block: &[Hash]) {
        self.before.push(before);
        let mut root = root_of(block);
        for level in 0.. {
            if self.nodes.len() == level {
                self.nodes.push(Vec::new());
            }
            let Some(nodes) = self.nodes.get_mut(level) else {
                return;
            };
            nodes.push(root);
            // As in binary counting, each carry joins two subtrees of equal size.
            let (pairs, []) = nodes.as_chunks::<2>() else {
                return;
            };
            let Some([left, right]) = pairs.last() else {
                return;
            };
            root = node(left, right);
        }
    }
}

impl TreeView<'_> {
    /// Returns the number of entries.
    pub(crate) const fn len(&self) -> u64 {
        self.len
    }

    /// Returns the root after the first `size` entries.
    ///
    /// # Errors
    /// `ERR_RANGE` past the end; `ERR_STORAGE_DAMAGED`, `ERR_STORAGE_IO`.
    pub(crate) fn root(&mut self, size: u64) -> Result<Hash, Error> {
        self.check(size)?;
        match size {
            0 => Ok(root_of(&[])),
            _ => self.root_over(0..size),
        }
    }

    /// Returns the leaf before an entry, and the path that proves the entry under the root after
    /// `size` entries.
    ///
    /// # Errors
    /// `ERR_RANGE` for an entry that is not among them; as [`TreeView::root`].
    pub(crate) fn inclusion(&mut self, index: u64, size: u64) -> Result<(Hash, Vec<Hash>), Error> {
        self.check(size)?;
        if index >= size {
            return Err(missing(index, size));
        }
        let path = inclusion_path(index, size, &mut |range| self.root_over(range))?;
        let before = match index.checked_sub(1) {
            Some(before) => self.leaf(before)?,
            None => origin(&self.ledger.store_id),
        };
        Ok((before, path))
    }

    /// Returns the path that proves that the first `second` entries begin with the first `first`.
    ///
    /// # Errors
    /// `ERR_RANGE` if `first` is 0 or more than `second`; as [`TreeView::root`].
    pub(crate) fn consistency(&mut self, first: u64, second: u64) -> Result<Vec<Hash>, Error> {
        self.check(second)?;
        if first == 0 || first > second {
            return Err(missing(first, second));
        }
        consistency_path(first, second, &mut |range| self.root_over(range))
    }

    fn check(&self, size: u64) -> Result<(), Error> {
        match size <= self.len {
            true => Ok(()),
            false => Err(missing(size, self.len)),
        }
    }

    /// Returns the root over leaves that begin at a multiple of the largest subtree among them.
    fn root_over(&mut self, range: Range<u64>) -> Result<Hash, Error> {
        let len = range.end - range.start;
        if len.is_power_of_two() && len >= BLOCK {
            let nodes = self.history.nodes.get((len / BLOCK).ilog2() as usize);
            let at = usize::try_from(range.start / len).unwrap_or(usize::MAX);
            if let Some(found) = nodes.and_then(|nodes| nodes.get(at)) {
                return Ok(*found);
            }
        }
        let block = range.start / BLOCK;
        if (range.end - 1) / BLOCK == block {
            let first = block * BLOCK;
            let within = |at: u64| usize::try_from(at - first).unwrap_or(usize::MAX);
            let bounds = within(range.start)..within(range.end);
            let leaves = self.block(block)?.get(bounds);
            return leaves.map(root_of).ok_or_else(|| missing(range.end, len));
        }
        let middle = split(&range).unwrap_or(range.end);
        let left = self.root_over(range.start..middle)?;
        let right = self.root_over(middle..range.end)?;
        Ok(node(&left, &right))
    }

    fn leaf(&mut self, index: u64) -> Result<Hash, Error> {
        let at = usize::try_from(index % BLOCK).unwrap_or(usize::MAX);
        let len = self.len;
        let leaf = self.block(index / BLOCK)?.get(at).copied();
        leaf.ok_or_else(|| missing(index, len))
    }

    fn block(&mut self, number: u64) -> Result<&[Hash], Error> {
        let at = match self.blocks.iter().position(|(of, _)| *of == number) {
            Some(at) => at,
            None => {
                let leaves = self.read(number)?;
                self.blocks.push((number, leaves));
                self.blocks.len() - 1
            }
        };
        Ok(self
            .blocks
            .get(at)
            .map(|(_, leaves)| &**leaves)
            .unwrap_or_default())
    }

    fn read(&self, number: u64) -> Result<Vec<Hash>, Error> {
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        let before = self.history.before.get(at);
        let mut chain = *before.ok_or_else(|| missing(number * BLOCK, self.len))?;
        let mut leaves = Vec::new();
        let rows = EntryId::new(number * BLOCK)..EntryId::new((number + 1) * BLOCK);
        self.ledger
            .headers(rows, &mut |header: &[u8; EntryHeader::LEN]| {
                chain = leaf(&chain, header);
                leaves.push(chain);
            })?;
        Ok(leaves)
    }
}

/// Returns the root over some leaves; SHA-256 of nothing over none.
fn root_of(leaves: &[Hash]) -> Hash {
    let mut tree = super::tree::MerkleTree::default();
    leaves.iter().for_each(|leaf| tree.push(*leaf));
    tree.root()
}

fn missing(sequence: u64, len: u64) -> Error {
    let sequence = EntryId::new(sequence);
    Error::NoEntry { sequence, len }
}

/// The leaves of a block: a proof computes at most two of them anew, and a million entries keep
/// 380 KB.
const BLOCK: u64 = 256;
