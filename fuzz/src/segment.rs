//! Segments as `docs/format.md` defines them, written without the code under test: the
//! checks and commitments that no mutation finds.

use grainstore::ledger::StoreId;
use sha2::{Digest, Sha256};

/// The store that every segment here belongs to.
pub const STORE_ID: StoreId = StoreId::new([7; 16]);

/// Returns a segment: a header that fits, and `frames`.
pub fn with_header(number: u32, first: u64, frames: &[u8]) -> Vec<u8> {
    let mut segment = b"GRAINLOG\0\x01\0\0".to_vec();
    segment.extend_from_slice(&number.to_be_bytes());
    segment.extend_from_slice(&first.to_be_bytes());
    let check = digest(0x04, &[STORE_ID.as_bytes(), &segment]);
    segment.extend_from_slice(&check[..8]);
    segment.extend_from_slice(frames);
    segment
}

/// Makes magics, lengths, sequences, commitments and checks of frames fit what is there, and
/// returns the sequence behind the last. Stops where there is no room for an entry.
pub(crate) fn mend_frames(mut bytes: &mut [u8], mut sequence: u64) -> u64 {
    while let Some((header, rest)) = bytes.split_first_chunk_mut::<FRAME_HEADER_LEN>() {
        let count = header[4..8].try_into().map_or(0, u32::from_be_bytes);
        let first = sequence;
        let mut covered = Sha256::new_with_prefix([0x03]).chain_update(STORE_ID.as_bytes());
        let mut entry_headers = Vec::new();
        let mut len = 0;
        while sequence - first < u64::from(count) {
            let Some(taken) = mend_entry(&mut rest[len..], sequence) else {
                return sequence;
            };
            entry_headers.extend_from_slice(&rest[len..len + ENTRY_HEADER_LEN]);
            len += taken;
            sequence += 1;
        }
        header[..4].copy_from_slice(b"GFRM");
        header[8..16].copy_from_slice(&((FRAME_HEADER_LEN + len) as u64).to_be_bytes());
        covered.update(&header[..24]);
        covered.update(entry_headers);
        header[24..].copy_from_slice(&covered.finalize()[..8]);
        bytes = &mut rest[len..];
    }
    sequence
}

fn mend_entry(bytes: &mut [u8], sequence: u64) -> Option<usize> {
    let (header, rest) = bytes.split_first_chunk_mut::<ENTRY_HEADER_LEN>()?;
    let (salt, rest) = rest.split_first_chunk::<SALT_LEN>()?;
    let body_len = header[24..28].try_into().map_or(0, u32::from_be_bytes);
    let body = rest.get(..usize::try_from(body_len).ok()?)?;
    header[..8].copy_from_slice(&sequence.to_be_bytes());
    header[32..].copy_from_slice(&digest(0x02, &[salt, &Sha256::digest(body)]));
    Some(ENTRY_HEADER_LEN + SALT_LEN + body.len())
}

fn digest(prefix: u8, parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new_with_prefix([prefix]);
    parts.iter().for_each(|part| hash.update(part));
    hash.finalize().into()
}

const FRAME_HEADER_LEN: usize = 32;
const ENTRY_HEADER_LEN: usize = 64;
const SALT_LEN: usize = 16;
