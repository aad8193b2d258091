//! Short bodies that are compressed one by one with a dictionary: one byte that says how, and the
//! bytes (docs/format.md, "Packed segments").

use std::fmt;
use std::io;

use crate::process::Mutex;
use zstd::bulk::Compressor;
use zstd::dict::DecoderDictionary;
use zstd::zstd_safe::{CParameter, DCtx};

/// Returns a dictionary of at most `len` bytes for bodies like these; it has words of them. Too few
/// make an empty one.
pub(crate) fn dictionary_of(bodies: &[&Vec<u8>], len: usize) -> Vec<u8> {
    zstd::dict::from_samples(bodies, len).unwrap_or_default()
}

/// Writes the stored form of bodies: compressed, or by default as they are.
#[derive(Default)]
pub(crate) struct BodyWriter {
    zstd: Option<Compressor<'static>>,
}

impl BodyWriter {
    /// Returns one that refers to a dictionary, which may be empty.
    pub(crate) fn new(dictionary: &[u8]) -> io::Result<Self> {
        let mut zstd = Compressor::with_dictionary(LEVEL, dictionary)?;
        zstd.set_parameter(CParameter::ContentSizeFlag(true))?;
        zstd.set_parameter(CParameter::ChecksumFlag(false))?;
        zstd.set_parameter(CParameter::DictIdFlag(false))?;
        Ok(Self { zstd: Some(zstd) })
    }

    /// Puts the stored form of a body in the place of what `stored` has.
    pub(crate) fn write(&mut self, body: &[u8], stored: &mut Vec<u8>) -> io::Result<()> {
        stored.clear();
        let zstd = self.zstd.as_mut();
        let frame = zstd.map(|zstd| zstd.compress(body)).transpose()?;
        let expected = FrameHeader::of(body.len());
        if let Some(frame) = frame
            && let Some(blocks) = frame.strip_prefix(expected.bytes())
            && blocks.len() < body.len()
            && body.len() < blocks.len().saturating_mul(EXPANSION_MAX)
        {
            stored.push(COMPRESSED);
            stored.extend_from_slice(blocks);
        } else {
            stored.push(AS_IT_IS);
            stored.extend_from_slice(body);
        }
        Ok(())
    }
}

/// Reads what a [`BodyWriter`] with the same dictionary wrote.
pub(crate) struct BodyReader {
    dictionary: DecoderDictionary<'static>,
    /// Threads that read beside each other take one each.
    idle: Mutex<Vec<(DCtx<'static>, Vec<u8>)>>,
}

impl BodyReader {
    pub(crate) fn new(dictionary: &[u8]) -> Self {
        Self {
            dictionary: DecoderDictionary::copy(dictionary),
            idle: Mutex::default(),
        }
    }

    /// Fills `body` with what is stored of it. One that was blanked is zeros; bytes that are no body
    /// of this length give one that no commitment is of.
    pub(crate) fn read(&self, stored: &[u8], body: &mut [u8]) {
        let is_read = match stored.split_first() {
            Some((&AS_IT_IS, rest)) if rest.len() == body.len() => {
                body.copy_from_slice(rest);
                true
            }
            Some((&COMPRESSED, blocks)) => self.decompress(blocks, body),
            _ => {
                body.fill(0);
                stored.iter().all(|byte| *byte == 0)
            }
        };
        if !is_read {
            body.fill(UNREADABLE);
        }
    }

    fn decompress(&self, blocks: &[u8], body: &mut [u8]) -> bool {
        let idle = self.idle.lock().pop();
        let (mut zstd, mut frame) = idle.unwrap_or_else(|| (DCtx::create(), Vec::new()));
        frame.clear();
        frame.extend_from_slice(FrameHeader::of(body.len()).bytes());
        frame.extend_from_slice(blocks);
        let len = body.len();
        let read = zstd.decompress_using_ddict(body, &frame, self.dictionary.as_ddict());
        let mut idle = self.idle.lock();
        if idle.len() < IDLE_MAX {
            frame.shrink_to(FRAME_KEPT);
            idle.push((zstd, frame));
        }
        read == Ok(len)
    }
}

impl fmt::Debug for BodyReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A dictionary has words of grains.
        f.write_str("BodyReader")
    }
}

/// The begin of a zstd frame of a known length (RFC 8878, 3.1.1.1): a single segment without
/// checksum and number of its dictionary. It follows from the length, so it is not stored.
struct FrameHeader {
    bytes: [u8; 9],
    len: usize,
}

impl FrameHeader {
    fn of(content: usize) -> Self {
        let mut bytes = [0x28, 0xb5, 0x2f, 0xfd, 0, 0, 0, 0, 0];
        let len = match u32::try_from(content).unwrap_or(u32::MAX) {
            short @ 0..256 => {
                bytes[4] = 0x20;
                bytes[5..9].copy_from_slice(&short.to_le_bytes());
                6
            }
            middle @ 256..65_792 => {
                bytes[4] = 0x60;
                bytes[5..9].copy_from_slice(&middle.wrapping_sub(256).to_le_bytes());
                7
            }
            long => {
                bytes[4] = 0xa0;
                bytes[5..9].copy_from_slice(&long.to_le_bytes());
                9
            }
        };
        Self { bytes, len }
    }

    fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

/// A byte that follows is the body.
const AS_IT_IS: u8 = 1;
/// The blocks of a zstd frame follow.
const COMPRESSED: u8 = 2;
/// A byte of a body that cannot be read.
pub(crate) const UNREADABLE: u8 = 0xff;
/// The most that a body is longer than its stored form.
pub(crate) const EXPANSION_MAX: usize = 256;
/// Written once and read often: a twentieth smaller than at level 3, for 19 µs a body of 300 bytes in place of 4.
const LEVEL: i32 = 13;
const IDLE_MAX: usize = 16;
const FRAME_KEPT: usize = 64 << 10;
