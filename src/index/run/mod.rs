//! Runs: immutable files of sorted keys for consecutive ledger entries. Which runs there are, a
//! version says.
//!
//! A run is `N.run`, the number in 16 decimal digits, used once while a file of it may be left. It is
//! header, blocks of keys, blocks of locations, blocks of the filter, directory and footer, without
//! gaps. Integers are big-endian.
//!
//! | offset | bytes | header |
//! | --- | --- | --- |
//! | 0 | 8 | magic `GRAINRUN` |
//! | 8 | 2 | format version, 6; the index of a store with files of 1 to 5 is built anew |
//! | 10 | 6 | reserved, 0 |
//! | 16 | 16 | store id |
//! | 32 | 8 | number of the run |
//! | 40 | 8 | first row |
//! | 48 | 8 | end: one more than the last row |
//! | 56 | 8 | reserved, 0 |
//!
//! Every block ends with 4 bytes of check: CRC-32 (IEEE) continued from the CRC-32 of the header over
//! the offset of the block in the file (8) ‖ the block.
//!
//! **Blocks of keys.** A key is its components, 8 bytes each, and its row less the run's first row in
//! the least number of bytes, at least 1, that holds (end − first − 1). In a block each key is a byte
//! and the rest: 128 and the number of bytes that it shares with the key before it, then the other
//! bytes; or, with the components of that key, its distance in rows less 1, if that is below 128. The
//! first key is a restart and shares 0, and so is each that is 32 keys and 128 bytes or more behind the
//! last restart. Behind the keys lie the offsets of the restarts in the
//! block (2 each), and their number (2). A block is closed by the key that takes its keys to 4,000
//! bytes or more, and holds keys of one family, in the order of families.
//!
//! **Blocks of locations.** For each 512 rows, for each row: where its entry lies, and 4 bytes of
//! check of its header (the last half of SipHash-1-3 under the key 0). Where it lies is the distance
//! from the entry before it; or 0, the number of its segment, and its offset there, for the first of a
//! block and of a segment. These numbers are 7 bits a byte, the lowest first, the high bit set on all
//! but the last byte.
//!
//! **Blocks of the filter.** A Bloom filter over the components of family 24, cut every 32 KiB. It has
//! ⌈10 n / 512⌉ groups of 512 bits, at least one, for n grains, each eight words of 8 bytes. Component
//! c sets in group ⌊c · groups / 2^64⌋ six bits: with m = (c xor (c >> 31)) · 9e3779b97f4a7c15
//! mod 2^64, the bits b = (m >> 10 i) mod 512 for i from 0 to 5, each bit (b mod 64) of word ⌊b / 64⌋.
//!
//! | bytes | directory |
//! | --- | --- |
//! | 1 | number of families that have keys |
//! | – | for each, in order: its number (1), how many keys (8), an *extent*, its last key, the first key of each block |
//! | – | the extent of the locations; the extent of the filter |
//! | 4 + n | length and bytes of a 64-bit roaring bitmap: the rows of grains |
//! | 4 + n | the same: the components of family 23 |
//! | 1 | 1 if the run ends where a frame of the ledger does |
//! | 52 | then: the number of entries there (8), the leaf of the last (32), the segment (4), the offset in it (8) |
//!
//! An extent is the offset of its first block in the file (8), the number of its blocks (4), and the
//! length of each with its check (4 each).
//!
//! | offset | bytes | footer |
//! | --- | --- | --- |
//! | 0 | 8 | magic `GRAINEND` |
//! | 8 | 8 | offset of the directory |
//! | 16 | 8 | its length; the footer follows it and ends the file |
//! | 24 | 8 | check: SHA-256(0x05 ‖ header ‖ directory ‖ the offset ‖ the length)[..8] |

pub(super) mod block;
pub(super) mod cache;
pub(super) mod filter;
mod layout;
mod locations;
mod reader;
mod cursor;
mod stream;
mod writer;

pub(super) use cursor::RunCursor;
pub(super) use layout::{Reader, name_of, number_of};
pub(super) use reader::{OpenFault, Run, RunKey};
pub(super) use stream::{Source, Stream};
pub(super) use writer::RunWriter;

/// The folder of the index, relative to the store.
pub(in crate::index) const FOLDER: &str = "index";
