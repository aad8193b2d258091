//! Compression of files and segments. Payloads of others are in `zstd_frame` (ruling P4).
//!
//! Decompression is bounded by the caller, so that a small file cannot fill the memory.

mod lz4_frame;

use std::io::{self, BufRead, ErrorKind, Read, Write};

use lz4_flex::frame::{BlockSize, FrameDecoder, FrameEncoder, FrameInfo};

use super::zstd_frame::{self, damage, damaged};
use lz4_frame::Lz4Frame;

/// How a run of bytes is compressed: as one frame of the codec, or not at all (OMS 11.3).
///
/// ```
/// use grainstore::codec::Compression;
///
/// assert_eq!(Compression::named("zstd"), Some(Compression::Zstd));
/// assert_eq!(Compression::Lz4.name(), "lz4");
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Compression {
    /// Bytes as they are, the default: grains can be reached by their offsets.
    #[default]
    None,
    /// One zstd frame of level 3, without a dictionary.
    Zstd,
    /// One LZ4 frame.
    Lz4,
}

impl Compression {
    /// Returns the name used on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Zstd => "zstd",
            Self::Lz4 => "lz4",
        }
    }

    /// Returns the compression of a name.
    pub fn named(name: &str) -> Option<Self> {
        let all = [Self::None, Self::Zstd, Self::Lz4];
        all.into_iter()
            .find(|compression| compression.name() == name)
    }

    /// Starts a frame that will hold exactly `len` bytes.
    pub(crate) fn compressor<W: Write>(self, out: W, len: u64) -> io::Result<Compressor<W>> {
        Ok(match self {
            Self::None => Compressor::Plain(out),
            Self::Zstd => {
                let mut encoder = zstd::stream::write::Encoder::new(out, ZSTD_LEVEL)?;
                encoder.set_pledged_src_size(Some(len))?;
                Compressor::Zstd(encoder)
            }
            Self::Lz4 => {
                // A fixed block size: the automatic one depends on how the bytes arrive.
                let info = FrameInfo::new()
                    .block_size(BlockSize::Max256KB)
                    .content_size(Some(len));
                Compressor::Lz4(Box::new(FrameEncoder::with_frame_info(info, out)))
            }
        })
    }

    /// Opens the one frame at the front of `input`, or all of `input` if nothing is compressed.
    ///
    /// At most `len_max` bytes come out; one more is an error of kind [`ErrorKind::FileTooLarge`].
    /// Damage is [`ErrorKind::InvalidData`]; other kinds come from `input`.
    pub(crate) fn decompressor<R: BufRead>(
        self,
        input: R,
        len_max: u64,
    ) -> io::Result<Decompressor<R>> {
        let frame = match self {
            Self::None => Frame::Plain(input),
            Self::Zstd => Frame::Zstd(zstd_frame::decoder(input)?),
            Self::Lz4 => Frame::Lz4(FrameDecoder::new(Lz4Frame::new(input))),
        };
        Ok(Decompressor {
            frame,
            left: len_max,
        })
    }
}

/// Compresses what is written to it.
pub(crate) enum Compressor<W: Write> {
    Plain(W),
    Zstd(zstd::stream::write::Encoder<'static, W>),
    Lz4(Box<FrameEncoder<W>>),
}

impl<W: Write> Compressor<W> {
    /// Ends the frame.
    pub(crate) fn finish(self) -> io::Result<()> {
        match self {
            Self::Plain(_) => {}
            Self::Zstd(encoder) => drop(encoder.finish()?),
            Self::Lz4(encoder) => drop(encoder.finish()?),
        }
        Ok(())
    }
}

impl<W: Write> Write for Compressor<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(out) => out.write(bytes),
            Self::Zstd(encoder) => encoder.write(bytes),
            Self::Lz4(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(out) => out.flush(),
            Self::Zstd(encoder) => encoder.flush(),
            Self::Lz4(encoder) => encoder.flush(),
        }
    }
}

/// Decompresses one frame, and stops at its end.
pub(crate) struct Decompressor<R: BufRead> {
    frame: Frame<R>,
    left: u64,
}

enum Frame<R: BufRead> {
    Plain(R),
    Zstd(zstd::stream::read::Decoder<'static, R>),
    Lz4(FrameDecoder<Lz4Frame<R>>),
}

impl<R: BufRead> Decompressor<R> {
    /// Returns the input, which stands behind the frame once everything was read.
    pub(crate) fn into_input(self) -> R {
        match self.frame {
            Frame::Plain(input) => input,
            Frame::Zstd(decoder) => decoder.finish(),
            Frame::Lz4(decoder) => decoder.into_inner().into_input(),
        }
    }
}

impl<R: BufRead> Read for Decompressor<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let len = match &mut self.frame {
            Frame::Plain(input) => input.read(buf)?,
            Frame::Zstd(decoder) => decoder.read(buf).map_err(damage)?,
            Frame::Lz4(decoder) => {
                let len = decoder.read(buf).map_err(damage)?;
                // The decoder also stops at the end of its input and at a block of no bytes.
                if len == 0 && !buf.is_empty() && !decoder.get_ref().is_done() {
                    return Err(damaged("the LZ4 frame has no end mark"));
                }
                len
            }
        };
        let taken = u64::try_from(len).unwrap_or(u64::MAX);
        self.left = self.left.checked_sub(taken).ok_or_else(|| {
            io::Error::new(
                ErrorKind::FileTooLarge,
                "more bytes decompressed than allowed",
            )
        })?;
        Ok(len)
    }
}

const ZSTD_LEVEL: i32 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    const CODECS: [Compression; 2] = [Compression::Zstd, Compression::Lz4];

    fn compress(codec: Compression, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let len = u64::try_from(bytes.len()).unwrap();
        let mut compressor = codec.compressor(&mut out, len).unwrap();
        compressor.write_all(bytes).unwrap();
        compressor.finish().unwrap();
        out
    }

    /// Returns what comes out, and the input behind the frame.
    fn decompress(codec: Compression, input: &[u8], max: u64) -> io::Result<(Vec<u8>, Vec<u8>)> {
        let mut out = Vec::new();
        let mut decompressor = codec.decompressor(input, max)?;
        decompressor.read_to_end(&mut out)?;
        Ok((out, decompressor.into_input().to_vec()))
    }

    #[test]
    fn a_frame_gives_its_bytes_back_and_leaves_what_follows() {
        let long: Vec<u8> = (0..1_000_000_u32).flat_map(u32::to_be_bytes).collect();
        for codec in CODECS {
            for bytes in [&b""[..], b"a", &long] {
                let mut input = compress(codec, bytes);
                input.extend_from_slice(b"behind");
                let (out, rest) = decompress(codec, &input, u64::MAX).unwrap();
                assert!(out == bytes, "{codec:?} {}", bytes.len());
                assert_eq!(rest, b"behind", "{codec:?} {}", bytes.len());
            }
        }
    }

    #[test]
    fn bytes_do_not_depend_on_how_they_arrive() {
        let bytes: Vec<u8> = (0..300_000_u32).flat_map(u32::to_be_bytes).collect();
        for codec in CODECS {
            let mut out = Vec::new();
            let len = u64::try_from(bytes.len()).unwrap();
            let mut compressor = codec.compressor(&mut out, len).unwrap();
            for piece in bytes.chunks(777) {
                compressor.write_all(piece).unwrap();
            }
            compressor.finish().unwrap();
            assert!(out == compress(codec, &bytes), "{codec:?}");
        }
    }

    #[test]
    fn a_byte_past_the_limit_is_refused() {
        for codec in CODECS {
            let input = compress(codec, &[0; 100_000]);
            assert!(decompress(codec, &input, 100_000).is_ok());
            let error = decompress(codec, &input, 99_999).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::FileTooLarge, "{codec:?}");
        }
    }

    #[test]
    fn a_frame_cut_short_is_damage_wherever_it_is_cut() {
        let bytes: Vec<u8> = (0..500_u32).flat_map(u32::to_be_bytes).collect();
        for codec in CODECS {
            let input = compress(codec, &bytes);
            for len in 0..input.len() {
                let error = decompress(codec, input.get(..len).unwrap(), u64::MAX).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::InvalidData, "{codec:?} {len}");
            }
        }
    }

    #[test]
    fn a_block_of_no_bytes_does_not_end_a_frame() {
        // An empty stored block, then the end mark.
        let mut input = vec![0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82];
        input.extend_from_slice(&[0, 0, 0, 0x80, 0, 0, 0, 0]);
        let error = decompress(Compression::Lz4, &input, 10).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData);
    }

    #[test]
    fn skippable_old_and_foreign_frames_are_refused() {
        let mut skippable = vec![0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4];
        skippable.extend(compress(Compression::Zstd, b"abc"));
        let old_zstd = [0x27, 0xb5, 0x2f, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0];
        let old_lz4 = [0x02, 0x21, 0x4c, 0x18, 0, 0, 0, 0, 0, 0, 0, 0];
        for codec in CODECS {
            for input in [&skippable[..], &old_zstd, &old_lz4] {
                let error = decompress(codec, input, 100).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::InvalidData, "{codec:?}");
            }
        }
    }

    #[test]
    fn a_frame_that_needs_a_dictionary_is_refused() {
        // One stored block with "a" and the end of the frame, under the dictionary 5.
        let zstd = *b"\x28\xb5\x2f\xfd\x21\x05\x01\x09\x00\x00a";
        let lz4 = *b"\x04\x22\x4d\x18\x61\x40\x05\x00\x00\x00\x00\x01\x00\x00\x80a\x00\x00\x00\x00";
        for (codec, input) in [(Compression::Zstd, &zstd[..]), (Compression::Lz4, &lz4)] {
            let error = decompress(codec, input, 10).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidData, "{codec:?}");
        }
        let mut plain = zstd.to_vec();
        plain.remove(5);
        *plain.get_mut(4).unwrap() = 0x20;
        assert_eq!(decompress(Compression::Zstd, &plain, 10).unwrap().0, b"a");
    }

    #[test]
    fn every_kind_of_lz4_frame_is_followed_to_its_end() {
        let bytes: Vec<u8> = (0..100_000_u32).flat_map(u32::to_be_bytes).collect();
        for kind in 0..16_u8 {
            let is = |bit: u8| kind & bit != 0;
            let mode = if is(1) {
                lz4_flex::frame::BlockMode::Linked
            } else {
                lz4_flex::frame::BlockMode::Independent
            };
            let info = FrameInfo::new()
                .block_mode(mode)
                .block_size(BlockSize::Max64KB)
                .block_checksums(is(2))
                .content_checksum(is(4))
                .content_size(is(8).then_some(400_000));
            let mut encoder = FrameEncoder::with_frame_info(info, Vec::new());
            encoder.write_all(&bytes).unwrap();
            let mut input = encoder.finish().unwrap();
            input.extend_from_slice(b"behind");
            let (out, rest) = decompress(Compression::Lz4, &input, u64::MAX).unwrap();
            assert!(out == bytes, "kind {kind}");
            assert_eq!(rest, b"behind", "kind {kind}");
        }
    }

    #[test]
    fn a_window_above_8_mib_is_refused() {
        let mut out = Vec::new();
        let mut encoder = zstd::stream::write::Encoder::new(&mut out, 3).unwrap();
        encoder
            .set_parameter(zstd::stream::raw::CParameter::WindowLog(24))
            .unwrap();
        encoder.write_all(&[0; 1000]).unwrap();
        encoder.finish().unwrap();
        let error = decompress(Compression::Zstd, &out, 10_000).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData);
    }
}
