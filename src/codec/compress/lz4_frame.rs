//! The boundaries of an LZ4 frame, read before it is decompressed.
//!
//! The decompressor of the library accepts bytes after a frame; an archive must not have any.

use std::io::{self, BufRead, Read};

use crate::codec::zstd_frame::damaged;

/// Passes one LZ4 frame through and not a byte more, because the decoder would read on into the
/// next frame and cannot say where this one ended.
pub(super) struct Lz4Frame<R> {
    input: R,
    /// The head of the part being passed, and how much of it has been.
    head: [u8; 6],
    head_at: usize,
    head_len: usize,
    /// How much of the part follows its head.
    body_left: u64,
    next: Part,
    flags: u8,
}

impl<R: BufRead> Lz4Frame<R> {
    pub(super) const fn new(input: R) -> Self {
        Self {
            input,
            head: [0; 6],
            head_at: 0,
            head_len: 0,
            body_left: 0,
            next: Part::Descriptor,
            flags: 0,
        }
    }

    /// Returns whether the frame was passed to its last byte.
    pub(super) fn is_done(&self) -> bool {
        self.next == Part::End && self.head_at == self.head_len && self.body_left == 0
    }

    pub(super) fn into_input(self) -> R {
        self.input
    }

    /// Reads the head of the next part, which says how long the part is.
    fn begin_part(&mut self) -> io::Result<()> {
        if self.next == Part::Descriptor {
            self.input.read_exact(&mut self.head)?;
            self.head_len = 6;
            let [m0, m1, m2, m3, flags, _] = self.head;
            if [m0, m1, m2, m3] != MAGIC {
                return Err(damaged("not an LZ4 frame"));
            }
            if flags & DICTIONARY != 0 {
                return Err(damaged("LZ4 frame needs a dictionary"));
            }
            self.flags = flags;
            self.body_left = if flags & CONTENT_SIZE != 0 { 9 } else { 1 };
            self.next = Part::Block;
        } else {
            let mut size = [0; 4];
            self.input.read_exact(&mut size)?;
            let [s0, s1, s2, s3] = size;
            self.head = [s0, s1, s2, s3, 0, 0];
            self.head_len = 4;
            let size = u32::from_le_bytes(size);
            let checksum = |flag| if self.flags & flag != 0 { 4 } else { 0 };
            if size == 0 {
                self.body_left = checksum(CONTENT_CHECKSUM);
                self.next = Part::End;
            } else {
                // The highest bit says that the block is stored as it is.
                let len = u64::from(size & 0x7fff_ffff);
                self.body_left = len.saturating_add(checksum(BLOCK_CHECKSUMS));
            }
        }
        self.head_at = 0;
        Ok(())
    }
}

impl<R: BufRead> Read for Lz4Frame<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.head_at == self.head_len && self.body_left == 0 {
            if self.next == Part::End {
                return Ok(0);
            }
            self.begin_part()?;
        }
        let head = self.head.get(self.head_at..self.head_len);
        match head.filter(|head| !head.is_empty()) {
            Some(mut head) => {
                let len = head.read(buf)?;
                self.head_at = self.head_at.saturating_add(len);
                Ok(len)
            }
            None => {
                let len = (&mut self.input).take(self.body_left).read(buf)?;
                let taken = u64::try_from(len).unwrap_or(u64::MAX);
                self.body_left = self.body_left.saturating_sub(taken);
                Ok(len)
            }
        }
    }
}

#[derive(PartialEq)]
enum Part {
    Descriptor,
    Block,
    End,
}

const MAGIC: [u8; 4] = [0x04, 0x22, 0x4d, 0x18];
const DICTIONARY: u8 = 1;
const CONTENT_CHECKSUM: u8 = 1 << 2;
const CONTENT_SIZE: u8 = 1 << 3;
const BLOCK_CHECKSUMS: u8 = 1 << 4;
