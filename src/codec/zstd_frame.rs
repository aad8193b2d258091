//! One zstd frame: of an archive, or of the payload of a blob that another implementation
//! compressed (OMS 3.1.1, ruling P4). Every build reads it, since the policy of a grain may be in it.
//!
//! The output is bounded by the caller, so that a small frame cannot fill the memory.

use std::io::{self, BufRead, ErrorKind, Read};

use zstd::stream::read::Decoder;

/// Opens the one frame at the front of `input`.
///
/// # Errors
/// `InvalidData` for anything else: skippable frames and the formats before 1.0, which the library
/// would accept. A frame that names a dictionary it refuses itself.
pub(super) fn decoder<R: BufRead>(mut input: R) -> io::Result<Decoder<'static, R>> {
    if !input.fill_buf()?.starts_with(&MAGIC) {
        return Err(damaged("not a zstd frame"));
    }
    let mut decoder = Decoder::with_buffer(input)?.single_frame();
    decoder.window_log_max(WINDOW_LOG_MAX)?;
    Ok(decoder)
}

/// Decompresses the one frame at the front of `bytes`; returns it and its compressed length.
///
/// # Errors
/// `FileTooLarge` past `len_max` bytes, `InvalidData` for damage.
pub(crate) fn decompress(bytes: &[u8], len_max: usize) -> io::Result<(Vec<u8>, usize)> {
    let mut frame = decoder(bytes)?;
    let mut decompressed = Vec::new();
    let cap = u64::try_from(len_max).unwrap_or(u64::MAX).saturating_add(1);
    let read = (&mut frame).take(cap).read_to_end(&mut decompressed);
    if read.map_err(damage)? > len_max {
        return Err(ErrorKind::FileTooLarge.into());
    }
    let left = frame.finish().len();
    Ok((decompressed, bytes.len().saturating_sub(left)))
}

/// Decoders report damage under several kinds, none of which a file system uses.
pub(super) fn damage(error: io::Error) -> io::Error {
    match error.kind() {
        ErrorKind::Other | ErrorKind::InvalidData | ErrorKind::UnexpectedEof => {
            io::Error::new(ErrorKind::InvalidData, error)
        }
        _ => error,
    }
}

pub(super) fn damaged(message: &'static str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, message)
}

/// 8 MiB: the window a decoder accepts, whatever the frame requests.
const WINDOW_LOG_MAX: u32 = 23;
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
